import Answers
import Feed
import Service

extension Surface {
    /// The calls of back ends, support staff and stores.
    static func v1(
        _ useCases: UseCases, _ reads: CustomerReads, _ submissions: Submissions, _ feed: Feed,
        _ keys: KeyRing, _ operations: Operations
    ) -> Surface {
        let webhooks = useCases.webhooks.map { WebhookRoutes(webhooks: $0).routes } ?? []
        let keeper = TermsKeeper(customers: useCases.customers)
        return Surface(
            prefix: "/v1",
            routes: EntitlementsRoutes(customers: useCases.customers, reads: reads).routes
                + ReadRoutes(customers: useCases.customers, reads: reads).routes
                + QueryRoutes(reads: reads).routes
                + FeedRoutes(feed: feed, keys: keys).routes
                + GrantListRoutes(lists: useCases.grantLists).routes
                + FindRoutes(finds: useCases.finds, orders: OrderNumbers(submissions)).routes
                + GrantRoutes(grants: useCases.grants, keeper: keeper).routes
                + CatalogRoutes(catalogs: useCases.catalogs).routes
                + SettingsRoutes(
                    projects: useCases.projects, apps: useCases.apps, ring: submissions.apps,
                    stores: submissions.intake.adapters.map(\.profile)
                ).routes
                + StatusRoutes(
                    needs: Needs(
                        useCases.ports, submissions.intake.adapters.map(\.profile),
                        isForTests: operations.testClock != nil)
                ).routes
                + OrderRoutes(
                    reading: useCases.customers.reading, orders: useCases.orders, reads: reads
                ).routes
                + BalanceRoutes(
                    balances: useCases.balances, reading: useCases.customers.reading, keeper: keeper
                ).routes
                + MoveRoutes(
                    moves: useCases.moves, blocks: useCases.blocks, keeper: keeper
                ).routes
                + UnclaimedRoutes(unclaimed: useCases.unclaimed, keeper: keeper).routes
                + ErasureRoutes(erasures: useCases.erasures, exports: useCases.exports).routes
                + RefundRoutes(refunds: useCases.refunds).routes
                + SubmissionRoutes(submissions, operations.metrics).routes
                + IntakeRoutes(intake: submissions.intake).routes
                + ReconciliationRoutes(reconciliations: useCases.reconciliations).routes
                + webhooks
                + ClockRoutes(clock: operations.testClock).routes)
    }
}
