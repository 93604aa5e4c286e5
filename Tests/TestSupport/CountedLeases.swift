package import Core
package import Service
import Synchronization

/// Wraps the service's leases and counts their use.
package final class CountedLeases: Leases {
    private let leases: any Leases
    private let counts = Mutex((taken: 0, kept: 0))

    package init(_ leases: any Leases) {
        self.leases = leases
    }

    package var taken: Int { counts.withLock { $0.taken } }
    package var kept: Int { counts.withLock { $0.kept } }

    package func takeLease(
        of name: String, at now: Instant, until end: Instant, lastRun: Instant?
    ) throws(Fault) -> Lease? {
        counts.withLock { $0.taken += 1 }
        return try leases.takeLease(of: name, at: now, until: end, lastRun: lastRun)
    }

    package func keep(_ lease: Lease, until end: Instant) throws(Fault) -> Bool {
        counts.withLock { $0.kept += 1 }
        return try leases.keep(lease, until: end)
    }

    package func end(_ lease: Lease, ranAt: Instant?) throws(Fault) {
        try leases.end(lease, ranAt: ranAt)
    }
}
