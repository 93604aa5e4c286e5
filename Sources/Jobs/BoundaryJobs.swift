import Core
package import Service
package import Telemetry

extension Job {
    /// Publishes boundaries as the clock passes them. Every instance looks: the first publishes,
    /// and none has to wait until another one that died is known to be gone.
    package static func publishing(_ publishing: Publishing, metrics: Metrics) -> Job {
        let published = metrics.counter(
            "deed_boundaries_published_total", "Boundaries of access that this instance published.")
        // One shard that cannot be written must not make the others late.
        return Job("boundaries", .everywhere(milliseconds: 500), longestPause: 500) {
            run throws(Fault) in
            let publication = try publishing.publish(while: { run.goesOn })
            published.add(Int64(publication.notices))
            if let fault = publication.fault { throw fault }
            // What came due in between waits for the next look.
            guard let next = publication.next, next > run.startedAt else { return .asScheduled }
            return .at(next)
        }
    }
}
