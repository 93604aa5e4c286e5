import Core
import Crypto
import JSON
import Postgres
import SQL

/// A customer's state at a version. It is kept beside the log, so that a long stream need not be
/// read from its first event. The log alone can always replace it. If the state is missing or
/// damaged, or comes from another log or program, only the events are read and a new state is kept.
enum KeptState {
    /// Identifies the program that kept the state. The number rises whenever the same events
    /// produce a different state or different bytes, which a test checks. States with another
    /// number are not read, and states with a higher number are not replaced.
    static let number: Int16 = 3

    /// The number of events by which a stream must grow before its state is kept again.
    static let growth = RecentCauses.span

    /// These limits exceed an event's limits, because a state is far larger.
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

    /// Returns a digest that binds the content with this digest to the stream and the version.
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

    /// Returns the state; `nil` if the bytes differ from the written bytes.
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

// Rows from `read_streams`.
extension KeptState {
    private static let column = EventRow.columnCount + 3

    /// Returns the index of the stream whose kept state is in the row; `nil` if the row contains none.
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
