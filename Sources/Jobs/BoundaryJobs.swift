import Core
package import Service
package import Telemetry
import Threading

extension Job {
    /// Publishes boundaries as the clock passes them. Every instance looks: the first publishes,
    /// and none has to wait until another one that died is known to be gone.
    package static func publishing(_ publishing: Publishing, metrics: Metrics) -> Job {
        let published = metrics.counter(
            "deed_boundaries_published_total", "Boundaries of access that this instance published.")
        let resting = Monitor(RestingCustomers())
        // One shard that cannot be written must not make the others late.
        return Job("boundaries", .everywhere(milliseconds: 500), longestPause: 500) {
            run throws(Fault) in
            let publication = try publishing.publish(
                resting: resting.change { $0.resting(at: monotonicMilliseconds()) },
                while: { run.goesOn })
            published.add(Int64(publication.notices))
            // Those who rest are a failure still.
            let fault = resting.change { $0.add(publication, at: monotonicMilliseconds()) }
            if let fault { throw fault }
            // What came due in between waits for the next look.
            guard let next = publication.next, next > run.startedAt else { return .asScheduled }
            return .at(next)
        }
    }
}

/// Customers whose boundaries could not be published lately. A look without them does not begin with finding out
/// again who they are, which takes several transactions for each.
struct RestingCustomers {
    /// In milliseconds.
    private static let rest: Int64 = 5000

    private var ends: [Stream: Int64] = [:]
    /// Why the first of them could not be published.
    private var fault: Fault?

    /// Those who rest still, by the clock that only moves forward.
    mutating func resting(at now: Int64) -> Set<Stream> {
        ends = ends.filter { $0.value > now }
        if ends.isEmpty { fault = nil }
        return Set(ends.keys)
    }

    /// Takes in those who are to blame; gives why something could not be published, now or lately.
    mutating func add(_ publication: Publication, at now: Int64) -> Fault? {
        for stream in publication.blamed { ends[stream] = now + RestingCustomers.rest }
        if !ends.isEmpty { fault = publication.fault ?? fault }
        return publication.fault ?? fault
    }
}
