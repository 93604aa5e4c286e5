import Core
import Ledger
import Service

extension IntakePort {
    init(_ ledger: Ledger) {
        self.init(
            add: { item, evidence throws(Fault) in try ledger.addIntake(item, evidence) },
            find: { project, id throws(Fault) in try ledger.intake(id, of: project) },
            list: { project, filter throws(Fault) in
                try ledger.intake(
                    of: project, in: filter.state, after: filter.after, limit: filter.limit)
            },
            take: { now throws(Fault) in try ledger.takeIntake(now: now) },
            change: { item throws(CommandError) in try ledger.changeIntake(item) },
            counts: { () throws(Fault) in try ledger.intakeCounts() },
            clean: { instant throws(Fault) in try ledger.cleanIntake(endedBefore: instant) })
    }
}

extension StorePort {
    /// Deed has nothing yet with which it could ask the store: what only the store can judge waits.
    static let notConfigured = StorePort { _, _, _, _ in
        .tryAgain(
            IntakeReason(
                code: "store_not_configured",
                sentence: "Only the store can judge this receipt, and Deed cannot ask it yet; it "
                    + "waits. To judge receipts by their signature: deed app set --receipts local"))
    }
}
