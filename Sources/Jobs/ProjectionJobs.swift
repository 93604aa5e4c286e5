import Core
import JSON
package import Ledger
package import Telemetry
import Threading

/// Projects customers anew when their project's catalog has changed, whoever changed it.
package final class Projector: Sendable {
    private static let pause: Int64 = 1000
    /// How old the count of what no customer claimed may become.
    private static let countAge: Int64 = 15_000

    private let isStopping = Monitor(false)
    private let ledger: Ledger
    private let log: Log
    private let unclaimed = Gauge()
    private let countedAt = Monitor<Int64?>(nil)

    package init(_ ledger: Ledger, log: Log, metrics: Metrics) {
        self.ledger = ledger
        self.log = log
        metrics.gauge(
            "deed_unclaimed_purchases",
            "Purchases of all projects that no customer claimed, up to a million."
        ) { [unclaimed] in unclaimed.value }
    }

    package func start() {
        startThread("projector", .patient) { [self] in
            while isStopping.wait(milliseconds: Projector.pause, for: { $0 ? () : nil }) == nil {
                project()
                count()
            }
        }
    }

    package func stop() {
        isStopping.change { $0 = true }
    }

    private func project() {
        do throws(Fault) {
            let customers = try ledger.reproject { [log] project, fault in
                guard case .broken(let reason) = fault else { return }
                log.error(
                    "not_projected",
                    ["project": .string(project.text), "reason": .string(reason)])
            }
            if customers > 0 { log.info("projected_anew", ["customers": .integer(customers)]) }
        } catch {
            // What was left is taken up by the next look; the watch logs an unreachable database.
            guard case .broken(let reason) = error else { return }
            log.error("not_projected", ["reason": .string(reason)])
        }
    }

    private func count() {
        let now = monotonicMilliseconds()
        let isDue = countedAt.change { countedAt in
            if let last = countedAt, now - last < Projector.countAge { return false }
            countedAt = now
            return true
        }
        // The watch logs an unreachable database; the count is asked for again.
        if isDue, let count = try? ledger.unclaimedCount() { unclaimed.set(count) }
    }
}
