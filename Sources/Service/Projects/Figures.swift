package import Core

/// The figures that a job keeps.
package protocol FigureReading: Sendable {
    func figures(_ scope: FigureScope) throws(Fault) -> ProjectFigures?
}

/// The figures of projects.
package struct Figures: Sendable {
    let ledger: any EventLog
    let reading: any FigureReading

    /// The figures that were counted last; `nil` if none were, as in the first hour of a project.
    package func figures(
        of project: ProjectID, in environment: Environment
    ) throws(CommandError) -> ProjectFigures? {
        _ = try ledger.existing(project)
        return try obtain(reading.figures(FigureScope(project, environment)))
    }
}
