import Core
package import Ledger
package import Telemetry

extension Job {
    /// Publishes boundaries as the clock passes them. Every instance looks: the first publishes,
    /// and none has to wait until another one that died is known to be gone.
    package static func publishing(_ ledger: Ledger, metrics: Metrics) -> Job {
        let published = metrics.counter(
            "deed_boundaries_published_total", "Boundaries of access that this instance published.")
        return Job("boundaries", .everywhere(milliseconds: 500), longestPause: 5000) {
            run throws(Fault) in
            let publication = try ledger.publishBoundaries(while: { run.goesOn })
            published.add(Int64(publication.notices))
            // What came due meanwhile waits for the next look.
            guard let next = publication.next, next > run.startedAt else { return .asScheduled }
            return .at(next)
        }
    }
}
