import Service

extension V1 {
    var customerRoutes: [Route] {
        GrantRoutes(grants: useCases.grants, keeper: keeper).routes
            + GrantListRoutes(lists: useCases.grantLists).routes
            + NoteRoutes(notes: useCases.notes, reading: useCases.customers.reading).routes
            + BalanceRoutes(
                balances: useCases.balances, reading: useCases.customers.reading, keeper: keeper
            ).routes
            + OrderRoutes(
                reading: useCases.customers.reading, orders: useCases.orders, reads: reads
            ).routes
            + MoveRoutes(moves: useCases.moves, blocks: useCases.blocks, keeper: keeper).routes
            + MergeRoutes(merges: useCases.merges, keeper: keeper).routes
            + UnclaimedRoutes(unclaimed: useCases.unclaimed, keeper: keeper).routes
            + RefundRoutes(refunds: useCases.refunds).routes
            + FindRoutes(
                finds: useCases.finds, orders: OrderNumbers(submissions, finds: useCases.finds),
                notes: keys.refusals
            ).routes
    }
}
