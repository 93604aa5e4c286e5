import Core
import Crypto
import JSON
import Postgres
import SQL

/// A customer's state at a version, kept beside the log so that a long stream need not be read from
/// its beginning. It follows from the log. If it is missing, damaged, of another log or of another
/// program, the events alone are read, and it is replaced.
enum KeptState {
    /// Which program it is of. Raised whenever the same events give another state or other bytes: a
    /// test holds that. States under another number are not read, and those under a higher one are
    /// left alone.
    static let number: Int16 = 2

    /// By how many events a stream grows until its state is kept anew.
    static let growth = RecentCauses.span

    /// A state takes far more than an event.
    private static let limits = JSON.Limits(depth: 16, bytes: 64 << 20)

    static func content(of state: CustomerState) -> [UInt8] {
        var bytes: [UInt8] = []
        state.parts.payload.write(to: &bytes)
        return bytes
    }

    static func contentDigest(of state: CustomerState) -> [UInt8] {
        SHA256.digest(content(of: state)).bytes
    }

    static func digest(of content: [UInt8], _ stream: Stream, version: Int64) -> [UInt8] {
        digest(ofContent: SHA256.digest(content).bytes, stream, version: version)
    }

    /// Tells whether a content with that digest is the stream's, at that version.
    static func digest(
        ofContent digest: [UInt8], _ stream: Stream, version: Int64
    ) -> [UInt8] {
        let names = [
            stream.project.text, stream.environment.rawValue, stream.customer.text, "\(version)",
            "\(number)",
        ]
        let place = names.map { "\($0.utf8.count):\($0)" }.joined()
        return SHA256.digest(Array(place.utf8) + digest).bytes
    }

    /// The state, or `nil` if the bytes are not what was written.
    static func state(
        _ content: [UInt8], digest: [UInt8], of stream: Stream, version: Int64
    ) -> CustomerState? {
        guard digest == KeptState.digest(of: content, stream, version: version),
            let json = try? JSON.read(content, limits: limits),
            let parts = try? CustomerContent(Payload(json)), parts.version == version
        else { return nil }
        return CustomerState(of: parts)
    }
}

// Rows of read_streams.
extension KeptState {
    private static let column = EventRow.columnCount + 3

    /// The place of the stream that the row's kept state is of; `nil` if the row has none.
    static func place(_ rows: borrowing Rows, _ row: Int) -> Int? {
        rows.isNull(row, column + 1) ? nil : Int(rows.int8(row, column)) - 1
    }

    static func state(_ rows: borrowing Rows, _ row: Int, of stream: Stream) -> CustomerState? {
        if stream.isOfProject { return nil }
        return state(
            rows.bytes(row, column + 2), digest: rows.bytes(row, column + 3), of: stream,
            version: rows.int8(row, column + 1))
    }
}
