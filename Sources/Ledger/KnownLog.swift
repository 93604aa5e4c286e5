package import Core
package import Crypto
import JSON
import Postgres
import SQL
import Telemetry
import Threading

/// Holds every server that a connection meets against what this instance has seen of the log.
///
/// A standby that took over may lack the last commits, an old primary that comes back lacks what its
/// successor wrote, and a backup lacks whatever came after it. To go on with one of them would be a second
/// history beside what was answered. The chain tells: an event is there, with the chain that was seen, or
/// something else is in its place.
package final class KnownLog: Sendable {
    private struct State {
        var seen = SeenLog()
        /// What the log was last found to lack.
        var impediment: Impediment?
        var isChanged = false
        var hasRecalled = false
        var isTold = false
    }
    private let state = Monitor(State())
    private let memory: LogMemory
    private let log: Log

    init(_ memory: LogMemory, log: Log) {
        self.memory = memory
        self.log = log
    }

    /// Why the server is not worked with that was met last; `nil` when it is.
    package var impediment: Impediment? { state.change(wake: .nobody) { $0.impediment } }

    /// Notes how far the log was seen to reach.
    func note(_ marks: [ShardMark]) {
        state.change(wake: .nobody) { state in
            if state.seen.note(marks) { state.isChanged = true }
        }
    }

    /// Notes which losses were accepted by now: they excuse no later one.
    func know(_ acceptances: some Sequence<AcceptanceID>) {
        state.change(wake: .nobody) { state in
            for acceptance in acceptances where state.seen.acceptances.insert(acceptance).inserted {
                state.isChanged = true
            }
        }
    }

    /// Writes down what is new since the last time, for when this instance starts again.
    package func keep() {
        let seen = state.change(wake: .nobody) { state -> SeenLog? in
            guard state.isChanged, state.seen.root != nil else { return nil }
            state.isChanged = false
            return state.seen
        }
        guard let seen, let reason = memory.keep(seen) else { return }
        let isTold = state.change(wake: .nobody) { state in
            state.isChanged = true
            defer { state.isTold = true }
            return state.isTold
        }
        if isTold { return }
        log.warning(
            "log_not_remembered",
            [
                "reason": .string(reason),
                "remedy": .string(
                    "let Deed write to --data-dir: what it has seen of the log is kept there for its next "
                        + "start"),
            ])
    }

    // MARK: Meeting a server

    /// Throws unless the server has everything that was seen of the log; compares its clock, too.
    func greet(
        _ connection: inout Connection, _ clock: DatabaseClock
    ) throws(PostgresError) {
        do throws(LedgerError) {
            try meet(&connection)
            let askedAt = clock.begin()
            try connection.read([Statement.readClock()]) { _, rows in
                clock.compare(Instant(milliseconds: rows.int8(0, 0)), since: askedAt)
            }
        } catch {
            switch error {
            case .postgres(let reason): throw reason
            case .impeded(let impediment):
                throw PostgresError(.unwanted, serverMessage: impediment.sentence)
            default: throw PostgresError(.unexpected, serverMessage: error.description)
            }
        }
    }

    /// Throws unless the server has everything that was seen of the log.
    private func meet(_ connection: inout Connection) throws(LedgerError) {
        let server = try connection.identifiedServer()
        try recall(over: &connection)
        let seen = state.change(wake: .nobody) { $0.seen }
        if let shortage = try connection.shortage(of: seen, at: server) {
            let accepted = try connection.acceptances().subtracting(seen.acceptances)
            if accepted.isEmpty { throw .impeded(refuse(shortage.impediment)) }
            let marks = try connection.shardMarks()
            state.change(wake: .nobody) { $0.seen.begin(anew: marks, accepting: accepted) }
            log.warning(
                "log_accepted",
                [
                    "acceptances": .array(
                        accepted.map { .string($0.text) }.sorted { $0.text < $1.text }),
                    "lacking": .string(shortage.impediment.sentence),
                ])
        } else if seen.isEmpty {
            note(try connection.shardMarks())
        }
        welcome(server)
    }

    /// Has what was seen before this start, once it is known of which log.
    private func recall(over connection: inout Connection) throws(LedgerError) {
        if state.change(wake: .nobody, { $0.hasRecalled }) { return }
        guard let root = try connection.logRoot() else { return }
        let recalled = memory.recall(root)
        state.change(wake: .nobody) { state in
            if state.hasRecalled { return }
            state.hasRecalled = true
            if let recalled { state.seen.merge(recalled) }
            state.seen.root = root
            state.isChanged = true
        }
    }

    private func refuse(_ impediment: Impediment) -> Impediment {
        let isNew = state.change(wake: .nobody) { state in
            defer { state.impediment = impediment }
            return state.impediment == nil
        }
        if isNew {
            log.error(impediment.kind.rawValue, ["reason": .string(impediment.sentence)])
        }
        return impediment
    }

    private func welcome(_ server: MetServer) {
        let isOver = state.change(wake: .nobody) { state in
            if state.seen.note(server.identity) { state.isChanged = true }
            defer { state.impediment = nil }
            return state.impediment != nil
        }
        if isOver { log.info("database_caught_up", ["server": .string(server.name)]) }
    }
}

/// Where it is kept what an instance has seen of logs.
package struct LogMemory: Sendable {
    /// What was seen of the log with that first event.
    package var recall: @Sendable (_ root: Digest32) -> SeenLog?
    /// Keeps it; why it could not, where that is so.
    package var keep: @Sendable (SeenLog) -> String?

    package init(
        recall: @escaping @Sendable (_ root: Digest32) -> SeenLog?,
        keep: @escaping @Sendable (SeenLog) -> String?
    ) {
        self.recall = recall
        self.keep = keep
    }

    /// For a process that has no part in it.
    package static let none = LogMemory(recall: { _ in nil }, keep: { _ in nil })
}
