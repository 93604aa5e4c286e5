extension CustomerState {
    /// The approximate amount of memory that the state takes, in bytes.
    package var weight: Int {
        let parts = parts
        let bought = parts.purchases.reduce(0) { $0 + $1.weight }
        let had =
            parts.grants.count * weigh(Grant.self) + parts.orders.count * weigh(Order.self)
            + parts.departures.count * weigh(PurchaseDetached.self)
            + parts.apps.count * weigh(AppFact.self)
            + parts.consents.count * weigh(ConsentFact.self)
        // Dictionary and set entries take about twice the size of their contents.
        let named =
            2 * parts.balances.credits.count * weigh(Credit.Key.self)
            + 2 * parts.endedAccess.count * weigh(EndedAccess.self)
            + (parts.tokens.count + parts.forgotten.count + parts.accountCustomers.count)
            * weigh(CustomerID.self)
        let came = parts.joined.reduce(0) { sum, one in
            let names = one.purchases.count + one.grants.count + one.orders.count
            return sum + weigh(JoinedCustomer.self) + 2 * names * weigh(PurchaseID.self)
        }
        let noted = parts.notes.reduce(0) { $0 + weigh(Note.self) + $1.added.text.text.utf8.count }
        return 500 + bought + had + noted + named + came
    }
}

extension Catalog {
    /// The approximate amount of memory that the catalog takes, in bytes.
    package var weight: Int {
        let titles = entitlementTitles.count + currencyTitles.count
        return 500 + products.count * (weigh(Product.self) + weigh(ProductKey.self))
            + 2 * titles * weigh(EntitlementID.self)
            + originalVersionRules.count * weigh(OriginalVersionRule.self)
    }
}

extension ProjectState {
    /// The approximate amount of memory that the state takes, in bytes.
    package var weight: Int {
        2000 * Int(version) + editions.reduce(0) { $0 + ($1.catalog?.weight ?? 0) }
    }
}

extension Purchase {
    fileprivate var weight: Int {
        let period = weigh(TransactionEvidence.self) + MemoryLayout<Transaction>.stride
        return weigh(Purchase.self) + evidence.count * period
            + renewals.count * weigh(RenewalFact.self)
            // A reading lists its items and covers a separate period.
            + readings.count * 4 * weigh(TransactionFact.self)
            + refundNews.count * weigh(RefundFact.self)
            + blocks.count * weigh(Block.self)
    }
}

/// Returns the number of bytes that one value takes in a list, including its strings.
private func weigh<Value>(_: Value.Type) -> Int { MemoryLayout<Value>.stride + texts }

/// The number of bytes taken by one value's longer strings: a few of about fifty bytes each.
private let texts = 150
