import Glibc

/// The head of a request whose bytes are still arriving. It determines where the head and the body end.
struct RequestHead {
    enum Body: Equatable {
        case none
        case length(Int)
        case chunked
    }
    /// The kind of body, set once the head is complete.
    private(set) var body = Body.none

    private var isLineSeen = false
    private var isBlankSeen = false
    private var isOld = false
    private var hosts = 0
    private var length: Int?
    private var isChunked = false
    /// How much memory the library will need for the head.
    private var cost = 0
    /// The start of the incomplete line. `checked` says how much of that line is known to be text.
    private var position = 0
    private var checked = 0

    /// The limit on `cost`. The library keeps a head, and everything that it parses from it, in one
    /// block of memory. The head of the answer needs some of that block.
    static let costLimit = Server.memoryPerConnection - (2 << 10)
    private static let fieldCost = 64
    private static let methodLimit = 32
    private static let targetLimit = 8000

    /// Returns the length of the head once it is complete. Each call passes the bytes of the previous call again,
    /// followed by new ones.
    mutating func look(at bytes: UnsafeRawBufferPointer) throws(FramingFault) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        while true {
            let rest = bytes.count - position
            guard let mark = memchr(base + position, Int32(UInt8.lineFeed), rest) else {
                try lookAtPart(UnsafeRawBufferPointer(rebasing: bytes[position...]))
                return nil
            }
            let end = UnsafeRawPointer(mark) - base
            let line = UnsafeRawBufferPointer(rebasing: bytes[position...end])
            try charge(line.count)
            guard line.count > 1, line[line.count - 2] == .carriageReturn else {
                throw isLineSeen ? .malformedHeader : .malformedRequestLine
            }
            position = end + 1
            checked = 0
            let content = UnsafeRawBufferPointer(rebasing: line.dropLast(2))
            if !isLineSeen {
                try lookAtStart(content)
            } else if content.isEmpty {
                try finish()
                return position
            } else {
                try field(content)
            }
        }
    }

    /// Checks an incomplete line, which may already be invalid and may never be completed.
    private mutating func lookAtPart(_ part: UnsafeRawBufferPointer) throws(FramingFault) {
        if cost + part.count > RequestHead.costLimit {
            throw isLineSeen ? .headTooLarge : .targetTooLong
        }
        for place in checked..<max(checked, part.count - 1) where !part[place].isText {
            throw isLineSeen ? .malformedHeader : .malformedRequestLine
        }
        checked = max(0, part.count - 1)
        guard let last = part.last, !last.isText, last != .carriageReturn else { return }
        throw isLineSeen ? .malformedHeader : .malformedRequestLine
    }

    private mutating func charge(_ bytes: Int) throws(FramingFault) {
        cost += bytes
        if cost > RequestHead.costLimit { throw isLineSeen ? .headTooLarge : .targetTooLong }
    }

    // MARK: The first line

    private mutating func lookAtStart(
        _ line: UnsafeRawBufferPointer
    ) throws(FramingFault) {
        if line.isEmpty {
            // One blank line is accepted before a request, because old clients often send one after a body.
            if isBlankSeen { throw .malformedRequestLine }
            isBlankSeen = true
            return
        }
        var place = 0
        while place < line.count, line[place].isToken { place += 1 }
        guard place > 0, place < line.count, line[place] == UInt8(ascii: " ") else {
            throw .malformedRequestLine
        }
        let start = place + 1
        let rest = UnsafeRawBufferPointer(rebasing: line[start...])
        guard let end = rest.place(of: UInt8(ascii: " ")) else {
            throw fault(ofTargetIn: line, from: start)
        }
        let target = UnsafeRawBufferPointer(rebasing: rest[..<end])
        guard target.first == UInt8(ascii: "/"), target.isTarget else {
            throw fault(ofTargetIn: line, from: start)
        }
        try version(UnsafeRawBufferPointer(rebasing: rest[(end + 1)...]))
        if start - 1 > RequestHead.methodLimit { throw .unknownMethod }
        if target.count > RequestHead.targetLimit { throw .targetTooLong }
        try charge((target.count(of: UInt8(ascii: "&")) + 1) * RequestHead.fieldCost)
        isLineSeen = true
    }

    /// Returns the fault in a first line with an invalid target. The first line of HTTP/2 also has one, and counts as
    /// an unknown version.
    private func fault(
        ofTargetIn line: UnsafeRawBufferPointer, from start: Int
    ) -> FramingFault {
        line.dropFirst(start).elementsEqual("* HTTP/2.0".utf8)
            ? .unknownVersion : .malformedRequestLine
    }

    private mutating func version(_ text: UnsafeRawBufferPointer) throws(FramingFault) {
        // Fast path: nearly all requests use this version.
        if text.count == 8, let base = text.baseAddress, memcmp(base, "HTTP/1.1", 8) == 0 {
            return
        }
        guard text.count == 8, text.starts(with: "HTTP/".utf8), text[5].isDigit,
            text[6] == UInt8(ascii: "."), text[7].isDigit
        else { throw .malformedRequestLine }
        guard text[5] == UInt8(ascii: "1"), text[7] <= UInt8(ascii: "1") else {
            throw .unknownVersion
        }
        isOld = text[7] == UInt8(ascii: "0")
    }

    // MARK: Fields

    private mutating func field(_ line: UnsafeRawBufferPointer) throws(FramingFault) {
        var colon = 0
        while colon < line.count, line[colon].isToken { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            throw .malformedHeader
        }
        guard line.isText(from: colon + 1) else { throw .malformedHeader }
        try charge(RequestHead.fieldCost)
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
        switch colon {
        case 4 where name.isSame("host"): try host(value.withoutBlanks)
        case 6 where name.isSame("cookie"):
            // The library copies this value and splits it at both of these characters.
            let parts = value.count { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") } + 1
            try charge(value.count + parts * RequestHead.fieldCost)
        // In `Content-Length` and `Transfer-Encoding`, the library keeps trailing blanks, and then
        // does not recognize the length or the coding.
        case 14 where name.isSame("content-length"): try length(value.withoutBlanksBefore)
        case 17 where name.isSame("transfer-encoding"): try coding(value.withoutBlanksBefore)
        default: break
        }
    }

    private mutating func host(_ value: UnsafeRawBufferPointer) throws(FramingFault) {
        hosts += 1
        guard hosts == 1, value.allSatisfy(\.isHost) else { throw .malformedHost }
    }

    private mutating func length(_ value: UnsafeRawBufferPointer) throws(FramingFault) {
        if length != nil { throw .ambiguousLength }
        guard !value.isEmpty, value.allSatisfy(\.isDigit) else { throw .malformedLength }
        if value.count > 18 { throw .lengthTooLarge }
        length = value.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    }

    private mutating func coding(_ value: UnsafeRawBufferPointer) throws(FramingFault) {
        if isChunked { throw .ambiguousLength }
        guard value.count == 7, value.isSame("chunked") else { throw .unknownTransferCoding }
        isChunked = true
    }

    private mutating func finish() throws(FramingFault) {
        if hosts == 0, !isOld { throw .malformedHost }
        if isChunked {
            // HTTP/1.0 had no chunks, so a proxy with that version would see a different end.
            if isOld || length != nil { throw .ambiguousLength }
            body = .chunked
        } else if let length, length > 0 {
            body = .length(length)
        }
    }
}

extension UInt8 {
    /// Whether this byte is allowed in a host's name, address or port.
    fileprivate var isHost: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether everything from `start` is allowed in a header's value. The loop has no early exit, so that the
    /// compiler can process many bytes at once.
    fileprivate func isText(from start: Int) -> Bool {
        var strange: UInt8 = 0
        for place in start..<count {
            let byte = self[place]
            strange |= (byte < 0x20 ? 1 : 0) & (byte != 0x09 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
        }
        return strange == 0
    }

    /// Whether all bytes are allowed in a path or query. Non-ASCII bytes are checked as UTF-8 later.
    fileprivate var isTarget: Bool {
        var strange: UInt8 = 0
        for byte in self {
            strange |= (byte <= 0x20 ? 1 : 0) | (byte == 0x7F ? 1 : 0) | (byte == 0x23 ? 1 : 0)
        }
        return strange == 0
    }

    fileprivate func place(of byte: UInt8) -> Int? {
        guard let base = baseAddress, let found = memchr(base, Int32(byte), count)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    fileprivate func count(of byte: UInt8) -> Int {
        var (rest, count) = (self, 0)
        while let place = rest.place(of: byte) {
            count += 1
            rest = UnsafeRawBufferPointer(rebasing: rest[(place + 1)...])
        }
        return count
    }

    /// Returns whether the bytes equal this string, ignoring case. Both must have the same length.
    fileprivate func isSame(_ text: StaticString) -> Bool {
        for place in indices where self[place] | 0x20 != text.utf8Start[place] { return false }
        return true
    }

    fileprivate var withoutBlanksBefore: UnsafeRawBufferPointer {
        var start = 0
        while start < count, self[start].isBlank { start += 1 }
        return UnsafeRawBufferPointer(rebasing: self[start...])
    }

    fileprivate var withoutBlanks: UnsafeRawBufferPointer {
        let rest = withoutBlanksBefore
        var end = rest.count
        while end > 0, rest[end - 1].isBlank { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: rest[..<end])
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
