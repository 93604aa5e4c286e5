import Core
import Jobs
import Ledger
package import Service
import Telemetry
import Threading

extension Job {
    /// Returns a job that runs once a minute. It counts what projects need from people, and reports when
    /// operators last performed their regular tasks.
    static func countingNeeds(_ live: Live, isForTests: Bool, metrics: Metrics) -> Job {
        let people = live.needs(isForTests: isForTests)
        let needs = ProjectCheck.all.map { check in (check: check, count: Gauge()) }
        for need in needs {
            metrics.gauge(
                "deed_needs", "What projects need people to do, by the code of deed doctor.",
                labels: [("code", need.check.code)]
            ) { need.count.value }
        }
        let chores = ["audit", "checkpoint", "backup", "backup_tried"].map { ($0, Gauge()) }
        for (what, last) in chores {
            metrics.gauge(
                "deed_last_done_timestamp_seconds",
                "When an operator's work was last done, by PostgreSQL's clock; 0 if never.",
                labels: [("what", what)]
            ) { last.value }
        }
        return Job("needs", .everywhere(milliseconds: 60_000), urgency: .patient) {
            _ throws(Fault) in
            let done = try live.ledger.allDone()
            for (what, last) in chores {
                last.set((done.first { $0.what == what }?.doneAt.milliseconds ?? 0) / 1000)
            }
            let notes = Set(done.map(\.what))
            var found: [String: Int64] = [:]
            for listed in try live.ledger.projects() {
                guard let state = try? live.ledger.project(listed.project) else { continue }
                let sight = try people.sight(of: listed.project, state, notes: notes)
                for need in needs {
                    found[need.check.code, default: 0] += Int64(need.check.needs(of: sight).count)
                }
            }
            for need in needs { need.count.set(found[need.check.code] ?? 0) }
            return .asScheduled
        }
    }
}

extension Live {
    package func needs(isForTests: Bool) -> Needs {
        Needs(useCases.ports, store.adapters.map(\.profile), isForTests: isForTests)
    }
}
