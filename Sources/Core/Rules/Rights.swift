extension CustomerState {
    /// Returns all of the customer's rights, in the order of the rules: purchases by id, fixed terms by product,
    /// original versions, grants, and grants that wait for all of these.
    func rights(by catalog: Catalog) -> [Right] {
        var rights: [Right] = []
        let count = purchases.indices.reduce(0) { $0 + purchases[$1].transactions.count }
        rights.reserveCapacity(count + grants.count)
        var terms: [Int: [FixedTerms.Term]] = [:]
        for index in purchases.indices {
            purchases[index].addRights(at: index, by: catalog, to: &rights, terms: &terms)
        }
        for (product, terms) in terms.sorted(by: { $0.key < $1.key }) {
            rights += catalog.fixedTerms(of: product, terms)?.rights ?? []
        }
        rights = blocking(rights)
        addOriginalVersionRights(by: catalog, to: &rights)
        var isAnyWaiting = false
        for index in grants.indices {
            if grants[index].waits {
                isAnyWaiting = true
            } else {
                let start = grants[index].given.start
                rights.append(grants[index].right(of: .grant(index), from: start))
            }
        }
        return isAnyWaiting ? rights + waitingRights(behind: rights, by: catalog) : rights
    }

    private func addOriginalVersionRights(by catalog: Catalog, to rights: inout [Right]) {
        for (index, app) in apps.enumerated() where app.environment == .production {
            for (rule, terms) in catalog.originalVersionRules.enumerated() where terms.covers(app) {
                let interval = Interval(start: app.installed, end: nil)
                rights.append(Right(.originalVersion, of: .app(index, rule: rule), interval))
            }
        }
    }
}

extension Purchase {
    fileprivate func addRights(
        at place: Int, by catalog: Catalog, to rights: inout [Right],
        terms: inout [Int: [FixedTerms.Term]]
    ) {
        let known = products.map { catalog.place(of: ProductKey(store: id.store, id: $0)) }
        if isRead { return addRead(at: place, known, by: catalog, to: &rights, terms: &terms) }
        switch kind(by: catalog) {
        case .autoRenewable:
            addPeriods(at: place, known, by: catalog, to: &rights)
        case .nonConsumable:
            guard let whole, let firstPurchased else { return }
            let items = whole.hasItems ? wholeFact?.items ?? [] : []
            forEachSold(by: whole, items, known, catalog) { product, revokedAt in
                let source = Right.Source.transaction(
                    transactions.endIndex - 1, purchase: place, product: product)
                var right = whole.lifetime(since: firstPurchased, of: source)
                if let revokedAt { right.cut(at: revokedAt, by: .revocation) }
                rights.append(right)
            }
        case .nonRenewing:
            for index in transactions.indices {
                let transaction = transactions[index]
                forEachSold(by: transaction, items(of: index), known, catalog) {
                    product, revokedAt in
                    guard let product else { return }
                    terms[product, default: []].append(
                        FixedTerms.Term(
                            source: .transaction(index, purchase: place, product: product),
                            bought: transaction.start,
                            revokedAt: [transaction.revokedAt, revokedAt].compactMap(\.self).min()))
                }
            }
        case .consumable, nil:
            break
        }
    }

    private func addPeriods(
        at place: Int, _ known: [Int?], by catalog: Catalog, to rights: inout [Right]
    ) {
        let (transactions, graces) = (transactions, graces)
        for index in transactions.indices {
            forEachSold(by: transactions[index], items(of: index), known, catalog) {
                product, revokedAt in
                let source = Right.Source.transaction(index, purchase: place, product: product)
                var period = transactions.period(index, of: source)
                if let revokedAt { period.cut(at: revokedAt, by: .revocation) }
                rights.append(period)
                guard !graces.isEmpty,
                    var grace = transactions.grace(after: index, of: source, among: graces)
                else { return }
                if let revokedAt { grace.cut(at: revokedAt, by: .revocation) }
                if !grace.interval.isEmpty { rights.append(grace) }
            }
        }
    }

    /// Calls `body` for each product that a transaction sold: its own product and the products that it
    /// represents. The arguments are the index in the catalog and the instant at which the product
    /// itself was revoked. A family member's purchase counts unless the product excludes it.
    private func forEachSold(
        by transaction: Transaction, _ items: [SoldItem], _ known: [Int?], _ catalog: Catalog,
        _ body: (_ product: Int?, _ revokedAt: Instant?) -> Void
    ) {
        func counts(_ product: Int?) -> Bool {
            guard transaction.isFamilyShared, let product else { return true }
            return catalog.products[product].isFamilyShared
        }
        let product = known[transaction.product]
        if counts(product) { body(product, nil) }
        for item in items {
            let product = catalog.place(of: ProductKey(store: id.store, id: item.product))
            if counts(product) { body(product, item.revokedAt) }
        }
    }

    /// Returns the purchase's kind according to its evidence, or else according to the catalog.
    package func kind(by catalog: Catalog) -> ProductKind? {
        if let kind = statedKind { return kind }
        for product in products {
            if let known = catalog.product(ProductKey(store: id.store, id: product)) {
                return known.kind
            }
        }
        // The only products with an expiry that stores sell are auto-renewable.
        return transactions.contains { $0.expires != nil } ? .autoRenewable : nil
    }
}

extension Catalog {
    /// Returns the rule for several purchases of one non-renewing product. Terms arrive sorted by id, but the rule
    /// needs them in order of purchase, with the id only for ties.
    fileprivate func fixedTerms(of product: Int, _ terms: [FixedTerms.Term]) -> FixedTerms? {
        guard case .nonRenewing(let duration, let stacking) = products[product].terms
        else { return nil }
        let inOrder = terms.enumerated().sorted {
            ($0.element.bought, $0.offset) < ($1.element.bought, $1.offset)
        }
        return FixedTerms(duration: duration, stacking: stacking, terms: inOrder.map(\.element))
    }
}
