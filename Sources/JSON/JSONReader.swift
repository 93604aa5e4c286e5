extension JSON {
    /// Limits for the size of the input.
    package struct Limits: Sendable {
        package var depth: Int
        package var bytes: Int

        package init(depth: Int = 16, bytes: Int = 4 << 20) {
            self.depth = depth
            self.bytes = bytes
        }
    }

    /// Reads one JSON value that takes up all of `bytes`, strictly according to RFC 8259.
    package static func read(
        _ bytes: Span<UInt8>, limits: Limits = Limits()
    ) throws(JSONError) -> JSON {
        if bytes.count > limits.bytes {
            throw JSONError(reason: .tooLong(limit: limits.bytes), offset: limits.bytes)
        }
        var reader = Reader(depthLimit: limits.depth)
        let value = try reader.value(bytes, depth: 0)
        reader.skipSpace(bytes)
        if reader.at < bytes.count {
            throw JSONError(reason: .trailing, offset: reader.at)
        }
        return value
    }

    package static func read(
        _ bytes: [UInt8], limits: Limits = Limits()
    ) throws(JSONError) -> JSON {
        try read(bytes.span, limits: limits)
    }

    package static func read(
        _ text: String, limits: Limits = Limits()
    ) throws(JSONError) -> JSON {
        try read(Array(text.utf8), limits: limits)
    }
}

private struct Reader {
    let depthLimit: Int
    var at = 0

    func fail(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: at) }

    /// Returns an error about the character at this place.
    func unexpected(_ bytes: Span<UInt8>) -> JSONError {
        var ahead: [UInt8] = []
        for place in at..<min(at + 4, bytes.count) { ahead.append(bytes[place]) }
        let scalar = String(decoding: ahead, as: UTF8.self).unicodeScalars.first
        return fail(.unexpected(scalar ?? "\u{FFFD}"))
    }

    mutating func skipSpace(_ bytes: Span<UInt8>) {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            default: return
            }
        }
    }

    /// Skips white space and returns the next byte without consuming it.
    mutating func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        skipSpace(bytes)
        if at >= bytes.count { throw fail(.truncated) }
        return bytes[at]
    }

    mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSON {
        let first = try peek(bytes)
        switch first {
        case UInt8(ascii: "{"): return try object(bytes, depth: depth + 1)
        case UInt8(ascii: "["): return try array(bytes, depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string(bytes))
        case UInt8(ascii: "t"): return try word("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try word("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try word("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
        default: throw unexpected(bytes)
        }
    }

    mutating func word(
        _ text: StaticString, _ value: JSON, _ bytes: Span<UInt8>
    ) throws(JSONError) -> JSON {
        let expected = "\(text)".utf8
        for byte in expected {
            if at >= bytes.count { throw fail(.truncated) }
            if bytes[at] != byte { throw unexpected(bytes) }
            at += 1
        }
        return value
    }

    mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSON {
        if depth > depthLimit { throw fail(.tooDeep(limit: depthLimit)) }
        at += 1
        var object = JSONObject()
        if try peek(bytes) == UInt8(ascii: "}") {
            at += 1
            return .object(object)
        }
        var names = Set<String>()
        while true {
            let next = try peek(bytes)
            if next != UInt8(ascii: "\"") { throw unexpected(bytes) }
            let name = try string(bytes)
            if isDuplicate(name, in: object, names: &names) {
                throw fail(.duplicateMember(name))
            }
            try expect(UInt8(ascii: ":"), bytes)
            object.append(name, try value(bytes, depth: depth))
            if try listEnds(with: UInt8(ascii: "}"), bytes) { return .object(object) }
        }
    }

    /// Returns whether the name already occurs. Compares names one by one in small objects, because
    /// a set pays off only in large ones.
    private func isDuplicate(
        _ name: String, in object: JSONObject, names: inout Set<String>
    ) -> Bool {
        let scanned = 32
        if object.members.count < scanned { return object.holds(name) }
        if names.isEmpty { names.formUnion(object.members.map(\.name)) }
        return !names.insert(name).inserted
    }

    mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSON {
        if depth > depthLimit { throw fail(.tooDeep(limit: depthLimit)) }
        at += 1
        var elements: [JSON] = []
        if try peek(bytes) == UInt8(ascii: "]") {
            at += 1
            return .array(elements)
        }
        while true {
            elements.append(try value(bytes, depth: depth))
            if try listEnds(with: UInt8(ascii: "]"), bytes) { return .array(elements) }
        }
    }

    private mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
        let next = try peek(bytes)
        if next != byte { throw unexpected(bytes) }
        at += 1
    }

    private mutating func listEnds(
        with close: UInt8, _ bytes: Span<UInt8>
    ) throws(JSONError) -> Bool {
        let next = try peek(bytes)
        if next != close, next != UInt8(ascii: ",") { throw unexpected(bytes) }
        at += 1
        return next == close
    }

    mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        let start = at
        let isNegative = bytes[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        let whole = digits(bytes)
        if whole == 0 { throw fail(at < bytes.count ? .badNumber : .truncated) }
        if whole > 1, bytes[at - whole] == UInt8(ascii: "0") { throw fail(.badNumber) }
        var isWhole = true
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            isWhole = false
            at += 1
            if digits(bytes) == 0 { throw fail(at < bytes.count ? .badNumber : .truncated) }
        }
        if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") {
                at += 1
            }
            if digits(bytes) == 0 { throw fail(at < bytes.count ? .badNumber : .truncated) }
        }
        if isWhole, let value = integer(bytes, from: start, isNegative: isNegative) {
            return .integer(value)
        }
        return .decimal(ascii(bytes, start, at))
    }

    private mutating func digits(_ bytes: Span<UInt8>) -> Int {
        let start = at
        while at < bytes.count, bytes[at] >= UInt8(ascii: "0"), bytes[at] <= UInt8(ascii: "9") {
            at += 1
        }
        return at - start
    }

    private func integer(_ bytes: Span<UInt8>, from start: Int, isNegative: Bool) -> Int64? {
        var value: Int64 = 0
        var index = isNegative ? start + 1 : start
        while index < at {
            let digit = Int64(bytes[index] - UInt8(ascii: "0"))
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.subtractingReportingOverflow(digit)
            if overflow || carry { return nil }
            value = sum
            index += 1
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    private func ascii(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> String {
        String(decoding: slice(bytes, start, end), as: UTF8.self)
    }

    private func slice(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> [UInt8] {
        [UInt8](copying: bytes.extracting(start..<end))
    }

    mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        let opening = at
        at += 1
        let start = at
        at = bytes.endOfPlain(from: start)
        if at >= bytes.count { throw fail(.truncated) }
        switch bytes[at] {
        case UInt8(ascii: "\""):
            let text = try utf8(bytes.extracting(start..<at), openedAt: opening)
            at += 1
            return text
        case UInt8(ascii: "\\"): return try escapedString(bytes, from: start, openedAt: opening)
        default: throw JSONError(reason: .badString, offset: opening)
        }
    }

    private func utf8(_ bytes: Span<UInt8>, openedAt offset: Int) throws(JSONError) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw JSONError(reason: .badUTF8, offset: offset)
        }
    }

    private mutating func escapedString(
        _ bytes: Span<UInt8>, from start: Int, openedAt opening: Int
    ) throws(JSONError) -> String {
        var text = slice(bytes, start, at)
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return try utf8(text.span, openedAt: opening)
            case UInt8(ascii: "\\"): try escape(bytes, into: &text, openedAt: opening)
            case 0..<0x20: throw JSONError(reason: .badString, offset: opening)
            default: text.append(byte)
            }
        }
        throw fail(.truncated)
    }

    private mutating func escape(
        _ bytes: Span<UInt8>, into text: inout [UInt8], openedAt opening: Int
    ) throws(JSONError) {
        if at >= bytes.count { throw fail(.truncated) }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try escapedScalar(bytes, openedAt: opening)
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: throw JSONError(reason: .badString, offset: opening)
        }
    }

    private mutating func escapedScalar(
        _ bytes: Span<UInt8>, openedAt opening: Int
    ) throws(JSONError) -> Unicode.Scalar {
        let bad = JSONError(reason: .badString, offset: opening)
        let first = try hexUnit(bytes, bad)
        if let scalar = Unicode.Scalar(first) { return scalar }
        // One half of a surrogate pair is invalid without the other half.
        guard first < 0xDC00, at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"),
            bytes[at + 1] == UInt8(ascii: "u")
        else { throw bad }
        at += 2
        let second = try hexUnit(bytes, bad)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw bad }
        return scalar
    }

    private mutating func hexUnit(
        _ bytes: Span<UInt8>, _ bad: JSONError
    ) throws(JSONError) -> UInt16 {
        if at + 4 > bytes.count { throw fail(.truncated) }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[at])).hexDigitValue else { throw bad }
            unit = unit << 4 | UInt16(digit)
            at += 1
        }
        return unit
    }
}

extension [UInt8] {
    fileprivate init(copying bytes: Span<UInt8>) {
        self.init(capacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}

extension Span<UInt8> {
    /// Returns the index of the first byte from `start` that needs special treatment in a string,
    /// or the end if there is none.
    fileprivate func endOfPlain(from start: Int) -> Int {
        var place = start
        // Evidence is one long string, so eight bytes are checked at a time.
        while place + 8 <= count {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            if !word.areBytesPlain { break }
            place += 8
        }
        while place < count, self[place].isPlain { place += 1 }
        return place
    }
}

extension UInt8 {
    /// Whether the byte needs no special treatment in a string.
    fileprivate var isPlain: Bool {
        self >= 0x20 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}

extension UInt64 {
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Whether none of the bytes need special treatment in a string.
    fileprivate var areBytesPlain: Bool {
        let quotes = self ^ (UInt64(UInt8(ascii: "\"")) &* UInt64.ones)
        let backslashes = self ^ (UInt64(UInt8(ascii: "\\")) &* UInt64.ones)
        return !holdsByte(below: 0x20) && !quotes.holdsByte(below: 1)
            && !backslashes.holdsByte(below: 1)
    }

    /// Returns whether any byte is less than `limit`, which is at most 128. Subtracting the limit
    /// from all bytes at once sets the highest bit of such a byte if that bit was clear before.
    private func holdsByte(below limit: UInt64) -> Bool {
        (self &- limit &* UInt64.ones) & ~self & (0x80 &* UInt64.ones) != 0
    }
}
