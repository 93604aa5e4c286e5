import Answers
import Service

extension Surface {
    /// What back ends, support staff and stores call.
    static func v1(
        _ ports: Ports, _ reads: CustomerReads, _ submissions: Submissions,
        _ operations: Operations
    ) -> Surface {
        let measures = NotificationMeasures(operations.metrics)
        return Surface(
            prefix: "/v1",
            routes: ReadRoutes(ports: ports, reads: reads).routes + QueryRoutes(reads).routes
                + CustomerRoutes(ports).routes + CatalogRoutes(ports).routes
                + SettingsRoutes(ports, apps: submissions.apps).routes
                + OrderRoutes(ports: ports, reads: reads).routes + BalanceRoutes(ports).routes
                + MoveRoutes(ports).routes + UnclaimedRoutes(ports).routes
                + RefundRoutes(ports).routes
                + SubmissionRoutes(submissions, measures: measures).routes
                + IntakeRoutes(submissions.intake).routes + ReconciliationRoutes(ports).routes
                + ClockRoutes(clock: operations.testClock).routes)
    }
}
