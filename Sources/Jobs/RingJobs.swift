import Core
package import Service
import Threading

extension Job {
    /// Rereads the data when the log reports a change. A full read at long intervals finds changes that the log did not
    /// report.
    private static func rereading(
        _ name: String, _ reload: @escaping @Sendable () throws(Fault) -> Void
    ) -> Job {
        // A revoked key must stop working soon, so a failed read is repeated after a short pause.
        Job(name, .everywhere(milliseconds: 10_000), longestPause: 500) { _ throws(Fault) in
            try reload()
            return .asScheduled
        }
    }

    package static func keys(_ ring: KeyRing) -> Job {
        rereading("keys") { () throws(Fault) in try ring.reload() }
    }

    /// Stores when keys were last used, every few seconds, so that little is lost if the process is killed.
    package static func keyUses(_ ring: KeyRing) -> Job {
        Job("key_uses", .everywhere(milliseconds: 5_000), urgency: .patient) { _ throws(Fault) in
            try ring.uses.write()
            return .asScheduled
        }
    }

    /// Stores the refused calls every few seconds.
    package static func refusedCalls(_ ring: KeyRing) -> Job {
        Job("refused_calls", .everywhere(milliseconds: 2_000), urgency: .patient) {
            _ throws(Fault) in
            try ring.refusals.write()
            return .asScheduled
        }
    }

    package static func apps(_ ring: AppRing) -> Job {
        rereading("apps") { () throws(Fault) in try ring.reload() }
    }
}
