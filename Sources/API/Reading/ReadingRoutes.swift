import Service

extension V1 {
    var readingRoutes: [Route] {
        EntitlementsRoutes(customers: useCases.customers, reads: reads).routes
            + ReadRoutes(customers: useCases.customers, reads: reads).routes
            + QueryRoutes(reads: reads).routes
            + FeedRoutes(feed: feed, keys: keys).routes
    }
}
