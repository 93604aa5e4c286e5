package import Core
import Synchronization

/// Counts what a project's customers have.
package protocol FigureReading: Sendable {
    func figures(
        of project: ProjectID, _ environment: Environment, at now: Instant, limit: Int
    ) throws(Fault) -> ProjectFigures
}

/// The figures of projects. Where counting takes long or fails, the answer is given again for a while,
/// so that counting takes no more than a twentieth of the time.
package final class Figures: Sendable {
    /// How many items each list has at most.
    package static let listLimit = 1000
    /// From how many milliseconds on counting takes long.
    private static let slow: Int64 = 100

    private struct Part: Hashable {
        let project: ProjectID
        let environment: Environment
    }

    private struct Kept {
        let result: Result<ProjectFigures, Fault>
        /// By the machine's clock.
        let until: Instant
    }

    private struct State {
        var kept: [Part: Kept] = [:]
        /// One caller counts; the others get the last answer, or none.
        var counting: Set<Part> = []

        /// What is known; `nil` if the caller has to count.
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
