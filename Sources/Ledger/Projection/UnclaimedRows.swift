import Core
import Postgres
import SQL

/// Rows of `deed.unclaimed` and `deed.unclaimed_tokens`: the purchases that no customer claimed, and
/// the account tokens with which a customer may still do so.
struct UnclaimedRows {
    private struct Row {
        let stream: Stream
        let held: HeldPurchase
        let since: Instant
    }
    private struct TokenRow: Hashable {
        let key: TokenKey
        let held: HeldPurchase
    }
    private var waiting: [Stream: Row] = [:]
    private var carried: [Stream: Set<TokenRow>] = [:]
    /// Of what came back: some of these tokens may be customers' by now.
    private var returned: [Stream: Set<TokenRow>] = [:]
    private var gone: [(stream: Stream, purchase: PurchaseID)] = []

    /// Rows that no event of their keepers tells of, and that are taken away.
    private let strays: [StrayToken]

    init(strays: [StrayToken] = []) {
        self.strays = strays.filter(\.isKept)
        gone = strays.filter { !$0.isKept }.map { (stream: $0.keeper, purchase: $0.purchase) }
    }

    /// Notes all that the keeper of a purchase has, and since when, roughly: the fold does not tell.
    mutating func addAll(_ keeper: CustomerState, of stream: Stream) {
        let since = keeper.lastRecord?.at ?? .distantPast
        for purchase in keeper.purchases {
            guard stream.customer == .unclaimed(purchase.id),
                let held = purchase.heldPurchases.min(by: { $0.app < $1.app })
            else { continue }
            waiting[stream] = Row(stream: stream, held: held, since: since)
            returned[stream] = Set(
                purchase.tokens.map { TokenRow(key: TokenKey($0.text, in: stream), held: held) })
        }
    }

    /// Takes in what happened in the stream that keeps a purchase.
    mutating func add(_ entry: NewEntry) {
        let (stream, event) = (entry.header.stream, entry.event)
        let since = entry.header.record.recordedAt
        switch event {
        case .purchaseDetached(let detached):
            waiting[stream] = nil
            carried[stream] = nil
            returned[stream] = nil
            gone.append((stream, detached.purchase))
        case .purchaseAttached(let attached):
            // An admin put it back.
            guard let held = attached.held else { return }
            waiting[stream] = Row(stream: stream, held: held, since: since)
            returned[stream] = Set(
                attached.tokens.map { TokenRow(key: TokenKey($0.text, in: stream), held: held) })
        default:
            guard let held = event.statedPurchase else { return }
            waiting[stream] = Row(stream: stream, held: held, since: since)
            guard let (token, held) = event.carried else { return }
            carried[stream, default: []].insert(
                TokenRow(key: TokenKey(token.text, in: stream), held: held))
        }
    }

    /// The tokens that have to be guarded against being given away at the same moment.
    var tokens: [String] {
        [carried, returned].flatMap { $0.values.joined().map(\.key.token) }
    }

    /// What is gone comes first: it may be back.
    var calls: [Call] {
        (gone.isEmpty ? [] : [goneCall]) + (strays.isEmpty ? [] : [strayCall])
            + (waiting.isEmpty ? [] : [waitingCall])
            + call(Statement.awaitTokens, carried)
    }

    /// Comes behind the rows of customers' tokens, which it looks at.
    var callsBehindNames: [Call] { call(Statement.awaitFreeTokens, returned) }

    private var goneCall: Call {
        Statement.unprojectUnclaimed(
            .texts(gone.map(\.stream.project.text)),
            .texts(gone.map(\.stream.environment.rawValue)),
            .texts(gone.map(\.purchase.store.rawValue)),
            .texts(gone.map(\.purchase.original.text)))
    }

    private var strayCall: Call {
        Statement.unprojectUnclaimedTokens(
            .texts(strays.map(\.token.project.text)),
            .texts(strays.map(\.token.environment.rawValue)), .texts(strays.map(\.token.token)),
            .texts(strays.map(\.purchase.store.rawValue)),
            .texts(strays.map(\.purchase.original.text)))
    }

    private var waitingCall: Call {
        let rows = Array(waiting.values)
        return Statement.projectUnclaimed(
            .texts(rows.map(\.stream.project.text)),
            .texts(rows.map(\.stream.environment.rawValue)),
            .texts(rows.map(\.held.purchase.store.rawValue)),
            .texts(rows.map(\.held.purchase.original.text)),
            .texts(rows.map(\.held.app.text)), .int8s(rows.map(\.since.milliseconds)))
    }

    private func call(_ statement: Statement, _ tokens: [Stream: Set<TokenRow>]) -> [Call] {
        let rows = Array(tokens.values.joined())
        if rows.isEmpty { return [] }
        return [
            statement(
                .texts(rows.map(\.key.project.text)),
                .texts(rows.map(\.key.environment.rawValue)), .texts(rows.map(\.key.token)),
                .texts(rows.map(\.held.purchase.store.rawValue)),
                .texts(rows.map(\.held.purchase.original.text)), .texts(rows.map(\.held.app.text)))
        ]
    }
}
