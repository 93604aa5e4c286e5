package import Core

/// The result of a submission, with its customer's entitlements and balances.
package struct SubmissionAnswer: Sendable {
    /// The results in the order of the evidence.
    package let items: [SubmittedItem]
    /// The order that the request named, in its current state.
    package let order: Order?
    package let entitlements: EntitlementsAnswer
    package let balances: Balances
    /// The sandbox balances, besides those of production, if the sandbox counts for the customer.
    package let sandboxBalances: Balances?

    /// Whether any of the evidence is still waiting.
    package var isPending: Bool {
        items.contains { if case .undecided = $0.result { true } else { false } }
    }

    /// Creates the answer from snapshots of the customer and, if it counts, of the customer's sandbox.
    init(
        items: [SubmittedItem], order: OrderID?, _ snapshots: [Stream: CustomerSnapshot],
        of stream: Stream, at instant: Instant
    ) throws(CommandError) {
        guard let own = snapshots[stream] else {
            throw .fault(.broken("a submission was answered without its customer"))
        }
        let sandbox = own.includesSandbox(of: stream) ? snapshots[stream.inSandbox] : nil
        let view = CustomerView(own, of: stream, including: sandbox)
        self.items = items
        self.order = order.flatMap(view.customer.order)
        entitlements = EntitlementsAnswer(view, at: instant)
        balances = view.customer.balances
        sandboxBalances = view.sandboxBalances
    }
}

/// The result for one purchase in one piece of evidence.
package struct SubmittedItem: Hashable, Sendable {
    /// Evidence that cannot be judged yet waits in the queue, which reports the result later.
    package typealias Result = Judgement<ItemOutcome.Result, IntakeID>

    /// The index of the piece of evidence in the submission.
    package let index: Int
    /// The environment that recorded the evidence, if it differs from the answer's environment.
    package let otherEnvironment: Environment?
    package let purchase: PurchaseID?
    package let transaction: TransactionID?
    package let result: Result
    /// The product, if the catalog does not know it. The purchase has no effect yet.
    package let unknownProduct: ProductKey?
}

extension SubmittedItem {
    fileprivate init(_ result: Result, at index: Int) {
        self.init(
            index: index, otherEnvironment: nil, purchase: nil, transaction: nil, result: result,
            unknownProduct: nil)
    }

    fileprivate init(_ outcome: ItemOutcome, otherEnvironment: Environment?) {
        self.init(
            index: outcome.index, otherEnvironment: otherEnvironment, purchase: outcome.purchase,
            transaction: outcome.transaction, result: .believed(outcome.result),
            unknownProduct: outcome.unknownProduct)
    }
}

extension SubmittedItem.Result {
    /// The stable name of the result.
    package var word: String {
        switch self {
        case .believed(let result): result.word
        case .undecided: "queued"
        case .refused: "refused"
        }
    }
}

extension [JudgedPiece] {
    /// Returns the results for each piece, derived from the outcomes of the recorded pieces.
    func items(_ outcomes: [ItemOutcome], in environment: Environment) -> [SubmittedItem] {
        let outcomes = Dictionary(grouping: outcomes, by: \.index)
        return enumerated().flatMap { index, piece -> [SubmittedItem] in
            switch piece {
            case .refused(let refused): return [SubmittedItem(.refused(refused), at: index)]
            case .undecided(let id): return [SubmittedItem(.undecided(id), at: index)]
            case .believed(let proven):
                let found = proven.last?.environment
                let other = found == environment ? nil : found
                return (outcomes[index] ?? []).newest.map {
                    SubmittedItem($0, otherEnvironment: other)
                }
            }
        }
    }
}

extension [ItemOutcome] {
    /// Keeps one outcome for each purchase, the last one, because a store may report older parts of
    /// a purchase before the newest one.
    fileprivate var newest: [ItemOutcome] {
        enumerated().filter { place, outcome in
            outcome.purchase == nil
                || !self[(place + 1)...].contains { $0.purchase == outcome.purchase }
        }.map(\.element)
    }
}
