import Core
import Postgres
import SQL

/// Rows of `deed.carried_tokens`: the account tokens without a customer that purchases with a holder carry.
struct CarriedTokenRows {
    private struct Row {
        let key: TokenKey
        let held: HeldPurchase
        let customer: CustomerID
        /// Whether it was asked whose the token is, and it was nobody's.
        let isLookedAt: Bool
    }
    private let tokens: KnownTokens
    private var rows: [Owned<PurchaseID>: [Row]] = [:]
    private var gone: Set<Owned<PurchaseID>> = []

    init(_ tokens: KnownTokens = KnownTokens()) {
        self.tokens = tokens
    }

    /// Notes every token of what the customer holds, as far as it may bring the purchase elsewhere.
    mutating func addAll(_ customer: CustomerState, of stream: Stream) {
        for purchase in customer.purchasesMovedByTokens {
            set(purchase, freeTokens(of: purchase, in: stream), of: stream)
        }
    }

    /// Takes in what happened in the stream of a customer, who is in that state by now.
    mutating func add(_ event: Event, _ customer: CustomerState, of stream: Stream) {
        switch event {
        case .purchaseDetached(let detached):
            leave(detached.purchase, of: stream)
        case .purchaseAttached(let attached) where !attached.tokens.isEmpty:
            change(attached.purchase, customer, of: stream)
        case .balanceCredited(let credited):
            // What was credited stays with its holder.
            let purchase = customer.purchase(credited.purchase)
            if let purchase, !freeTokens(of: purchase, in: stream).isEmpty {
                leave(purchase.id, of: stream)
            }
        default:
            if let held = event.carried?.held { change(held.purchase, customer, of: stream) }
        }
    }

    private mutating func leave(_ purchase: PurchaseID, of stream: Stream) {
        let owned = Owned(stream: stream, thing: purchase)
        rows[owned] = nil
        gone.insert(owned)
    }

    private mutating func change(
        _ id: PurchaseID, _ customer: CustomerState, of stream: Stream
    ) {
        guard let purchase = customer.purchase(id) else { return }
        // Most tokens are a customer's, and then nothing else is asked.
        let free = freeTokens(of: purchase, in: stream)
        if free.isEmpty || customer.keepsAgainstTokens(purchase) { return }
        set(purchase, free, of: stream)
    }

    private func freeTokens(of purchase: Purchase, in stream: Stream) -> [TokenKey] {
        purchase.tokens.map { TokenKey($0.text, in: stream) }.filter { tokens.owners[$0] == nil }
    }

    private mutating func set(_ purchase: Purchase, _ free: [TokenKey], of stream: Stream) {
        guard let held = purchase.heldPurchases.min(by: { $0.app < $1.app }) else { return }
        rows[Owned(stream: stream, thing: purchase.id)] = free.map {
            Row(
                key: $0, held: held, customer: stream.customer,
                isLookedAt: tokens.lookedAt.contains($0))
        }
    }

    /// The tokens that have to be guarded against being given away at the same moment.
    var awaited: [String] { rows.values.joined().map(\.key.token) }

    /// What is gone; comes before the rows of customers' tokens.
    var calls: [Call] {
        (gone.isEmpty ? [] : [goneCall]) + (tokens.claimed.isEmpty ? [] : [claimedCall])
    }

    /// Comes behind the rows of customers' tokens, which it looks at.
    var callsBehindNames: [Call] {
        let rows = Array(rows.values.joined())
        if rows.isEmpty { return [] }
        return [
            Statement.carryTokens(
                .texts(rows.map(\.key.project.text)),
                .texts(rows.map(\.key.environment.rawValue)), .texts(rows.map(\.key.token)),
                .texts(rows.map(\.held.purchase.store.rawValue)),
                .texts(rows.map(\.held.purchase.original.text)), .texts(rows.map(\.held.app.text)),
                .texts(rows.map(\.customer.text)), .bools(rows.map(\.isLookedAt)))
        ]
    }

    private var goneCall: Call {
        let gone = Array(gone)
        return Statement.dropCarriedTokens(
            .texts(gone.map(\.stream.project.text)),
            .texts(gone.map(\.stream.environment.rawValue)),
            .texts(gone.map(\.stream.customer.text)), .texts(gone.map(\.thing.store.rawValue)),
            .texts(gone.map(\.thing.original.text)))
    }

    private var claimedCall: Call {
        let claimed = tokens.claimed
        return Statement.forgetCarriedTokens(
            .texts(claimed.map(\.token.project.text)),
            .texts(claimed.map(\.token.environment.rawValue)), .texts(claimed.map(\.token.token)),
            .texts(claimed.map(\.purchase?.store.rawValue)),
            .texts(claimed.map(\.purchase?.original.text)),
            .texts(claimed.map(\.claimant?.text)))
    }
}
