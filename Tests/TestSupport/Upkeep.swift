import Assembly
package import Core
package import Ledger
package import Service

/// What the jobs of a service do, by the ledger of a test.
extension Ledger {
    package func publishBoundaries(
        resting: Set<Stream> = []
    ) throws(Fault) -> Publication {
        try publishing.publish(resting: resting)
    }

    package func publishBoundaries(
        of project: ProjectID, in shard: Shard, isRehearsal: Bool = false
    ) throws(Fault) -> Publication {
        try publishing.publish(of: project, in: shard, isRehearsal: isRehearsal)
    }

    private var publishing: Publishing { Publishing(self, now: settings.clock) }

    package func reproject(faulted: (ProjectID, Fault) -> Void) throws(Fault) -> Int {
        try Reprojection(self, .live).project(faulted: faulted)
    }
}
