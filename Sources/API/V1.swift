import Answers
import Service

extension Surface {
    /// What back ends, support staff and stores call.
    static func v1(
        _ ports: Ports, _ reads: CustomerReads, _ submissions: Submissions,
        _ operations: Operations
    ) -> Surface {
        Surface(
            prefix: "/v1",
            routes: EntitlementsRoutes(ports: ports, reads: reads).routes
                + ReadRoutes(ports: ports, reads: reads).routes + QueryRoutes(reads: reads).routes
                + CustomerRoutes(ports: ports).routes + CatalogRoutes(ports: ports).routes
                + SettingsRoutes(
                    ports: ports, apps: submissions.apps,
                    stores: submissions.intake.adapters.map(\.profile)
                ).routes
                + OrderRoutes(ports: ports, reads: reads).routes
                + BalanceRoutes(ports: ports).routes
                + MoveRoutes(ports: ports).routes + UnclaimedRoutes(ports: ports).routes
                + RefundRoutes(ports: ports).routes
                + SubmissionRoutes(submissions, operations.metrics).routes
                + IntakeRoutes(intake: submissions.intake).routes
                + ReconciliationRoutes(ports: ports).routes
                + ClockRoutes(clock: operations.testClock).routes)
    }
}
