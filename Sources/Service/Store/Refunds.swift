package import Core

/// A requested refund, with the information about the purchase from the log.
package struct RefundRequest: Hashable, Sendable {
    package let stream: Stream
    package let fact: RefundFact
    package let product: ProductID?
    package let consumption: Consumption

    /// The purchase's customer; `nil` if no customer has claimed it.
    package var customer: CustomerID? { stream.customer.isReserved ? nil : stream.customer }
}

/// Some customers' requested refunds that can still be answered.
package struct RefundRequestsAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let environment: Environment
    package let at: Instant
    package let requests: [RefundRequest]
    /// How many customers with a requested refund have unreadable events.
    package let unread: Int
    /// Where the next page starts; `nil` if this is the last page.
    package let next: RefundPlace?
}

/// The customers whose evidence names one store account.
package struct AccountAnswer: Hashable, Sendable {
    /// The maximum number of customers listed. An account usually has one or two customers, and a much larger number
    /// cannot belong to one owner.
    package static let limit = 100

    package let account: AppTransactionID
    package let environment: Environment
    package let customers: [CustomerID]
}

/// Lists refunds requested from the store, and the customers of store accounts.
package struct Refunds: Sendable {
    let ledger: any EventLog
    let accounts: any StoreAccounts
    let reading: any CustomerReading
    let now: @Sendable () -> Instant

    /// Returns the refund requests of up to `limit` customers, with the most urgent customers first.
    package func requests(
        of project: ProjectID, in environment: Environment, after last: RefundPlace?, limit: Int
    ) throws(CommandError) -> RefundRequestsAnswer {
        let catalog = try ledger.existing(project).catalog
        let now = now()
        let places = try obtain(
            accounts.refundRequests(
                of: project, environment, at: now, after: last, limit: limit + 1))
        let streams = places.prefix(limit).map {
            Stream(project: project, environment: environment, customer: $0.customer)
        }
        let snapshots = try obtain(streams.isEmpty ? [] : reading.customers(streams))
        var (requests, unread): ([RefundRequest], Int) = ([], 0)
        for (stream, snapshot) in zip(streams, snapshots) {
            switch snapshot {
            case .success(let snapshot):
                requests += snapshot.customer.refundRequests(of: stream, at: now, by: catalog)
            case .failure: unread += 1
            }
        }
        return RefundRequestsAnswer(
            project: project, environment: environment, at: now, requests: requests,
            unread: unread, next: places.count > limit ? places[limit - 1] : nil)
    }

    /// Returns the customers whose evidence names the given store account.
    package func holders(
        of account: AppTransactionID, of project: ProjectID, in environment: Environment
    ) throws(CommandError) -> AccountAnswer {
        _ = try ledger.existing(project)
        let customers = try obtain(
            accounts.customers(
                of: account, in: project, environment, limit: AccountAnswer.limit))
        return AccountAnswer(
            account: account, environment: environment,
            customers: customers.filter { !$0.isReserved })
    }
}

extension CustomerState {
    fileprivate func refundRequests(
        of stream: Stream, at now: Instant, by catalog: Catalog
    ) -> [RefundRequest] {
        let open = purchases.flatMap(\.refundsToReport).filter { $0.answerBy > now }
        return open.sorted { $0.answerBy < $1.answerBy }.map { fact in
            let known = purchase(fact.purchase)?.evidence(of: fact.transaction)
            return RefundRequest(
                stream: stream, fact: fact, product: known?.effective.product,
                consumption: stream.customer.isReserved
                    ? .unclaimed : consumption(of: fact, at: now, by: catalog))
        }
    }
}
