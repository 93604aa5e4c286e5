import Answers
import Feed
import Service

/// The dependencies of the `/v1` routes. A folder with routes for several subjects lists them in a file of its own,
/// such as `Customers/CustomerRoutes.swift`.
struct V1 {
    let useCases: UseCases
    let reads: CustomerReads
    let submissions: Submissions
    let feed: Feed
    let keys: KeyRing
    let operations: Operations

    var keeper: TermsKeeper { TermsKeeper(customers: useCases.customers) }

    fileprivate var routes: [Route] {
        let webhooks = useCases.webhooks.map { WebhookRoutes(webhooks: $0).routes } ?? []
        return readingRoutes
            + customerRoutes
            + ErasureRoutes(erasures: useCases.erasures, exports: useCases.exports).routes
            + projectRoutes
            + KeyRoutes(lists: useCases.keyLists).routes
            + TrailRoutes(trails: useCases.trails).routes
            + SubmissionRoutes(submissions, operations.metrics).routes
            + IntakeRoutes(intake: submissions.intake).routes
            + webhooks
            + ClockRoutes(clock: operations.testClock).routes
    }
}

extension Surface {
    /// Returns the surface for back ends, support staff and stores.
    static func v1(
        _ useCases: UseCases, _ reads: CustomerReads, _ submissions: Submissions, _ feed: Feed,
        _ keys: KeyRing, _ operations: Operations
    ) -> Surface {
        let parts = V1(
            useCases: useCases, reads: reads, submissions: submissions, feed: feed, keys: keys,
            operations: operations)
        return Surface(prefix: "/v1", routes: parts.routes)
    }
}
