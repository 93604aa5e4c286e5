package import Core
import JSON
package import Ledger
package import Telemetry
import Threading

/// Deletes old data that is no longer needed.
package struct Forgetting: Sendable {
    private static let hour: Int64 = 3_600_000
    private let ledger: Ledger
    private let age: CalendarDuration
    private let machineClock: @Sendable () -> Instant
    private let log: Log
    private let rows: [OldRows: Counter]
    private let evidence, seen: Counter

    package init(
        _ ledger: Ledger, after age: CalendarDuration,
        machineClock: @escaping @Sendable () -> Instant, log: Log, metrics: Metrics
    ) {
        func counter(_ what: String) -> Counter {
            metrics.counter(
                "deed_forgotten_total", "What this instance removed because of its age.",
                labels: [("what", what)])
        }
        (self.ledger, self.age, self.machineClock, self.log) = (ledger, age, machineClock, log)
        rows = Dictionary(
            uniqueKeysWithValues: OldRows.allCases.map { ($0, counter($0.rawValue)) })
        (evidence, seen) = (counter("evidence"), counter("seen"))
    }

    package var all: [Job] {
        [
            Job("forgetting", .once(milliseconds: Forgetting.hour), urgency: .patient) {
                run throws(Fault) in try forget(run)
            },
            Job("seen", .everywhere(milliseconds: Forgetting.hour), urgency: .patient) { _ in
                tell("seen", ledger.forgetSeenLogs(before: end(of: machineClock())), seen)
                return .asScheduled
            },
        ]
    }

    private func end(of now: Instant) -> Instant { age.start(before: now) }

    /// Deletes old data, starting where the previous run was stopped. If two instances delete the
    /// same page at once, it is deleted only once.
    private func forget(_ run: Run) throws(Fault) -> Job.Next {
        // Some of the instants are from Deed's clock, and others from a machine's clock.
        let end = end(of: min(run.startedAt, machineClock()))
        for what in OldRows.allCases {
            var count: Int64 = 0
            defer { tell(what.rawValue, Int(count), rows[what]) }
            try run.forEachPage { () throws(Fault) in
                let page = try ledger.forget(what, before: end)
                count += page.count
                return !page.isLast
            }
        }
        try forgetEvidence(before: end, run)
        return .asScheduled
    }

    private func forgetEvidence(before end: Instant, _ run: Run) throws(Fault) {
        var count: Int64 = 0
        var place = try ledger.evidenceForgottenUntil()
        defer { tell("evidence", Int(count), evidence) }
        try run.forEachPage { () throws(Fault) in
            switch try ledger.forgetEvidence(after: place, before: end) {
            case .none, .busy: return false
            case .passed(let reached, let gone):
                count += gone
                place = reached
                try ledger.noteEvidenceForgotten(until: reached)
                return true
            }
        }
    }

    private func tell(_ what: String, _ count: Int, _ counter: Counter?) {
        if count == 0 { return }
        counter?.add(Int64(count))
        log.info("forgotten", ["what": .string(what), "count": .integer(count)])
    }
}
