import Assembly
package import Core
package import Ledger
package import Service

/// Performs the work of a service's jobs with a test's ledger.
extension Ledger {
    package func publishBoundaries() throws(Fault) -> Publication {
        try publishing.publish()
    }

    package func publishBoundaries(
        of project: ProjectID, in shard: Shard, isRehearsal: Bool = false
    ) throws(Fault) -> Publication {
        try publishing.publish(
            of: project, in: shard, under: nil, isRehearsal: isRehearsal)
    }

    private var publishing: Publishing { Publishing(self, now: settings.clock) }

    package func reproject(faulted: (ProjectID, Fault) -> Void) throws(Fault) -> Int {
        try Reprojection(self, .live).project(faulted: faulted)
    }
}
