import Core
package import Ledger
import Threading

extension Job {
    /// Counts the figures of every project in advance, so that the console only has to read them. An interrupted count
    /// is discarded.
    package static func figures(_ ledger: Ledger) -> Job {
        Job("figures", .once(milliseconds: 3_600_000), urgency: .patient) { run throws(Fault) in
            var count = FigureCount(at: run.startedAt)
            try run.forEachPage { () throws(Fault) in try ledger.count(&count) }
            if count.isWhole && run.goesOn { try ledger.keep(count) }
            return .asScheduled
        }
    }
}
