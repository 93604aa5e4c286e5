import Core
package import Ledger
package import Service
import Threading

extension Ledger: ReconcileRights, UpkeepPort, RunNotes, LeftWork, StoreBooks, HistoryQuestions {}

extension DriftCheck: DriftFinder {}

extension KeptLease: ReconcileRight {
    package func giveBack() { try? end() }
}

extension ReconcilePort {
    package init(_ wish: ReconcileWish, _ ledger: Ledger, _ walk: UnlistedWalk = UnlistedWalk()) {
        self.init(
            rights: ledger, notes: ledger, steps: ProjectSteps(wish, ledger, walk), books: ledger,
            pause: { Threading.pause(milliseconds: $0) }, monotonicClock: monotonicMilliseconds)
    }
}

extension ProjectSteps {
    /// Opens a connection for comparisons and closes it when the comparisons end.
    package init(
        _ wish: ReconcileWish, _ ledger: Ledger, _ walk: UnlistedWalk = UnlistedWalk()
    ) {
        self.init(
            wish, ledger, DriftCheck(ledger, walk: walk), .live, now: ledger.settings.clock,
            sideBySide: { sideBySide($0, $1) })
    }
}
