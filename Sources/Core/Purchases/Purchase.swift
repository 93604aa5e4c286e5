/// Everything under one original transaction: its transactions and what is known of its renewal.
package struct Purchase: Hashable, Sendable {
    package let id: PurchaseID
    /// What was stated about each transaction, in order of start.
    package private(set) var evidence: [TransactionEvidence] = []
    /// What each comes to, in the same order.
    private(set) var transactions: [Transaction] = []
    /// The products of its transactions, in order, each once.
    package private(set) var products: [ProductID] = []
    /// The renewal fact that outweighs the others.
    package private(set) var renewal: RenewalFact?
    /// Every grace that a renewal fact named, in order: recovery does not unmake it.
    package private(set) var graces: [Grace] = []
    /// How it came to its holder, when it came from another one.
    package internal(set) var arrival: Arrival?

    init(_ id: PurchaseID) {
        self.id = id
    }

    /// What the purchase's evidence says it is; `nil` when only the catalog can tell.
    var statedKind: ProductKind? {
        for index in transactions.indices {
            if let kind = transactions[index].kind { return kind }
        }
        return nil
    }

    /// What was stated about that transaction.
    package func evidence(of id: TransactionID) -> TransactionEvidence? {
        index(of: id).map { evidence[$0] }
    }

    private func index(of id: TransactionID) -> Int? {
        // News is mostly about the newest transaction.
        transactions.indices.last { transactions[$0].id == id }
    }

    mutating func join(_ fact: TransactionFact) {
        guard let index = index(of: fact.transaction) else {
            insert(TransactionEvidence(fact))
            return
        }
        var joined = evidence[index]
        joined.join(fact)
        if joined == evidence[index] { return }
        evidence.remove(at: index)
        let former = transactions.remove(at: index)
        if products[former.product] == joined.effective.product {
            insert(joined)
        } else {
            rebuild(from: evidence + [joined])
        }
    }

    mutating func join(_ fact: RenewalFact) {
        if let until = fact.graceUntil { join(Grace(signedAt: fact.signedAt, until: until)) }
        if renewal.map(fact.outweighs) ?? true { renewal = fact }
    }

    mutating func join(_ grace: Grace) {
        let place = graces.firstIndex { !$0.precedes(grace) } ?? graces.endIndex
        if place < graces.endIndex, graces[place] == grace { return }
        graces.insert(grace, at: place)
    }

    private mutating func insert(_ joined: TransactionEvidence) {
        let fact = joined.effective
        let transaction = Transaction(fact, product: index(of: fact.product))
        let place = transactions.lastIndex { $0.precedes(transaction) }.map { $0 + 1 } ?? 0
        transactions.insert(transaction, at: place)
        evidence.insert(joined, at: place)
    }

    private mutating func rebuild(from all: [TransactionEvidence]) {
        (evidence, transactions, products) = ([], [], [])
        for joined in all { insert(joined) }
    }

    private mutating func index(of product: ProductID) -> Int {
        if let index = products.firstIndex(of: product) { return index }
        let place = products.firstIndex { product < $0 } ?? products.endIndex
        products.insert(product, at: place)
        // Those behind moved on; the list has the same order whoever came first.
        for index in transactions.indices where transactions[index].product >= place {
            transactions[index] = Transaction(
                evidence[index].effective, product: transactions[index].product + 1)
        }
        return place
    }
}

/// A promise of the store: access goes on until then although a payment failed.
package struct Grace: Hashable, Sendable {
    package let signedAt: Instant
    package let until: Instant

    package init(signedAt: Instant, until: Instant) {
        self.signedAt = signedAt
        self.until = until
    }

    func precedes(_ other: Grace) -> Bool {
        (signedAt, until) < (other.signedAt, other.until)
    }
}

/// How a purchase came from one holder to the next.
package struct Arrival: Hashable, Sendable {
    package let from: CustomerID
    package let cause: MoveCause
    package let at: Instant
}
