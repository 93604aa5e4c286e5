import Core
package import Service

extension Job {
    /// Changes are read when the log reports them; a slow full read finds what the log does not report.
    private static func rereading(
        _ name: String, _ reload: @escaping @Sendable () throws(Fault) -> Void
    ) -> Job {
        // A revoked key must stop working soon, even if something fails.
        Job(name, .everywhere(milliseconds: 10_000), longestPause: 500) { _ throws(Fault) in
            try reload()
            return .asScheduled
        }
    }

    package static func keys(_ ring: KeyRing) -> Job {
        rereading("keys") { () throws(Fault) in try ring.reload() }
    }

    package static func apps(_ ring: AppRing) -> Job {
        rereading("apps") { () throws(Fault) in try ring.reload() }
    }
}
