package import Core
package import Crypto
import JSON
import Postgres
import SQL
import Telemetry
import Threading
import Wording

/// Compares every server that a connection reaches with what this instance has seen of the log.
///
/// A promoted standby may lack the last commits. An old primary that comes back lacks what its successor wrote. A
/// backup lacks everything after it. Continuing with any of them would start a second history that contradicts earlier
/// answers. The chain reveals these servers, because they do not have the chain that was seen at a known place.
package final class LogGuard: Sendable {
    fileprivate struct State {
        var seen = SeenLog()
        /// How many times the log has started over.
        var epoch = 0
        /// The part of the log that was missing at the last comparison.
        var impediment: Impediment?
        var isChanged = false
        /// The part of what was seen that would survive a power failure.
        var synced = SeenLog()
        var syncedAt: Int64?
        var hasRecalled = false
        /// Whether this process remembered anything about the log when it started.
        var isRemembered = false
        /// Whether this process's stored notes proved unreadable and may be overwritten.
        var isGivenUp = false
        /// Losses that had already been accepted when the stored notes proved unreadable.
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

    /// Why the last server is not used; `nil` if it is used.
    package var impediment: Impediment? { state.change(wake: .none) { $0.impediment } }

    /// Whether the last server revealed its identity.
    var isServerKnown: Bool { state.change(wake: .none) { $0.seen.server != nil } }

    /// Whether this process remembered anything about the log when it started.
    package var isRemembered: Bool { state.change(wake: .none) { $0.isRemembered } }

    /// How many times the log has started over. Read this before asking the log for its marks.
    var epoch: Int { state.change(wake: .none) { $0.epoch } }

    /// Records how much of the log a caller saw in that epoch. Marks from before an accepted loss
    /// may belong to the abandoned log.
    func note(_ marks: [ShardMark], askedIn epoch: Int) {
        state.change(wake: .none) { state in
            if epoch == state.epoch, state.seen.note(marks) { state.isChanged = true }
        }
    }

    /// Records losses that have already been accepted. These do not excuse later losses.
    func know(_ acceptances: some Sequence<AcceptanceID>) {
        state.change(wake: .none) { state in
            for acceptance in acceptances where state.seen.acceptances.insert(acceptance).inserted {
                state.isChanged = true
            }
        }
    }

    /// Stores what has been seen since the last call, for this instance's next start.
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
                "remedy": .string(Remedy.keepRecord.inCommands),
            ])
    }

    /// Deletes the notes about other logs that no process has worked with since an instant.
    func forgetOthers(before instant: Instant) -> Int {
        let seen = state.change(wake: .none) { $0.seen }
        return seen.root == nil ? 0 : memory.forget(seen, instant)
    }

    // MARK: Meeting a server

    /// Throws unless the server has everything that was seen of the log. Also compares the server's clock.
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
                throw PostgresError(
                    .unwanted, serverMessage: impediment.withRemedy, cause: impediment)
            default: throw PostgresError(.unexpected, serverMessage: error.description)
            }
        }
    }

    /// Whether notes from other instances also stop this one.
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
                // Abandons the other connections under the same lock, so that no caller in the new epoch asks the
                // previous server.
                connection.outliveOthers()
                return true
            }
            // Another connection has started over, with this server or a different one. Compares
            // this server with the new state.
            if !isBegun { return try meet(&connection) }
            tell(of: accepted, lacking: shortage.impediment([]))
        } else if seen.isEmpty {
            note(try connection.shardMarks(), askedIn: epoch)
        }
        // Abandons connections to other servers.
        if welcome(server) { connection.outliveOthers() }
    }

    /// Returns the losses that have been accepted since the log was seen, which excuse the
    /// shortage. Throws if no loss was accepted, or if another instance reported a larger shortage.
    private func excuse(
        _ shortage: Shortage, of seen: SeenLog, over connection: inout Connection
    ) throws(LedgerError) -> Set<AcceptanceID> {
        let found = try connection.acceptances()
        let accepted = Set(found.keys).subtracting(seen.acceptances)
        let stopping = heedsOthers ? shortage.stopping(after: found.count) : []
        let isRefused = shortage.isOwn && accepted.isEmpty
        if !isRefused, stopping.isEmpty { return accepted }
        if isRefused, memory.notes == .written { connection.note(shortage, after: found.count) }
        // Connections that were opened before another instance left its note still use that server.
        if !isRefused, impediment == nil { connection.outliveOthers() }
        throw .impeded(refuse(shortage.impediment(stopping)))
    }

    /// Loads what earlier runs of this instance have seen, once it is clear which log this is.
    private func recall(
        over connection: inout Connection, to server: MetServer
    ) throws(LedgerError) {
        if state.change(wake: .none, { $0.hasRecalled }) { return }
        let roots = try connection.logRoots()
        guard let earliest = roots.first else { return }
        var root = earliest
        var recalled: SeenLog?
        var isGivenUp = false
        do throws(LogMemory.NotRecalled) {
            // When the notes were first stored, another shard's first event may have been the earliest one.
            for candidate in roots where recalled == nil {
                root = candidate
                recalled = try memory.recall(candidate, server.identity)
            }
            if recalled == nil { root = earliest }
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

    /// Treats nothing as seen if a loss was accepted after the stored notes proved unreadable.
    private func unknown(
        because error: LogMemory.NotRecalled, over connection: inout Connection,
        to server: MetServer
    ) throws(LedgerError) -> SeenLog {
        var unknown = SeenLog()
        let found = try connection.acceptances()
        // Losses accepted after the notes were last written count as a response to the unreadable
        // notes.
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
                "lacking": .string(impediment.withRemedy),
            ])
    }

    private func refuse(_ impediment: Impediment, as event: String? = nil) -> Impediment {
        let isNew = state.change(wake: .none) { state in
            defer { state.impediment = impediment }
            return state.impediment == nil
        }
        if isNew {
            log.error(
                event ?? impediment.kind.rawValue, ["reason": .string(impediment.withRemedy)])
        }
        return impediment
    }

    /// Records the server. Returns true if a different server or an earlier history of this one was used before, or if
    /// the last server was refused.
    private func welcome(_ server: MetServer) -> Bool {
        let (isOver, isAnother) = state.change(wake: .none) { state in
            let isFirst = state.seen.server == nil
            let isNew = state.seen.note(server.identity)
            if isNew { state.isChanged = true }
            defer { state.impediment = nil }
            return (state.impediment != nil, isNew && !isFirst)
        }
        if isOver { log.info("database_caught_up", ["server": .string(server.name)]) }
        // Also true after a refusal, because callers that were recently refused would otherwise
        // wait before they try again.
        return isAnother || isOver
    }
}

/// Where an instance stores what it has seen of logs.
package struct LogMemory: Sendable {
    /// The error if the stored notes cannot be read back.
    package struct NotRecalled: Error {
        package let reason: String
        /// Whether the stored notes belong to another user.
        package let isForbidden: Bool
        /// When the stored notes were last written, if known.
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
    package typealias Forget = @Sendable (_ served: SeenLog, _ instant: Instant) -> Int

    /// How a process treats the notes that instances leave in a database that lacks events.
    package enum Notes: Sendable {
        /// Ignores other instances' notes and accepts the log as it is.
        case ignored
        case heeded
        /// Reads other instances' notes and also writes its own.
        case written
    }

    /// How durable the stored notes must be.
    package enum Care: Sendable {
        /// The notes survive the end of the process.
        case quick
        /// The notes survive a power failure.
        case synced
        /// The notes survive a power failure and replace unreadable ones.
        case overwriting
    }

    /// Loads the notes about the log with this first event, preferably in this server's database,
    /// otherwise in a different one.
    package var recall: Recall
    /// Stores the notes. Returns an error if that failed.
    package var keep: Keep
    /// Deletes the notes about logs other than the served one if no process has worked with them
    /// since an instant. Returns the number of deletions.
    package var forget: Forget = { _, _ in 0 }
    package var notes: Notes

    package init(
        recall: @escaping Recall, keep: @escaping Keep, notes: Notes = .written
    ) {
        self.recall = recall
        self.keep = keep
        self.notes = notes
    }

    /// Remembers what a process has seen only as long as the process runs.
    package static let none = LogMemory(
        recall: { _, _ in nil }, keep: { _, _ in nil }, notes: .ignored)
}

extension LogGuard.State {
    /// How many milliseconds new notes may wait before they are synced to disk. A sync competes with commits.
    private static let syncPause: Int64 = 1000

    /// Returns how durably the notes must be stored now; `nil` if they are durable enough.
    fileprivate func careNeeded(at now: Int64, isLast: Bool) -> LogMemory.Care? {
        if seen.root == nil { return nil }
        if isGivenUp { return .overwriting }
        let isOverdue = syncedAt.map { now - $0 >= Self.syncPause } ?? true
        // A change of history matters more than progress within one history.
        let isAnother = seen.server != synced.server || seen.acceptances != synced.acceptances
        if seen != synced, isLast || isOverdue || isAnother { return .synced }
        return isChanged ? .quick : nil
    }
}

extension LogMemory.NotRecalled {
    fileprivate func impediment(at server: MetServer) -> Impediment {
        Impediment(
            .behind,
            "This instance cannot read its record of the log (\(reason)), so it cannot tell whether "
                + "the PostgreSQL server at \(server.name) lacks events. Deed neither reads nor writes that server. "
                + "Let the service's user read the record's file.", remedy: .acceptServer)
    }
}
