package import Core
import Crypto
package import Ledger
package import Service

extension RefundReportPort {
    /// Longer than a call of the store takes, each of its tries included.
    private static let leaseMilliseconds: Int64 = 90_000

    package init(_ ledger: Ledger, machineClock: @escaping @Sendable () -> Instant) {
        let leaseEnd: @Sendable () -> Instant = {
            machineClock().advanced(byMilliseconds: RefundReportPort.leaseMilliseconds)
        }
        self.init(
            asked: { instant throws(Fault) in try ledger.askedRefunds(after: instant) },
            take: { app throws(Fault) in
                try ledger.takeLease(
                    of: app.leaseName, at: machineClock(), until: leaseEnd(), lastRun: nil)
            },
            keep: { lease throws(Fault) in try ledger.keep(lease, until: leaseEnd()) },
            giveBack: { lease throws(Fault) in try ledger.end(lease, ranAt: nil) })
    }
}

extension StoreApp {
    /// Short, however long the names are.
    fileprivate var leaseName: String {
        let names = "\(project.text)\u{0}\(key.store.rawValue)\u{0}\(key.id.text)"
        return "refund-reports-\(SHA256.digest(Array(names.utf8)).hex.prefix(40))"
    }
}
