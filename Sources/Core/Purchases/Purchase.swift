/// Everything that belongs to one original transaction: its transactions, and the known facts about
/// their renewal.
package struct Purchase: Hashable, Sendable {
    package private(set) var id: PurchaseID
    /// The statements about each transaction, sorted by the transaction's start and then by its id.
    package private(set) var evidence: [TransactionEvidence] = []
    /// The combined statement about each transaction, in the same order.
    private(set) var transactions: [Transaction] = []
    /// The ids of the transactions, in the same order.
    private(set) var transactionIDs: [TransactionID] = []
    /// The products of its transactions, sorted and without duplicates.
    package private(set) var products: [ProductID] = []
    /// The renewal facts that no later fact has made obsolete. The prevailing one comes last.
    package private(set) var renewals: [RenewalFact] = []
    /// The news about refunds of the purchase, in chronological order.
    package private(set) var refundNews: [RefundFact] = []
    /// Deed's reports to the store about requested refunds, in the order of the requests.
    package private(set) var reports: [RefundReport] = []
    /// Support's blocks on the purchase, in chronological order. The last one may still be in effect.
    package private(set) var blocks: [Block] = []
    /// How the purchase reached its holder, if it came from another customer.
    package internal(set) var arrival: Arrival?
    /// The account tokens in its facts, including outweighed ones.
    package private(set) var carried = CarriedTokens()
    /// The store's answers about the purchase, in chronological order. Only some stores state the
    /// current state of their purchases. The transactions are then derived from these readings.
    package private(set) var readings: [TransactionFact] = []
    /// The periods in the readings, one for each transaction, in the same order.
    private(set) var periods: [ReadPeriod] = []

    package init(_ id: PurchaseID) {
        self.id = id
    }

    /// Creates a purchase from these parts.
    package init(of parts: PurchaseParts) {
        id = parts.id
        (renewals, refundNews, reports) = (parts.renewals, parts.refundNews, parts.reports)
        (blocks, arrival, readings) = (parts.blocks, parts.arrival, parts.readings)
        for token in parts.carried { carried.join(token) }
        if isRead { periods = ReadingCourse(readings, of: id.original).periods }
        rebuild(from: parts.evidence.isEmpty ? periodEvidence : parts.evidence)
        for index in transactions.indices
        where transactions[index].announcedAt != parts.announced[index] {
            transactions[index] = Transaction(
                evidence[index].effective, product: transactions[index].product,
                announcedAt: parts.announced[index], isRead: isRead)
        }
    }

    package var parts: PurchaseParts {
        var parts = PurchaseParts(id)
        (parts.renewals, parts.refundNews, parts.reports) = (renewals, refundNews, reports)
        (parts.blocks, parts.arrival, parts.readings) = (blocks, arrival, readings)
        parts.carried = carried.all
        parts.evidence = evidence == periodEvidence ? [] : evidence
        for (index, transaction) in transactions.enumerated() {
            parts.announced[index] = transaction.announcedAt
        }
        return parts
    }

    package var tokens: [AccountToken] { carried.all.map(\.token) }

    /// Evidence for the transactions, derived from the readings.
    private var periodEvidence: [TransactionEvidence] {
        periods.map { TransactionEvidence($0.fact) }
    }

    /// The prevailing renewal fact.
    package var renewal: RenewalFact? { renewals.last }

    /// The purchase's kind according to its evidence; `nil` if only the catalog can tell.
    var statedKind: ProductKind? {
        for index in transactions.indices {
            if let kind = transactions[index].kind { return kind }
        }
        return nil
    }

    /// The last transaction that has begun. It determines the product, the dates and the state of
    /// the whole purchase. A renewal never began if an upgrade replaced it after it was charged.
    package var newest: TransactionFact? { newestPlace.map { evidence[$0].effective } }

    /// The index of the last transaction that has begun.
    var newestPlace: Int? {
        if isRead { return mainPeriod }
        return transactions.indices.last(where: transactions.begins) ?? transactions.indices.last
    }

    /// Returns whether another product replaced the transaction's period, even if the store did not flag the
    /// replacement.
    package func isReplaced(at index: Int) -> Bool {
        transactions[index].isUpgraded || transactions.successor(of: index) != nil
    }

    /// Returns whether a known period replaced the transaction's period.
    func isReplaced(_ id: TransactionID) -> Bool {
        index(of: id).flatMap { transactions.successor(of: $0) } != nil
    }

    /// Returns whether this transaction replaces another period when it is recorded, or is itself replaced.
    func isUpgrade(_ fact: TransactionFact) -> Bool {
        let isOneProduct = products == [fact.product]
        if isOneProduct, !fact.isUpgraded, !transactions.contains(where: \.isUpgraded) {
            return false
        }
        var joined = self
        joined.join(fact)
        guard let place = joined.index(of: fact.transaction) else { return false }
        return joined.transactions.indices.contains { former in
            guard let next = joined.transactions.successor(of: former) else { return false }
            return next == place || former == place
        }
    }

    /// Returns all statements about the transaction.
    package func evidence(of id: TransactionID) -> TransactionEvidence? {
        index(of: id).map { evidence[$0] }
    }

    func kind(of id: TransactionID, by catalog: Catalog) -> ProductKind? {
        index(of: id).flatMap { kind(of: $0, by: catalog) } ?? kind(by: catalog)
    }

    private func index(of id: TransactionID) -> Int? {
        let tail = id.tail
        // News is usually about the newest transaction.
        return transactions.indices.last {
            transactions[$0].tail == tail && transactionIDs[$0] == id
        }
    }

    mutating func join(_ fact: TransactionFact) {
        CarriedToken(fact).map { carried.join($0) }
        if fact.reading != nil { return join([fact], of: nil) }
        guard let index = index(of: fact.transaction) else {
            insert(TransactionEvidence(fact), effective: fact)
            return
        }
        var joined = evidence[index]
        joined.join(fact)
        if joined == evidence[index] { return }
        evidence.remove(at: index)
        transactionIDs.remove(at: index)
        let former = transactions.remove(at: index)
        if products[former.product] == joined.effective.product {
            insert(joined, effective: joined.effective)
        } else {
            rebuild(from: evidence + [joined])
        }
    }

    mutating func join(_ fact: RenewalFact) {
        CarriedToken(fact).map { carried.join($0) }
        let place = renewals.lastIndex { !$0.outweighs(fact) }.map { $0 + 1 } ?? 0
        let isNewest = place == renewals.endIndex
        if place > 0, renewals[place - 1] == fact { return }
        if !isNewest, !fact.countsForGood { return }
        renewals.insert(fact, at: place)
        if isNewest, place > 0, !renewals[place - 1].countsForGood {
            renewals.remove(at: place - 1)
        }
        guard fact.announcesChange else { return }
        for index in transactions.indices where fact.signedAt < transactions[index].start {
            transactions[index] = transaction(
                evidence[index].effective, product: transactions[index].product)
        }
    }

    mutating func join(_ fact: RefundFact) { refundNews.join(fact) }

    /// Adds readings of this purchase, and everything known about the same purchase under another id.
    mutating func join(_ facts: [TransactionFact], of other: Purchase?) {
        if let other { take(other) }
        let all = readings.adding(facts + (other?.readings ?? []))
        let name = all.chainName ?? id.original
        if all == readings, name == id.original { return }
        (readings, id) = (all, PurchaseID(store: id.store, original: name))
        periods = ReadingCourse(all, of: name).periods
        rebuild(from: periodEvidence)
        let main = mainPeriod.flatMap { periods[$0].renewal }
        renewals = [main ?? periods.last(where: \.isLast)?.renewal].compactMap(\.self)
    }

    private mutating func take(_ other: Purchase) {
        for carried in other.carried.all { self.carried.join(carried) }
        for fact in other.refundNews { refundNews.join(fact) }
        add(other.reports)
        add(other.blocks)
        arrival = [arrival, other.arrival].compactMap(\.self).max { $0.at < $1.at }
    }

    mutating func join(_ token: CarriedToken) { carried.join(token) }

    mutating func apply(_ prepared: RefundReportPrepared) {
        reports.change(prepared.request) { $0.content = prepared.report }
    }

    mutating func end(_ request: NewsID, _ end: RefundReport.End) {
        reports.change(request) { $0.end = end }
    }

    mutating func block(_ change: BlockChanged) {
        blocks.append(Block(since: change.at, reason: change.reason, ticket: change.ticket))
    }

    mutating func unblock(_ change: BlockChanged) {
        if let last = blocks.indices.last { blocks[last].until = change.at }
    }

    mutating func add(_ others: [Block]) { blocks = blocks.joined(with: others) }

    /// Adds the reports that came from another holder together with the purchase.
    mutating func add(_ others: [RefundReport]) {
        for other in others { reports.change(other.request) { $0 = other } }
    }

    private mutating func insert(_ joined: TransactionEvidence, effective fact: TransactionFact) {
        let transaction = transaction(fact, product: index(of: fact.product))
        let place = place(for: fact)
        transactions.insert(transaction, at: place)
        transactionIDs.insert(fact.transaction, at: place)
        evidence.insert(joined, at: place)
    }

    private func transaction(_ fact: TransactionFact, product: Int) -> Transaction {
        // For a purchase with readings, only the readings show what a period replaced.
        if isRead { return Transaction(fact, product: product, isRead: true) }
        let announced = renewals.last {
            $0.announcesChange && $0.nextProduct == fact.product && $0.signedAt < fact.purchased
        }
        return Transaction(fact, product: product, announcedAt: announced?.signedAt)
    }

    private func place(for fact: TransactionFact) -> Int {
        let before = transactions.indices.last { index in
            let start = transactions[index].start
            return start == fact.purchased
                ? transactionIDs[index] < fact.transaction : start < fact.purchased
        }
        return before.map { $0 + 1 } ?? 0
    }

    private mutating func rebuild(from all: [TransactionEvidence]) {
        (evidence, transactions, transactionIDs, products) = ([], [], [], [])
        for joined in all { insert(joined, effective: joined.effective) }
    }

    private mutating func index(of product: ProductID) -> Int {
        if let index = products.firstIndex(of: product) { return index }
        let place = products.firstIndex { product < $0 } ?? products.endIndex
        products.insert(product, at: place)
        // The indexes of later products have shifted by one. The order of the list does not depend on which product
        // came first.
        for index in transactions.indices where transactions[index].product >= place {
            transactions[index] = transaction(
                evidence[index].effective, product: transactions[index].product + 1)
        }
        return place
    }
}

/// How a purchase moved from one holder to the next.
package struct Arrival: Hashable, Sendable {
    package let from: CustomerID
    package let cause: MoveCause
    package let at: Instant

    package init(from: CustomerID, cause: MoveCause, at: Instant) {
        self.from = from
        self.cause = cause
        self.at = at
    }
}
