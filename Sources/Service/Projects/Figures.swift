package import Core

/// Access to the figures that a job stores.
package protocol FigureReading: Sendable {
    func figures(_ scope: FigureScope) throws(Fault) -> ProjectFigures?
}

package struct Figures: Sendable {
    let ledger: any EventLog
    let reading: any FigureReading

    /// Returns the most recent figures; `nil` if there are none, as in a project's first hour.
    package func figures(
        of project: ProjectID, in environment: Environment
    ) throws(CommandError) -> ProjectFigures? {
        _ = try ledger.existing(project)
        return try obtain(reading.figures(FigureScope(project, environment)))
    }
}
