import Core

/// The rows that the log expects in `waiting_credits` for a customer. A separate job removes a transaction's row once a
/// catalog knows its product. Until that job has run, the row may or may not exist.
struct ExpectedCredits {
    /// Credits that must exist, by key.
    private(set) var needed: RowTexts = [:]
    private(set) var possible: Set<[String]> = []

    init(after events: [RecordedEvent], of stream: Stream, in project: ProjectState) {
        for recorded in events {
            let catalogs = project.catalogs(since: recorded.catalogVersion)
            var credits = WaitingCreditRows()
            // If the catalog of that time is no longer cached, any product may have been unknown.
            credits.add(recorded.event, of: stream, by: catalogs?.first ?? Catalog())
            for (credit, row) in zip(credits.credits, credits.rows()) {
                let row = RowText(row, of: .waitingCredits)
                let isUnknown = catalogs?.allSatisfy { $0.product(credit.key) == nil }
                if isUnknown == true { needed[row.key] = row } else { possible.insert(row.key) }
            }
        }
    }
}

extension Event {
    /// Whether the event may leave a transaction waiting for its product.
    var mayAwaitProduct: Bool {
        switch self {
        case .purchaseMade, .purchaseAttached: true
        default: false
        }
    }
}

extension StreamState {
    /// Tokens of the purchases in this stream.
    func tokensOfPurchases(in stream: Stream) -> [TokenKey] {
        let purchases = customer?.purchases ?? []
        return purchases.flatMap(\.tokens).map { TokenKey($0.text, in: stream) }
    }
}
