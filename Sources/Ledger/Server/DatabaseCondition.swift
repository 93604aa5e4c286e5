import Core
import JSON
import Telemetry
import Threading
import Wording

/// The result of a check of the database.
struct DatabaseLook: Sendable {
    let isReadOnly: Bool
    /// The number of standbys that must confirm a commit, and the number that currently can.
    let standbysNeeded: Int64
    let standbysPresent: Int64
    /// The number of commits that have been waiting for standbys for a long time.
    let waitingCommits: Int64
    /// Whether an instance has noted that the log lacks events.
    let isNoted: Bool
    let demand: LogDemand

    fileprivate var impediments: [Impediment] {
        [demand.impediment].compactMap(\.self) + (isReadOnly ? [.readOnly] : [])
            + (lacksStandby ? [.standbyMissing(self)] : [])
            + (!lacksStandby && waitingCommits > 0 ? [.standbySilent(self)] : [])
    }

    fileprivate var lacksStandby: Bool { standbysPresent < standbysNeeded }
}

/// What prevents writes to the database, according to recent checks and writes.
final class DatabaseCondition: Sendable {
    /// The age, in milliseconds, at which a check no longer says anything about the current
    /// condition.
    private static let patience: Int64 = 2000
    private struct State {
        var look: DatabaseLook?
        var lookedAt: Int64 = 0
        /// When this process last tried to find another server.
        var doubtedAt: Int64 = 0
        /// Whether a write failed for lack of disk space and none has succeeded since.
        var isFull = false
        /// The impediments that were last logged.
        var told: Set<Impediment.Kind> = []

        var impediments: [Impediment] {
            (look?.impediments ?? []) + (isFull ? [.full] : [])
        }
    }
    private let state = Monitor(State())
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// What prevents writes to the database; empty if nothing does.
    var impediments: [Impediment] {
        state.change(wake: .none) { $0.impediments }
    }

    /// Whether the server refused writes at the last check.
    var isReadOnly: Bool { state.change(wake: .none) { $0.look?.isReadOnly ?? false } }

    /// Whether the database answered the last check and accepts writes.
    var isUsable: Bool {
        state.change(wake: .none) { state in
            state.look != nil && state.impediments.isEmpty
                && monotonicMilliseconds() - state.lookedAt < DatabaseCondition.patience
        }
    }

    /// An obstacle that certainly prevents a write.
    var barrier: Impediment? {
        state.change(wake: .none) { state in
            guard let look = state.look,
                monotonicMilliseconds() - state.lookedAt < DatabaseCondition.patience
            else { return nil }
            return look.demand.impediment
                ?? (look.lacksStandby ? .standbyMissing(look) : look.isReadOnly ? .readOnly : nil)
        }
    }

    /// Returns whether to look for another server because writes fail. A standby may have been promoted. Returns true
    /// at most once per `pause` milliseconds.
    func isDoubtDue(every pause: Int64) -> Bool {
        state.change(wake: .none) { state in
            let now = monotonicMilliseconds()
            // Another server would not help if the log is too new for this program.
            let isInDoubt = state.look?.impediments.contains { $0.kind != .outdated } ?? false
            guard isInDoubt, now - state.doubtedAt >= pause else { return false }
            state.doubtedAt = now
            return true
        }
    }

    /// Whether writes are known to need a standby's confirmation, or to be impossible.
    var dependsOnStandby: Bool {
        state.change(wake: .none) { $0.look.map { $0.standbysNeeded > 0 || $0.isReadOnly } ?? true }
    }

    /// Whether the last write found the disk full.
    var isFull: Bool { state.change(wake: .none) { $0.isFull } }

    func note(_ look: DatabaseLook) {
        change { state in
            state.look = look
            state.lookedAt = monotonicMilliseconds()
        }
    }

    func noteFull() { change { $0.isFull = true } }

    /// Records that a write succeeded, or that there is disk space again.
    func noteRoom() {
        if isFull { change { $0.isFull = false } }
    }

    private func change(_ body: (inout State) -> Void) {
        let (new, isOver) = state.change(wake: .none) { state in
            body(&state)
            let impediments = state.impediments
            let kinds = Set(impediments.map(\.kind))
            defer { state.told = kinds }
            return (
                impediments.filter { !state.told.contains($0.kind) },
                kinds.isEmpty && !state.told.isEmpty
            )
        }
        for impediment in new {
            log.error(impediment.kind.rawValue, ["reason": .string(impediment.withRemedy)])
        }
        if isOver { log.info("database_writable") }
    }
}

extension Impediment {
    static let full = Impediment(
        .full,
        "The database's disk is full, so PostgreSQL can no longer write. Free up space for its data and "
            + "its write-ahead log.")

    static let readOnly = Impediment(
        .readOnly,
        "The database accepts no writes: it is a standby, or default_transaction_read_only is on. Promote the "
            + "standby, or switch that setting off.")

    fileprivate static func standbyMissing(_ look: DatabaseLook) -> Impediment {
        let needed = look.standbysNeeded == 1 ? "1 standby" : "\(look.standbysNeeded) standbys"
        let found = look.standbysPresent == 0 ? "none is" : "\(look.standbysPresent) are"
        return Impediment(
            .noStandby,
            "Commits wait for \(needed), but \(found) connected. Start a standby, or change "
                + "synchronous_standby_names.")
    }

    fileprivate static func standbySilent(_ look: DatabaseLook) -> Impediment {
        Impediment(
            .noStandby,
            "Commits (\(look.waitingCommits) now) have waited for a standby for more than 2 s. Check that the "
                + "standby is running and keeps up, or change synchronous_standby_names.")
    }
}
