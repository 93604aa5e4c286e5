package import Core
import Synchronization

/// Counts what a project's customers hold.
package protocol FigureReading: Sendable {
    func figures(
        of project: ProjectID, _ environment: Environment, at now: Instant, limit: Int
    ) throws(Fault) -> ProjectFigures
}

/// The figures of projects. If counting takes a long time or fails, the result is reused for a
/// while, so that counting takes at most a twentieth of the time.
package final class Figures: Sendable {
    /// The maximum number of items in each list.
    package static let listLimit = 1000
    /// How long counting has to take to be considered slow, in milliseconds.
    private static let slow: Int64 = 100

    private struct Part: Hashable {
        let project: ProjectID
        let environment: Environment
    }

    private struct Kept {
        let result: Result<ProjectFigures, Fault>
        /// The end of the result's validity, on the machine's clock.
        let until: Instant
    }

    private struct State {
        var kept: [Part: Kept] = [:]
        /// The parts that a caller is currently counting. Other callers get the last result, or none.
        var counting: Set<Part> = []

        /// The figures already known; `nil` if the caller has to count them.
        mutating func known(of part: Part, at now: Instant) -> Result<ProjectFigures, Fault>? {
            if let last = kept[part], now < last.until || counting.contains(part) {
                return last.result
            }
            return counting.insert(part).inserted ? nil : .failure(.busy)
        }

        mutating func note(
            _ result: Result<ProjectFigures, Fault>, of part: Part, until: Instant?
        ) {
            counting.remove(part)
            kept[part] = until.map { Kept(result: result, until: $0) }
        }
    }

    private let ledger: any EventLog
    private let reading: any FigureReading
    private let now: @Sendable () -> Instant
    private let machineClock: @Sendable () -> Instant
    private let state = Mutex(State())

    init(_ ports: Ports) {
        ledger = ports.ledger
        reading = ports.figures
        now = ports.now
        machineClock = ports.machineClock
    }

    package func figures(
        of project: ProjectID, in environment: Environment
    ) throws(CommandError) -> ProjectFigures {
        _ = try ledger.existing(project)
        let part = Part(project: project, environment: environment)
        let start = machineClock()
        if let known = state.withLock({ $0.known(of: part, at: start) }) {
            return try obtain(known.get())
        }
        let result = Result { () throws(Fault) in
            try reading.figures(of: project, environment, at: now(), limit: Figures.listLimit)
        }
        let end = machineClock()
        let time = max(end.milliseconds - start.milliseconds, 0)
        let isKept = time > Figures.slow || (try? result.get()) == nil
        let until = end.advanced(byMilliseconds: 20 * max(time, Figures.slow))
        state.withLock { $0.note(result, of: part, until: isKept ? until : nil) }
        return try obtain(result.get())
    }
}
