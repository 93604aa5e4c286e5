package import Core

/// The result of a search.
package struct FindAnswer: Sendable {
    package let words: FindWords
    /// The matches, with exact ones first.
    package let matches: [FoundMatch]
    /// Whether there are more matches.
    package let hasMore: Bool
    /// The answer of each app's store; `nil` if no store was asked.
    package var told: [StoreTold]?

    init(_ words: FindWords, _ matches: [FoundMatch], hasMore: Bool, told: [StoreTold]? = nil) {
        self.words = words
        self.matches = matches
        self.hasMore = hasMore
        self.told = told
    }

    /// Returns this answer with the matches from the stores in front.
    func behind(_ others: [FoundMatch], told: [StoreTold], limit: Int) -> FindAnswer {
        let all = others + matches
        return FindAnswer(
            words, Array(all.prefix(limit)), hasMore: hasMore || all.count > limit, told: told)
    }
}

/// A name that leads to a customer, or to a purchase that has not been claimed.
package struct FoundMatch: Sendable {
    package let lead: FoundLead
    /// `nil` if only the name was needed, or if the customer's events are unreadable.
    fileprivate let state: CustomerState?

    /// `nil` if the purchase has not been claimed.
    package var customer: CustomerID? { lead.customer.isReserved ? nil : lead.customer }

    package var product: ProductID? { state.flatMap(lead.product) }

    fileprivate var stands: Bool {
        state.map { !$0.isErased && lead.isSupported(by: $0) } ?? true
    }
}

/// A purchase's holder, product and state.
package struct PurchaseStanding: Hashable, Sendable {
    /// `nil` if the purchase has not been claimed.
    package let holder: CustomerID?
    package let product: ProductID
    /// The state of a subscription; `bought` or `revoked` for other purchases.
    package let state: String

    fileprivate init?(_ match: FoundMatch, at now: Instant, _ catalog: Catalog) {
        guard let id = match.lead.purchase, let state = match.state,
            let purchase = state.purchase(id), let newest = purchase.newest
        else { return nil }
        holder = match.customer
        product = newest.product
        let status = state.subscriptions(at: now, catalog: catalog).first { $0.purchase == id }
        let isOver = newest.revocation != nil || purchase.block != nil
        self.state = status?.state.rawValue ?? (isOver ? "revoked" : "bought")
    }
}

/// Finds customers by the names of objects that belong to them.
package struct Finds: Sendable {
    package static let limits: ClosedRange<Int64> = 1...20

    private let ledger: any EventLog
    private let finding: any Finding
    private let reading: any CustomerReading
    private let now: @Sendable () -> Instant

    package init(_ ports: Ports) {
        ledger = ports.ledger
        finding = ports.finding
        reading = ports.reading
        now = ports.now
    }

    /// Returns the matches in one environment, or in both.
    package func find(
        _ words: FindWords, of project: ProjectID, in environment: Environment?, limit: Int
    ) throws(CommandError) -> FindAnswer {
        _ = try ledger.existing(project)
        try obtain(reading.requireCertainty())
        let found = try look(for: words, project, environment, limit: limit)
        return FindAnswer(
            words, Array(found.matches.prefix(limit)),
            hasMore: found.isCutOff || found.matches.count > limit)
    }

    /// Returns the purchase's current standing for each holder. Several holders are possible only if the purchase's id
    /// occurs in several apps.
    package func standings(
        of purchase: PurchaseID, in project: ProjectID, _ environment: Environment
    ) throws(CommandError) -> [PurchaseStanding] {
        let catalog = try ledger.existing(project).catalog
        return try matches(of: purchase, project, environment).compactMap {
            PurchaseStanding($0, at: now(), catalog)
        }
    }

    /// Returns the purchases that the store knows under an order number.
    func matches(
        of purchases: [PurchaseID], under number: String, in project: ProjectID,
        _ environment: Environment
    ) throws(CommandError) -> [FoundMatch] {
        var all: [FoundMatch] = []
        for purchase in purchases {
            for match in try matches(of: purchase, project, environment) {
                var lead = FoundLead(
                    .storeOrder, number, in: environment, of: match.lead.customer)
                lead.purchase = purchase
                all.append(FoundMatch(lead: lead, state: match.state))
            }
        }
        return all
    }

    private func matches(
        of purchase: PurchaseID, _ project: ProjectID, _ environment: Environment
    ) throws(CommandError) -> [FoundMatch] {
        guard let words = try? FindWords(purchase.description) else { return [] }
        let found = try look(
            for: words, project, environment, limit: Int(Finds.limits.upperBound))
        return found.matches.filter { $0.lead.purchase == purchase && $0.lead.kind == .purchase }
    }

    /// Returns up to one match more than `limit`. Table rows lead to customers, and the customers' events decide
    /// what matches. If an object moved between the two reads, the search runs again.
    private func look(
        for words: FindWords, _ project: ProjectID, _ environment: Environment?, limit: Int
    ) throws(CommandError) -> (matches: [FoundMatch], isCutOff: Bool) {
        let environments = environment.map { [$0] } ?? [.production, .sandbox]
        for _ in 0..<Finds.attempts {
            let leads = try obtain(finding.leads(words, in: project, environments, limit: limit))
            let wanted = leads.all.reduce(into: [FoundLead]()) { wanted, lead in
                let isOfNothing = lead.customer.isReserved && lead.purchase == nil
                if !isOfNothing, wanted.count <= limit, !wanted.contains(lead) {
                    wanted.append(lead)
                }
            }
            let states = try states(behind: wanted, in: project)
            let matches = wanted.map {
                FoundMatch(lead: $0, state: states[$0.stream(in: project)])
            }
            if matches.allSatisfy(\.stands) { return (matches, leads.isCutOff) }
            let standing = matches.filter { $0.state?.isErased != true }
            if standing.allSatisfy(\.stands) { return (standing, leads.isCutOff) }
        }
        throw .fault(
            .rowUnproven(
                "A row says that \(visible(words.text)) leads to a customer of \(project), but no event does: "
                    + "something other than Deed wrote the row."))
    }

    private static let attempts = 3

    /// Returns the states of the customers whose objects were found. If the name is the customer's own id, no
    /// state is needed.
    private func states(
        behind leads: [FoundLead], in project: ProjectID
    ) throws(CommandError) -> [Stream: CustomerState] {
        let streams = Array(
            Set(leads.filter { $0.kind != .customer }.map { $0.stream(in: project) }))
        if streams.isEmpty { return [:] }
        let snapshots = try obtain(reading.customers(streams))
        return Dictionary(
            zip(streams, snapshots).compactMap { stream, snapshot in
                (try? snapshot.get()).map { (stream, $0.customer) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension FoundLead {
    fileprivate func stream(in project: ProjectID) -> Stream {
        Stream(project: project, environment: environment, customer: customer)
    }
}
