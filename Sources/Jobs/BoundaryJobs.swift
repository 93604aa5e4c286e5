import Core
package import Service
package import Telemetry

extension Job {
    /// Publishes boundaries when the clock passes them. Every instance tries, and the first one to
    /// succeed publishes. Boundaries are thus published on time even if an instance has just died.
    package static func publishing(_ publishing: Publishing, metrics: Metrics) -> Job {
        let published = metrics.counter(
            "deed_boundaries_published_total", "Boundaries of access that this instance published.")
        // A shard that cannot be written must not delay the others.
        return Job("boundaries", .everywhere(milliseconds: 500), longestPause: 500) {
            run throws(Fault) in
            let publication = try publishing.publish(while: { run.goesOn })
            published.add(Int64(publication.notices))
            if let fault = publication.fault { throw fault }
            // The next run also publishes what has become due in the meantime.
            guard let next = publication.next, next > run.startedAt else { return .asScheduled }
            return .at(next)
        }
    }
}
