import Core
import JSON
package import Ledger
package import Service
package import Telemetry
import Threading

extension Job {
    /// Rewrites the rows of a project's customers after any instance has changed the project's catalog.
    package static func projecting(_ reprojection: Reprojection, log: Log) -> Job {
        Job("projecting", .everywhere(milliseconds: 1000), urgency: .patient) {
            run throws(Fault) in
            var faults: [Fault] = []
            let customers = try reprojection.project(
                while: { run.goesOn }, faulted: { faults.append($1.named($0)) })
            if customers > 0 { log.info("projected_anew", ["customers": .integer(customers)]) }
            // The other projects are done. The next run retries this one.
            if let fault = faults.first { throw fault }
            return .asScheduled
        }
    }

    package static func unclaimedCount(_ ledger: Ledger, metrics: Metrics) -> Job {
        let unclaimed = Gauge()
        metrics.gauge(
            "deed_unclaimed_purchases",
            "Purchases of all projects that no customer claimed, up to a million."
        ) { unclaimed.value }
        return Job("unclaimed", .everywhere(milliseconds: 15_000), urgency: .patient) {
            _ throws(Fault) in
            unclaimed.set(try ledger.unclaimedCount())
            return .asScheduled
        }
    }
}

extension Fault {
    fileprivate func named(_ project: ProjectID) -> Fault {
        switch self {
        case .broken(let reason): .broken("project \(project): \(reason)")
        case .unreadable(let what):
            .unreadable(Unreadable("project \(project): \(what.what)", needsNewer: what.needsNewer))
        default: self
        }
    }
}
