import Core
package import Ledger
package import Telemetry
import Threading

extension Job {
    /// Publishes boundaries as the clock passes them. Every instance looks: the first publishes,
    /// and none has to wait until another one that died is known to be gone.
    package static func publishing(_ ledger: Ledger, metrics: Metrics) -> Job {
        let published = metrics.counter(
            "deed_boundaries_published_total", "Boundaries of access that this instance published.")
        let resting = Monitor(RestingCustomers())
        // One shard that cannot be written must not make the others late.
        return Job("boundaries", .everywhere(milliseconds: 500), longestPause: 500) {
            run throws(Fault) in
            let customers = resting.change { resting in
                resting.wake(at: monotonicMilliseconds())
                return resting.customers
            }
            let publication = try ledger.publishBoundaries(
                resting: customers, while: { run.goesOn })
            published.add(Int64(publication.notices))
            let fault = resting.change { resting in
                resting.add(publication, at: monotonicMilliseconds())
                return publication.fault ?? resting.fault
            }
            // Those who rest are a failure still.
            if let fault { throw fault }
            // What came due in between waits for the next look.
            guard let next = publication.next, next > run.startedAt else { return .asScheduled }
            return .at(next)
        }
    }
}
