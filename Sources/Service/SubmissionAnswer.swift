package import Core

/// What came of a submission, and what its customer has now.
package struct SubmissionAnswer: Sendable {
    /// In the order of the evidence.
    package let items: [SubmittedItem]
    /// The order that was named, as it is now.
    package let order: Order?
    package let entitlements: EntitlementsAnswer
    package let balances: Balances

    /// With the customer as the snapshots show it, and its sandbox where that counts.
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
    }
}

/// What came of one piece of evidence for one purchase.
package struct SubmittedItem: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case recorded
        case alreadyKnown
        case heldByAnother(Refusal)
        case alreadySettled(OrderID)
        case refused(RefusedEvidence)

        /// Its stable name.
        package var word: String {
            switch self {
            case .recorded: "recorded"
            case .alreadyKnown: "already_known"
            case .heldByAnother: "held_by_another"
            case .alreadySettled: "already_settled"
            case .refused: "refused"
            }
        }
    }
    /// The place of the piece of evidence in the submission.
    package let index: Int
    /// Where it was recorded, when that is not the environment that is answered.
    package let otherEnvironment: Environment?
    package let purchase: PurchaseID?
    package let transaction: TransactionID?
    package let result: Result
}

extension SubmittedItem {
    fileprivate init(_ refused: RefusedEvidence, at index: Int) {
        self.init(
            index: index, otherEnvironment: nil, purchase: nil, transaction: nil,
            result: .refused(refused))
    }

    fileprivate init(_ outcome: ItemOutcome, otherEnvironment: Environment?) {
        let result: Result =
            switch outcome.result {
            case .recorded: .recorded
            case .alreadyKnown: .alreadyKnown
            case .refused(let refusal): .heldByAnother(refusal)
            case .alreadySettled(let order): .alreadySettled(order)
            }
        self.init(
            index: outcome.index, otherEnvironment: otherEnvironment, purchase: outcome.purchase,
            transaction: outcome.transaction, result: result)
    }
}

extension [JudgedPiece] {
    /// What is answered about each piece, from what came of those that were recorded.
    func items(_ outcomes: [ItemOutcome], in environment: Environment) -> [SubmittedItem] {
        let outcomes = Dictionary(grouping: outcomes, by: \.index)
        return enumerated().flatMap { index, piece -> [SubmittedItem] in
            switch piece {
            case .refused(let refused): return [SubmittedItem(refused, at: index)]
            case .proven(let proven):
                let other = proven.environment == environment ? nil : proven.environment
                return (outcomes[index] ?? []).map { SubmittedItem($0, otherEnvironment: other) }
            }
        }
    }
}
