/// A range of bytes in a larger array, which is not copied.
struct ByteRange: Sendable {
    let bytes: [UInt8]
    let range: Range<Int>

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    init(_ bytes: [UInt8]) {
        self.init(bytes, bytes.indices)
    }

    var isEmpty: Bool { range.isEmpty }
    var array: [UInt8] { range == bytes.indices ? bytes : Array(bytes[range]) }

    /// Runs `body` with only the bytes of this range.
    func read<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.span.extracting(range))
    }
}

/// Why this reader rejects bytes as ASN.1.
enum BERFault: Error {
    case truncated
    case malformed
    case tooDeep
}

/// The identifier octets that occur in receipts.
enum BERTag {
    static let integer: UInt8 = 0x02
    static let octets: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8Text: UInt8 = 0x0C
    static let ia5Text: UInt8 = 0x16
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let constructed: UInt8 = 0x20
    /// Returns the constructed form of `[n]`.
    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
}

/// One element: its tag, its content, and its full range including the header.
struct BERElement {
    let tag: UInt8
    let content: Range<Int>
    let whole: Range<Int>
    /// Whether the element states its length, which DER requires.
    let hasLength: Bool
}

/// Reads consecutive elements of definite or indefinite length. The reader does not recurse, and never reads beyond
/// its bounds.
struct BERReader {
    static let depthLimit = 16

    private let bytes: [UInt8]
    private var at: Int
    private let end: Int

    init(_ source: ByteRange) {
        self.init(source.bytes, source.range)
    }

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        at = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { at >= end }

    /// The tag of the next element; `nil` at the end.
    var nextTag: UInt8? { isAtEnd ? nil : bytes[at] }

    mutating func next() throws(BERFault) -> BERElement {
        let start = at
        let header = try header(at: start)
        // A zero tag only marks the end of an indefinite length. The elements of a receipt never have it.
        if header.tag == 0 { throw .malformed }
        guard let length = header.length else {
            let mark = try endMark(from: header.contentStart)
            at = mark + 2
            return BERElement(
                tag: header.tag, content: header.contentStart..<mark, whole: start..<at,
                hasLength: false)
        }
        at = header.contentStart + length
        return BERElement(
            tag: header.tag, content: header.contentStart..<at, whole: start..<at,
            hasLength: true)
    }

    mutating func next(_ tag: UInt8) throws(BERFault) -> BERElement {
        let element = try next()
        if element.tag != tag { throw .malformed }
        return element
    }

    /// Reads the next element if it has that tag. Otherwise, reads nothing.
    mutating func nextIf(_ tag: UInt8) throws(BERFault) -> BERElement? {
        nextTag == tag ? try next() : nil
    }

    func requireEnd() throws(BERFault) {
        if !isAtEnd { throw .malformed }
    }

    func inside(_ element: BERElement) -> BERReader { BERReader(bytes, element.content) }

    private struct Header {
        let tag: UInt8
        let contentStart: Int
        /// `nil` if the length is indefinite.
        let length: Int?
    }

    private func header(at start: Int) throws(BERFault) -> Header {
        if end - start < 2 { throw .truncated }
        let tag = bytes[start]
        if tag & 0x1F == 0x1F { throw .malformed }
        let first = bytes[start + 1]
        if first < 0x80 { return try header(tag, contentStart: start + 2, length: Int(first)) }
        if first == 0x80 {
            if tag & BERTag.constructed == 0 { throw .malformed }
            return Header(tag: tag, contentStart: start + 2, length: nil)
        }
        // Four octets suffice for any length in a receipt, and cannot overflow.
        let count = Int(first & 0x7F)
        if count > 4 { throw .malformed }
        if end - start - 2 < count { throw .truncated }
        var length = 0
        for index in start + 2..<start + 2 + count { length = length << 8 | Int(bytes[index]) }
        return try header(tag, contentStart: start + 2 + count, length: length)
    }

    private func header(
        _ tag: UInt8, contentStart: Int, length: Int
    ) throws(BERFault) -> Header {
        if length > end - contentStart { throw .truncated }
        return Header(tag: tag, contentStart: contentStart, length: length)
    }

    /// Returns the position of the two zeros that end the indefinite-length content starting at `start`.
    private func endMark(from start: Int) throws(BERFault) -> Int {
        var open = 1
        var position = start
        while true {
            let header = try header(at: position)
            if header.tag == 0 {
                if header.length != 0 { throw .malformed }
                open -= 1
                if open == 0 { return position }
                position += 2
            } else if let length = header.length {
                position = header.contentStart + length
            } else {
                open += 1
                if open > BERReader.depthLimit { throw .tooDeep }
                position = header.contentStart
            }
        }
    }
}

extension BERReader {
    /// Returns the content of a string with that tag, encoded in one piece or in several.
    mutating func string(_ tag: UInt8) throws(BERFault) -> ByteRange {
        try string(next(), tag)
    }

    func string(_ element: BERElement, _ tag: UInt8) throws(BERFault) -> ByteRange {
        if element.tag == tag { return ByteRange(bytes, element.content) }
        if element.tag != tag | BERTag.constructed { throw .malformed }
        var joined: [UInt8] = []
        try join(element, tag, into: &joined, depth: 1)
        return ByteRange(joined)
    }

    private func join(
        _ element: BERElement, _ tag: UInt8, into joined: inout [UInt8], depth: Int
    ) throws(BERFault) {
        if depth > BERReader.depthLimit { throw .tooDeep }
        var pieces = inside(element)
        while !pieces.isAtEnd {
            let piece = try pieces.next()
            switch piece.tag {
            case tag, BERTag.octets: joined.append(contentsOf: bytes[piece.content])
            case tag | BERTag.constructed, BERTag.octets | BERTag.constructed:
                try join(piece, tag, into: &joined, depth: depth + 1)
            default: throw .malformed
            }
        }
    }

    /// Returns an integer that fits in 64 bits.
    mutating func integer() throws(BERFault) -> Int64 {
        let content = try next(BERTag.integer).content
        guard (1...8).contains(content.count) else { throw .malformed }
        var value: Int64 = bytes[content.lowerBound] & 0x80 == 0 ? 0 : -1
        for index in content { value = value << 8 | Int64(bytes[index]) }
        return value
    }
}
