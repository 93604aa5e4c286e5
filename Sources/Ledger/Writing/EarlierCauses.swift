import Core
import Postgres
import SQL

/// What the log records about causes that are not in memory.
struct EarlierCauses {
    private var asked: Set<AskedCause> = []
    private var found: [AskedCause: ObeyedCause] = [:]

    /// Stores the log's answer about these causes.
    mutating func load(_ causes: [AskedCause], _ found: [(place: Int, obeyed: ObeyedCause)]) {
        asked.formUnion(causes)
        for (place, obeyed) in found { self.found[causes[place]] = obeyed }
    }

    /// Adds a cause that was not in the log when the log was searched.
    fileprivate mutating func note(_ cause: AskedCause, _ obeyed: ObeyedCause) {
        found[cause] = obeyed
    }

    /// Throws if the log was not searched for the cause.
    fileprivate func obeyed(_ cause: AskedCause) throws(Undecided) -> ObeyedCause? {
        if !asked.contains(cause) { throw .lacking(Lack(isOfCause: true)) }
        return found[cause]
    }
}

/// A cause to search for in the log.
struct AskedCause: Hashable {
    let stream: Stream
    /// The cause as bytes, because Swift considers more strings equal than the database does.
    private let bytes: [UInt8]

    init(_ cause: Cause, in stream: Stream) {
        self.stream = stream
        bytes = Array(cause.text.utf8)
    }

    private var text: String { String(decoding: bytes, as: UTF8.self) }

    fileprivate var isOfCaller: Bool { Cause.isOfCaller(text) }

    /// Searches the log for causes. Takes the versions at which their streams were last known to be erased.
    static func lookUp(
        _ causes: [AskedCause], erasedAt versions: [Int64], seenHeads: [Int64]
    ) -> Call {
        let streams = causes.map(\.stream)
        return Statement.loadCauses(
            streams, .texts(causes.map(\.text)), .int8s(versions),
            .int8s(streams.map { seenHeads[Int($0.shard.number)] }))
    }
}

extension ObeyedCause {
    /// Reads a row of `load_causes`.
    init(_ rows: borrowing Rows, _ row: Int, of cause: AskedCause) {
        self.init(
            wish: WishMark(rows.bytes(row, 3)), first: rows.int8(row, 1), last: rows.int8(row, 2),
            isOfCaller: cause.isOfCaller)
    }
}

extension Batch {
    /// Records the command that this batch carries out, because later events in the batch may displace it from memory.
    mutating func noteCause(of command: Command) {
        guard let fold = folds[command.stream], fold.causes.base > 0,
            let obeyed = fold.obeyed(command.cause)
        else { return }
        earlierCauses.note(AskedCause(command.cause, in: command.stream), obeyed)
    }

    /// Refuses a command if its key has already been used for a different call, or for this call before an erasure.
    func requireUnusedKey(of command: Command) throws(Undecided) {
        for cause in command.akin {
            guard let obeyed = try obeyed(cause, in: command.stream) else { continue }
            if obeyed.wish != WishMark(command.cause.digest) {
                throw .refused(.idempotencyMismatch)
            }
            let erasedAt = folds[command.stream]?.state.customer?.erasedAt
            if let erasedAt, obeyed.last < erasedAt {
                throw .refused(.erasure(.doneBeforeErasure))
            }
        }
    }

    /// Returns the events that the cause led to earlier, in memory or in the log.
    func obeyed(_ cause: Cause, in stream: Stream) throws(Undecided) -> ObeyedCause? {
        guard let fold = folds[stream], !cause.isUpkeep else { return nil }
        if let obeyed = fold.obeyed(cause) { return obeyed }
        if fold.causes.base == 0 { return nil }
        let found = try earlierCauses.obeyed(AskedCause(cause, in: stream))
        guard let found, let erasedAt = fold.state.customer?.erasedAt else { return found }
        // After an erasure, a store or a clock may repeat a cause.
        return found.isOfCaller || found.last >= erasedAt ? found : nil
    }
}
