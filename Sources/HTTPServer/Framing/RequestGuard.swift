import Glibc

/// Checks how far the framing of a connection's bytes is unambiguous.
///
/// It only finds where each request begins and ends, and rejects anything that another reader of the same bytes might
/// interpret differently.
struct RequestGuard {
    /// The result of a check.
    struct Verdict: Equatable {
        /// The number of bytes from the start that may be passed on. The remaining bytes must be checked again together
        /// with later ones.
        var clean: Int
        var fault: FramingFault?
    }

    private enum Phase: Equatable {
        case head
        case body(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case lastLine
        case over
    }
    private var phase = Phase.head
    private var head = RequestHead()
    /// The number of heads that were passed on.
    private(set) var heads = 0

    /// Whether the checked bytes end between two requests.
    var isBetweenRequests: Bool { phase == .head }

    /// Checks the bytes. Bytes that were found clean must not be passed again.
    mutating func look(at bytes: UnsafeRawBufferPointer) -> Verdict {
        var clean = 0
        do throws(FramingFault) {
            while clean < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[clean...])
                let count = try step(rest)
                if count == 0 { break }
                clean += count
            }
            return Verdict(clean: clean)
        } catch {
            return Verdict(clean: clean, fault: error)
        }
    }

    /// Returns bytes that make the library end the request and ask for its answer. May be called only after a fault.
    mutating func close() -> StaticString {
        defer { phase = .over }
        switch phase {
        case .head:
            heads += 1
            return "GET / HTTP/1.0\r\n\r\n"
        case .chunkSize: return "0\r\n\r\n"
        case .chunkEnd: return "\r\n0\r\n\r\n"
        case .lastLine: return "\r\n"
        case .body, .chunk, .over: return ""
        }
    }

    /// Returns how many of the bytes belong to the current phase; 0 if the decision needs more bytes.
    private mutating func step(_ bytes: UnsafeRawBufferPointer) throws(FramingFault) -> Int {
        switch phase {
        case .head:
            guard let length = try head.look(at: bytes) else { return 0 }
            heads += 1
            switch head.body {
            case .none: phase = .head
            case .length(let count): phase = .body(left: count)
            case .chunked: phase = .chunkSize
            }
            head = RequestHead()
            return length
        case .body(let left):
            let count = min(left, bytes.count)
            phase = count == left ? .head : .body(left: left - count)
            return count
        case .chunkSize:
            guard let (size, length) = try chunkSize(bytes) else { return 0 }
            phase = size == 0 ? .lastLine : .chunk(left: size)
            return length
        case .chunk(let left):
            let count = min(left, bytes.count)
            phase = count == left ? .chunkEnd : .chunk(left: left - count)
            return count
        case .chunkEnd: return try lineEnd(bytes, then: .chunkSize)
        // No header fields may follow the body, because they could contradict those before it.
        case .lastLine: return try lineEnd(bytes, then: .head)
        case .over: return bytes.count
        }
    }

    private mutating func lineEnd(
        _ bytes: UnsafeRawBufferPointer, then next: Phase
    ) throws(FramingFault) -> Int {
        guard bytes[0] == .carriageReturn else { throw .malformedChunk }
        guard bytes.count > 1 else { return 0 }
        guard bytes[1] == .lineFeed else { throw .malformedChunk }
        phase = next
        return 2
    }

    private static let chunkSizeDigits = 7
    private static let chunkLineLimit = 128

    /// Returns the size in the first line of a chunk, and the length of that line. Skips extensions after the size.
    private func chunkSize(
        _ bytes: UnsafeRawBufferPointer
    ) throws(FramingFault) -> (size: Int, length: Int)? {
        var size = 0
        var place = 0
        while place < bytes.count, let digit = bytes[place].hexadecimal {
            if place == RequestGuard.chunkSizeDigits { throw .malformedChunk }
            size = size << 4 | digit
            place += 1
        }
        guard place < bytes.count else { return nil }
        if place == 0 { throw .malformedChunk }
        if bytes[place] == UInt8(ascii: ";") {
            while place < bytes.count, bytes[place].isText { place += 1 }
            if place > RequestGuard.chunkLineLimit { throw .malformedChunk }
        }
        guard place < bytes.count else { return nil }
        guard bytes[place] == .carriageReturn else { throw .malformedChunk }
        guard place + 1 < bytes.count else { return nil }
        guard bytes[place + 1] == .lineFeed else { throw .malformedChunk }
        return (size, place + 2)
    }
}

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")

    /// Whether this byte is allowed in a header's value.
    var isText: Bool { self >= 0x20 && self != 0x7F || self == 0x09 }

    /// Whether this byte is allowed in a method or in a header's name.
    var isToken: Bool {
        self < 0x40
            ? 0x03FF_6CFA_0000_0000 & (1 as UInt64) << UInt64(self) != 0
            : self < 0x80 && 0x57FF_FFFF_C7FF_FFFE & (1 as UInt64) << UInt64(self & 0x3F) != 0
    }

    var isDigit: Bool { self &- 0x30 < 10 }

    fileprivate var hexadecimal: Int? {
        switch self {
        case 0x30...0x39: Int(self - 0x30)
        case 0x41...0x46: Int(self - 0x41 + 10)
        case 0x61...0x66: Int(self - 0x61 + 10)
        default: nil
        }
    }
}
