package import Core
import JSON
package import Ledger
package import Telemetry
import Threading

/// Deletes old data that is no longer needed.
package struct Forgetting: Sendable {
    private static let hour: Int64 = 3_600_000
    private let ledger: Ledger
    /// The age at which data without its own lifetime is deleted; `nil` to keep such data.
    private let age: CalendarDuration?
    private let machineClock: @Sendable () -> Instant
    private let log: Log
    private let rows: [OldRows: Counter]
    private let evidence, seen: Counter

    package init(
        _ ledger: Ledger, after age: CalendarDuration?,
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
        let forgetting = Job(
            "forgetting", .once(milliseconds: Forgetting.hour), urgency: .patient
        ) { run throws(Fault) in try forget(run) }
        guard let age else { return [forgetting] }
        return [
            forgetting,
            Job("seen", .everywhere(milliseconds: Forgetting.hour), urgency: .patient) { _ in
                tell("seen", ledger.forgetSeenLogs(before: age.start(before: machineClock())), seen)
                return .asScheduled
            },
        ]
    }

    /// Deletes old data, starting where the previous run was stopped. If two instances delete the
    /// same page at once, it is deleted only once.
    private func forget(_ run: Run) throws(Fault) -> Job.Next {
        // Some of the instants are from Deed's clock, and others from a machine's clock.
        let now = min(run.startedAt, machineClock())
        let end = age?.start(before: now)
        for what in OldRows.allCases {
            let ownEnd = what.lifetime.map { now.advanced(byMilliseconds: -$0) }
            guard let end = ownEnd ?? end else { continue }
            var count: Int64 = 0
            defer { tell(what.rawValue, Int(count), rows[what]) }
            try run.forEachPage { () throws(Fault) in
                let page = try ledger.forget(what, before: end)
                count += page.count
                return !page.isLast
            }
        }
        if let end { try forgetEvidence(before: end, run) }
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
