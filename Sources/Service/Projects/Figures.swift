package import Core
import Synchronization

/// Counts what a project's customers have.
package protocol FigureReading: Sendable {
    func figures(
        of project: ProjectID, _ environment: Environment, at now: Instant, limit: Int
    ) throws(Fault) -> ProjectFigures
}

/// The figures of projects. Where counting takes long, an answer is given again for a while, so that
/// counting takes no more than a twentieth of the time.
package final class Figures: Sendable {
    /// From how many milliseconds on counting takes long.
    private static let slow: Int64 = 100

    private struct Part: Hashable {
        let project: ProjectID
        let environment: Environment
        let limit: Int
    }

    private struct Kept {
        let figures: ProjectFigures
        /// By the machine's clock.
        let until: Instant
    }

    private let ledger: any EventLog
    private let reading: any FigureReading
    private let now: @Sendable () -> Instant
    private let machineClock: @Sendable () -> Instant
    private let kept = Mutex<[Part: Kept]>([:])

    init(_ ports: Ports) {
        ledger = ports.ledger
        reading = ports.figures
        now = ports.now
        machineClock = ports.machineClock
    }

    /// Each list has up to `limit` items.
    package func figures(
        of project: ProjectID, in environment: Environment, limit: Int
    ) throws(CommandError) -> ProjectFigures {
        _ = try ledger.existing(project)
        let part = Part(project: project, environment: environment, limit: limit)
        let start = machineClock()
        if let kept = kept.withLock({ $0[part] }), start < kept.until { return kept.figures }
        let figures = try obtain(
            reading.figures(of: project, environment, at: now(), limit: limit))
        let end = machineClock()
        let time = end.milliseconds - start.milliseconds
        if time > Figures.slow {
            let until = end.advanced(byMilliseconds: 20 * time)
            kept.withLock { $0[part] = Kept(figures: figures, until: until) }
        }
        return figures
    }
}
