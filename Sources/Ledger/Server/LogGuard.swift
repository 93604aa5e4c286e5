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
/// successor wrote, and a backup lacks everything that came after it. To go on with one of them would be a second
/// history that differs from past answers. The chain shows it: an event exists, with the chain that was seen, or
/// something else is in its place.
package final class LogGuard: Sendable {
    fileprivate struct State {
        var seen = SeenLog()
        /// How often the log began anew.
        var epoch = 0
        /// What the log was last found to lack.
        var impediment: Impediment?
        var isChanged = false
        /// What a machine that loses its power still has.
        var synced = SeenLog()
        var syncedAt: Int64?
        var hasRecalled = false
        /// Whether anything was remembered of the log from before this start.
        var isRemembered = false
        /// Whether what could not be recalled was given up, and may be overwritten.
        var isGivenUp = false
        /// Which losses had been accepted when it was found that what was seen cannot be recalled.
        var acceptedBefore: Set<AcceptanceID>?
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
    package var impediment: Impediment? { state.change(wake: .none) { $0.impediment } }

    /// Whether it can be told which server was met last.
    var isServerKnown: Bool { state.change(wake: .none) { $0.seen.server != nil } }

    /// Whether anything was remembered of the log from before this start.
    package var isRemembered: Bool { state.change(wake: .none) { $0.isRemembered } }

    /// How often the log began anew. It has to be taken before the log is asked for its marks.
    var epoch: Int { state.change(wake: .none) { $0.epoch } }

    /// Notes how far the log was seen to reach by one who asked in that epoch: what was asked for before
    /// a loss was accepted may be of the log that was given up.
    func note(_ marks: [ShardMark], askedIn epoch: Int) {
        state.change(wake: .none) { state in
            if epoch == state.epoch, state.seen.note(marks) { state.isChanged = true }
        }
    }

    /// Notes which losses are accepted already: they excuse no later one.
    func know(_ acceptances: some Sequence<AcceptanceID>) {
        state.change(wake: .none) { state in
            for acceptance in acceptances where state.seen.acceptances.insert(acceptance).inserted {
                state.isChanged = true
            }
        }
    }

    /// Writes down what is new since the last time, for when this instance starts again.
    package func keep(isLast: Bool = false) {
        let now = monotonicMilliseconds()
        let new = state.change(wake: .none) { state -> (seen: SeenLog, care: LogMemory.Care)? in
            guard let care = state.careNeeded(at: now, isLast: isLast) else { return nil }
            state.isChanged = false
            return (state.seen, care)
        }
        guard let new else { return }
        guard let reason = memory.keep(new.seen, new.care) else {
            return state.change(wake: .none) { state in
                if new.care == .quick { return }
                state.isGivenUp = false
                (state.synced, state.syncedAt) = (new.seen, now)
            }
        }
        let isTold = state.change(wake: .none) { state in
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

    /// Whether what other instances have noted stops this one, too.
    var heedsOthers: Bool { memory.notes != .ignored }

    /// Throws unless the server has everything that was seen of the log.
    func meet(_ connection: inout Connection) throws(LedgerError) {
        let server = try connection.identifiedServer()
        try recall(over: &connection, to: server)
        let (seen, epoch) = state.change(wake: .none) { ($0.seen, $0.epoch) }
        let shortage = try connection.shortage(of: seen, at: server)
        let accepted = try shortage.map { shortage throws(LedgerError) in
            try excuse(shortage, of: seen, over: &connection)
        }
        if let shortage, let accepted, shortage.isOwn {
            let marks = try connection.shardMarks()
            let isBegun = state.change(wake: .none) { state in
                state.isChanged = true
                let isBegun = state.seen.begin(
                    anew: marks, at: server.identity, accepting: accepted)
                if !isBegun { return false }
                state.epoch += 1
                // Together, so that who asks in the new epoch does not ask the server of before.
                connection.outliveOthers()
                return true
            }
            // Another connection has begun with it, or with another one: this one is held against that.
            if !isBegun { return try meet(&connection) }
            tell(of: accepted, lacking: shortage.impediment([]))
        } else if seen.isEmpty {
            note(try connection.shardMarks(), askedIn: epoch)
        }
        // What other connections were made to is not what is worked with from now on.
        if welcome(server) { connection.outliveOthers() }
    }

    /// The losses that were accepted since, and excuse the shortage. Throws where there are none, or another
    /// instance says that more is lacking.
    private func excuse(
        _ shortage: Shortage, of seen: SeenLog, over connection: inout Connection
    ) throws(LedgerError) -> Set<AcceptanceID> {
        let found = try connection.acceptances()
        let accepted = Set(found.keys).subtracting(seen.acceptances)
        let stopping = heedsOthers ? shortage.stopping(after: found.count) : []
        let isRefused = shortage.isOwn && accepted.isEmpty
        if !isRefused, stopping.isEmpty { return accepted }
        if isRefused, memory.notes == .written { connection.note(shortage, after: found.count) }
        // Connections that were made before the note was work with that server still.
        if !isRefused, impediment == nil { connection.outliveOthers() }
        throw .impeded(refuse(shortage.impediment(stopping)))
    }

    /// Has what was seen before this start, once it is known of which log.
    private func recall(
        over connection: inout Connection, to server: MetServer
    ) throws(LedgerError) {
        if state.change(wake: .none, { $0.hasRecalled }) { return }
        guard let root = try connection.logRoot() else { return }
        let recalled: SeenLog?
        var isGivenUp = false
        do throws(LogMemory.NotRecalled) {
            recalled = try memory.recall(root, server.identity)
        } catch {
            recalled = try unknown(because: error, over: &connection, to: server)
            isGivenUp = true
        }
        state.change(wake: .none) { state in
            if state.hasRecalled { return }
            state.hasRecalled = true
            if let recalled {
                state.seen.merge(recalled)
                state.isRemembered = !recalled.isEmpty
            }
            state.isGivenUp = isGivenUp
            state.seen.root = root
            state.isChanged = true
        }
    }

    /// Nothing was seen, where that has been accepted since it was found that it cannot be recalled.
    private func unknown(
        because error: LogMemory.NotRecalled, over connection: inout Connection,
        to server: MetServer
    ) throws(LedgerError) -> SeenLog {
        var unknown = SeenLog()
        let found = try connection.acceptances()
        // What was accepted since something was written down there last was accepted for just this.
        let earlier = found.filter { _, at in error.changedAt.map { at <= $0 } ?? true }
        unknown.acceptances = Set(found.keys)
        let before = state.change(wake: .none) { state in
            let before = state.acceptedBefore ?? Set(earlier.keys)
            state.acceptedBefore = before
            state.isRemembered = true
            return before
        }
        let impediment = error.impediment(at: server)
        let accepted = unknown.acceptances.subtracting(before)
        if accepted.isEmpty { throw .impeded(refuse(impediment, as: "log_not_recalled")) }
        tell(of: accepted, lacking: impediment)
        return unknown
    }

    private func tell(of accepted: Set<AcceptanceID>, lacking impediment: Impediment) {
        log.warning(
            "log_accepted",
            [
                "acceptances": .array(
                    accepted.map { .string($0.text) }.sorted { $0.text < $1.text }),
                "lacking": .string(impediment.sentence),
            ])
    }

    private func refuse(_ impediment: Impediment, as event: String? = nil) -> Impediment {
        let isNew = state.change(wake: .none) { state in
            defer { state.impediment = impediment }
            return state.impediment == nil
        }
        if isNew {
            log.error(
                event ?? impediment.kind.rawValue, ["reason": .string(impediment.sentence)])
        }
        return impediment
    }

    /// Whether another server was worked with before, or an earlier history of this one, or none.
    private func welcome(_ server: MetServer) -> Bool {
        let (isOver, isAnother) = state.change(wake: .none) { state in
            let isFirst = state.seen.server == nil
            let isNew = state.seen.note(server.identity)
            if isNew { state.isChanged = true }
            defer { state.impediment = nil }
            return (state.impediment != nil, isNew && !isFirst)
        }
        if isOver { log.info("database_caught_up", ["server": .string(server.name)]) }
        // What was refused a moment ago would wait before it tries again.
        return isAnother || isOver
    }
}

/// Where it is kept what an instance has seen of logs.
package struct LogMemory: Sendable {
    /// Something was seen, and it cannot be told what.
    package struct NotRecalled: Error {
        package let reason: String
        /// Whether it is another user's to tell.
        package let isForbidden: Bool
        /// When something was kept there last, where that is known.
        package let changedAt: Instant?

        package init(_ reason: String, isForbidden: Bool = false, changedAt: Instant? = nil) {
            self.reason = reason
            self.isForbidden = isForbidden
            self.changedAt = changedAt
        }
    }
    package typealias Recall =
        @Sendable (_ root: Digest32, _ server: ServerIdentity?)
        throws(NotRecalled) -> SeenLog?
    package typealias Keep = @Sendable (_ seen: SeenLog, _ care: Care) -> String?

    /// What a process has to do with what instances note in a database that lacks events.
    package enum Notes: Sendable {
        /// It accepts the log as it is.
        case ignored
        case heeded
        /// It notes what it has seen, too.
        case written
    }

    /// What is to survive how much.
    package enum Care: Sendable {
        /// This process may be killed.
        case quick
        /// The machine may lose its power.
        case synced
        /// The same, and what cannot be read there was given up.
        case overwriting
    }

    /// What was seen of the log with that first event: in that server's database, or else in another one.
    package var recall: Recall
    /// Keeps it; why it could not, where that is so.
    package var keep: Keep
    package var notes: Notes

    package init(
        recall: @escaping Recall, keep: @escaping Keep, notes: Notes = .written
    ) {
        self.recall = recall
        self.keep = keep
        self.notes = notes
    }

    /// For a process that has no part in it.
    package static let none = LogMemory(
        recall: { _, _ in nil }, keep: { _, _ in nil }, notes: .ignored)
}

extension LogGuard.State {
    /// How long a machine that loses its power may lack what was seen last, in milliseconds: a sync
    /// waits for the disk that commits wait for.
    private static let syncPause: Int64 = 1000

    /// With what care what was seen is to be kept now; `nil` where it is.
    fileprivate func careNeeded(at now: Int64, isLast: Bool) -> LogMemory.Care? {
        if seen.root == nil { return nil }
        if isGivenUp { return .overwriting }
        let isOverdue = syncedAt.map { now - $0 >= Self.syncPause } ?? true
        // Which history it is matters more than how far it was seen.
        let isAnother = seen.server != synced.server || seen.acceptances != synced.acceptances
        if seen != synced, isLast || isOverdue || isAnother { return .synced }
        return isChanged ? .quick : nil
    }
}

extension LogMemory.NotRecalled {
    fileprivate func impediment(at server: MetServer) -> Impediment {
        Impediment(
            .behind,
            "What this instance has seen of the log cannot be read (\(reason)), so it cannot tell whether "
                + "the PostgreSQL server at \(server.name) lacks anything. It is not read and not written. "
                + "Let the user that serves read that file. If the file is damaged and this server is the "
                + "right one, say so with: deed accept-log --reason '…'")
    }
}
