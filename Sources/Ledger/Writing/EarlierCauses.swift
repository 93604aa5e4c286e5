import Core
import Postgres
import SQL

/// The log's records of causes that are not in memory.
struct EarlierCauses {
    private var asked: Set<AskedCause> = []
    private var found: [AskedCause: ObeyedCause] = [:]

    /// Takes the log's answer about these causes.
    mutating func load(_ causes: [AskedCause], _ found: [(place: Int, obeyed: ObeyedCause)]) {
        asked.formUnion(causes)
        for (place, obeyed) in found { self.found[causes[place]] = obeyed }
    }

    /// Adds a cause that was not yet in the log when the log was read.
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
    /// The cause's bytes, because Swift compares texts more loosely than the database does.
    private let bytes: [UInt8]

    init(of command: Command) {
        stream = command.stream
        bytes = Array(command.cause.text.utf8)
    }

    private var text: String { String(decoding: bytes, as: UTF8.self) }

    fileprivate var isOfCaller: Bool { Cause.isOfCaller(text) }

    /// Searches for causes in streams that were last erased at these versions, as far as is known.
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
    /// Notes the command that this batch carries out, because later events in the batch may push
    /// the command out of memory.
    mutating func noteCause(of command: Command) {
        guard let fold = folds[command.stream], fold.causes.base > 0,
            let obeyed = fold.obeyed(command.cause)
        else { return }
        earlierCauses.note(AskedCause(of: command), obeyed)
    }

    /// The events that the command's cause previously led to, in memory or in the log.
    func obeyed(_ command: Command) throws(Undecided) -> ObeyedCause? {
        guard let fold = folds[command.stream], !command.cause.isUpkeep else { return nil }
        if let obeyed = fold.obeyed(command.cause) { return obeyed }
        if fold.causes.base == 0 { return nil }
        let found = try earlierCauses.obeyed(AskedCause(of: command))
        guard let found, let erasedAt = fold.state.customer?.erasedAt else { return found }
        // A cause from a store or a clock may occur again after an erasure.
        return found.isOfCaller || found.last >= erasedAt ? found : nil
    }
}
