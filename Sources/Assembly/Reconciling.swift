import Core
package import Ledger
package import Service
import Threading

extension ReconcilePort {
    /// The work of one reconciliation, over a connection that ends with the port.
    package init(_ wish: ReconcileWish, _ ledger: Ledger) {
        var scope = ReconcileScope(project: wish.project)
        scope.isRehearsal = wish.isRehearsal
        scope.isFull = wish.isFull
        scope.repairs = wish.repairs
        let reconciler = Reconciler(ledger, scope)
        self.init(
            begin: { () throws(Fault) in try reconciler.begin() },
            done: { id throws(Fault) in try reconciler.done(of: id) },
            note: { part, counts, id throws(Fault) in try reconciler.note(part, counts, of: id) },
            forget: { () throws(Fault) in try reconciler.forget() },
            reconcile: { part throws(Fault) in try reconciler.reconcile(part) },
            monotonicClock: monotonicMilliseconds)
    }
}
