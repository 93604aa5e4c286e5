import CReceive
import Glibc

/// Carries a connection's bytes from its socket to the library that parses them.
///
/// The library receives only complete heads with clear framing. Anything else looks to the library like the end of the
/// request. The library then asks for the answer, which is based on `fault`.
///
/// Used only by the thread that serves the connection.
struct Inlet {
    /// Why no more bytes are passed on. The last request passed on is answered with this fault.
    private(set) var fault: FramingFault?
    /// The number of requests passed on, including the one that stands for a fault.
    var heads: Int { guardian.heads }
    /// Whether part of a request's head has arrived.
    var isHoldingHead: Bool { guardian.isBetweenRequests && !held.isEmpty }

    private var guardian = RequestGuard()
    /// Bytes that have been received but not checked yet.
    private var held: [UInt8] = []
    /// Bytes that have been checked but did not fit into the library's buffer.
    private var ready: ArraySlice<UInt8> = []

    /// Whether the socket may have more bytes, because the last read was filled completely.
    private var mayHoldMore = false

    private static let piece = 4096
    /// The number of bytes that are read and discarded on a faulty connection. With unread bytes, the client might
    /// never see the end of its answer.
    private static let dropped = 1 << 20

    /// Returns what `recv` would return. To the library, a partly filled buffer means that no more
    /// data is available, so no checked bytes may then be left over.
    mutating func receive(
        into buffer: UnsafeMutableRawBufferPointer, from source: UnsafePointer<receive_source>
    ) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = once(into: .init(rebasing: buffer[filled...]), from: source)
            if count <= 0 { return filled > 0 ? filled : count }
            filled += count
            if !mayHoldMore { break }
        }
        return filled
    }

    private mutating func once(
        into buffer: UnsafeMutableRawBufferPointer, from source: UnsafePointer<receive_source>
    ) -> Int {
        if !ready.isEmpty { return give(buffer) }
        while true {
            if fault != nil { return drop(from: source) }
            let count = held.isEmpty ? directly(buffer, source) : afterHeld(buffer, source)
            if let count { return count }
        }
    }

    /// Reads directly into the library's buffer, because most requests arrive in one piece.
    private mutating func directly(
        _ buffer: UnsafeMutableRawBufferPointer, _ source: UnsafePointer<receive_source>
    ) -> Int? {
        let count = receive_raw(source, buffer.baseAddress, buffer.count)
        mayHoldMore = count == buffer.count
        guard count > 0 else { return count }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let verdict = guardian.look(at: bytes)
        if let fault = verdict.fault {
            end(with: fault, after: Array(bytes[..<verdict.clean]), source)
            return give(buffer)
        }
        if verdict.clean < count { held = Array(bytes[verdict.clean...]) }
        return verdict.clean > 0 ? verdict.clean : nil
    }

    private mutating func afterHeld(
        _ buffer: UnsafeMutableRawBufferPointer, _ source: UnsafePointer<receive_source>
    ) -> Int? {
        let count = withUnsafeTemporaryAllocation(byteCount: Inlet.piece, alignment: 1) { piece in
            let count = receive_raw(source, piece.baseAddress, piece.count)
            if count > 0 { held.append(contentsOf: piece[..<count]) }
            return count
        }
        mayHoldMore = count == Inlet.piece
        guard count > 0 else { return count }
        let verdict = held.withUnsafeBytes { guardian.look(at: $0) }
        if let fault = verdict.fault {
            end(with: fault, after: Array(held.prefix(verdict.clean)), source)
            return give(buffer)
        }
        guard verdict.clean > 0 else { return nil }
        ready = held.prefix(verdict.clean)
        held = Array(held.dropFirst(verdict.clean))
        return give(buffer)
    }

    private mutating func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, ready.count)
        ready.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[..<count])) }
        ready = ready.dropFirst(count)
        return count
    }

    private mutating func end(
        with fault: FramingFault, after clean: [UInt8], _ source: UnsafePointer<receive_source>
    ) {
        self.fault = fault
        let end = guardian.close()
        ready =
            (clean + UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount))[...]
        held = []
        _ = drop(from: source)
    }

    private func drop(from source: UnsafePointer<receive_source>) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 4 * Inlet.piece, alignment: 1) { scratch in
            var dropped = 0
            while true {
                let count = receive_raw(source, scratch.baseAddress, scratch.count)
                dropped += max(0, count)
                if count <= 0 || dropped > Inlet.dropped { return min(count, 0) }
            }
        }
    }
}
