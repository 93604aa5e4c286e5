import Core
import JSON
import Telemetry
import Threading

/// How far the machine's clock differs from the database's. Every connection and every commit measures it.
///
/// An instance must not record instants that are ahead of all other clocks. Otherwise, later events in the same shard
/// could not be recorded at their actual, earlier instants.
final class DatabaseClock: Sendable {
    /// The lead, in milliseconds, above which operators are warned.
    private static let warningLimit: Int64 = 2000
    /// The lead, in milliseconds, above which this instance stops writing.
    private static let limit: Int64 = 30_000
    private static let pauseBetweenWarnings: Int64 = 60_000

    private struct State {
        /// The minimum lead of the machine's clock; negative if the clock is behind.
        var lead: Int64 = 0
        /// When the last warning was logged, according to the monotonic clock.
        var warnedAt = Int64.min / 2
        var isRefusing = false
    }
    private let state = Monitor(State())
    private let machineClock: (@Sendable () -> Instant)?
    private let log: Log

    /// Compares nothing if there is no machine clock.
    init(_ machineClock: (@Sendable () -> Instant)?, log: Log, metrics: Metrics) {
        self.machineClock = machineClock
        self.log = log
        metrics.gauge(
            "deed_clock_lead_milliseconds",
            "How far the machine's clock is ahead of the database's."
        ) { [state] in state.change(wake: .none) { $0.lead } }
    }

    /// When the database was asked for its time, according to both of the machine's clocks.
    struct Beginning {
        fileprivate let instant: Instant
        fileprivate let time: Int64
    }

    /// Reads the machine's clocks. Call this before asking the database for its time.
    func begin() -> Beginning? {
        machineClock.map { Beginning(instant: $0(), time: monotonicMilliseconds()) }
    }

    /// Compares a reading of the database's clock that was taken some time after `beginning`. A
    /// slow answer does not make a clock look wrong.
    func compare(_ database: Instant, since beginning: Beginning?) {
        guard let beginning, let end = machineClock?() else { return }
        // If someone set the machine's clock forward in the meantime, the start is calculated from its current reading.
        let passed = monotonicMilliseconds() - beginning.time
        let start = max(beginning.instant, end.advanced(byMilliseconds: -passed))
        let lead =
            start > database
            ? start.milliseconds - database.milliseconds
            : min(0, end.milliseconds - database.milliseconds)
        let (isRefusing, wasRefusing, isWarned) = state.change(wake: .none) { state in
            let was = state.isRefusing
            state.lead = lead
            state.isRefusing = lead.magnitude > DatabaseClock.limit
            let time = monotonicMilliseconds()
            let isWarned =
                lead.magnitude > DatabaseClock.warningLimit
                && time - state.warnedAt > DatabaseClock.pauseBetweenWarnings
            if isWarned { state.warnedAt = time }
            return (state.isRefusing, was, isWarned)
        }
        if isRefusing != wasRefusing || isWarned { tell(lead, isRefusing) }
    }

    /// What prevents this instance from writing; `nil` if the clocks agree closely enough.
    var impediment: Impediment? {
        let (lead, isRefusing) = state.change(wake: .none) { ($0.lead, $0.isRefusing) }
        return isRefusing ? .clocksApart(by: lead) : nil
    }

    func requireNearness() throws(LedgerError) {
        if let impediment { throw .impeded(impediment) }
    }

    private func tell(_ lead: Int64, _ isRefusing: Bool) {
        let details: JSON = [
            "lead_milliseconds": .integer(lead),
            "reason": .string(Impediment.clocksApart(by: lead).sentence),
        ]
        if isRefusing {
            log.error("clock_apart", details)
        } else if lead.magnitude > DatabaseClock.warningLimit {
            log.warning("clock_apart", details)
        } else {
            log.info("clock_right", ["lead_milliseconds": .integer(lead)])
        }
    }
}

extension Impediment {
    fileprivate static func clocksApart(by lead: Int64) -> Impediment {
        let (seconds, thousandths) = lead.magnitude.quotientAndRemainder(dividingBy: 1000)
        let fraction = String(String(thousandths + 1000).dropFirst())
        return Impediment(
            .clockApart,
            "The clock of this machine is \(seconds).\(fraction) s "
                + "\(lead < 0 ? "behind" : "ahead of") PostgreSQL's. Correct the wrong clock, and keep "
                + "both right with NTP. Deed writes nothing while they are more than 30 s apart.")
    }
}
