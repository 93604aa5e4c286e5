import Core

/// The rows that the log expects in `waiting_credits` for a customer. Once a catalog knows a transaction's
/// products, a separate job removes the row. As soon as one of them is known, the row may or may not exist.
struct ExpectedCredits {
    /// Credits that must exist, by key.
    private(set) var needed: RowTexts = [:]
    private(set) var possible: Set<[String]> = []

    /// `past` contains the catalogs' entries for the products that the events concern.
    init(
        after events: [RecordedEvent], of stream: Stream, in project: ProjectState,
        by past: PastCatalogs
    ) {
        for recorded in events {
            let editions = project.editions(from: recorded.catalogVersion)
            let products = Set(recorded.event.soldProducts)
            let catalogs = editions?.compactMap { edition in
                past[
                    WantedEdition(project: stream.project, edition: edition).place,
                    covering: products]
            }
            var credits = WaitingCreditRows()
            // If the catalog of that time is no longer remembered, any product may have been unknown.
            credits.add(recorded.event, of: stream, by: catalogs?.first ?? Catalog())
            for (credit, row) in zip(credits.credits, credits.rows()) {
                let row = RowText(row, of: .waitingCredits)
                let isUnknown = catalogs?.allSatisfy { $0.product(credit.key) == nil }
                // If two events left the same transaction waiting, either one may have written the row.
                if isUnknown == true, needed[row.key] == nil {
                    needed[row.key] = row
                } else {
                    possible.insert(row.key)
                }
            }
        }
    }
}

extension PastNeed {
    /// Creates a request for the catalogs that show whether these events left transactions waiting; `nil` if none of
    /// the events is a sale.
    init?(after events: [RecordedEvent], of stream: Stream, in project: ProjectState) {
        let products = Set(events.flatMap(\.event.soldProducts))
        let editions = events.compactMap { project.editions(from: $0.catalogVersion) }
            .max { $0.count < $1.count }
        guard !products.isEmpty, let editions else { return nil }
        self.init(stream: stream, products: products, editions: Array(editions))
    }
}

extension Event {
    fileprivate var soldProducts: [ProductKey] {
        switch self {
        case .purchaseMade(let fact): fact.soldKeys
        case .purchaseAttached(let attached): attached.transactions.flatMap(\.soldKeys)
        default: []
        }
    }

    /// Whether the event may leave a transaction waiting for its product.
    var mayAwaitProduct: Bool {
        switch self {
        case .purchaseMade, .purchaseAttached: true
        default: false
        }
    }
}

extension StreamState {
    /// Returns the tokens of the purchases in this stream.
    func tokensOfPurchases(in stream: Stream) -> [TokenKey] {
        let purchases = customer?.purchases ?? []
        return purchases.flatMap(\.tokens).map { TokenKey($0.text, in: stream) }
    }
}
