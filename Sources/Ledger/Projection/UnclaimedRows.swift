import Core
import Postgres
import SQL

/// Rows of `deed.unclaimed` and `deed.unclaimed_tokens`: the purchases that no customer claimed, and
/// the account tokens by which a customer may yet do so.
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
    private var waiting = KeyedRows<Stream, Row>()
    private var carried = KeyedRows<TokenRow, TokenRow>()
    private var gone: [(stream: Stream, purchase: PurchaseID)] = []

    /// Takes in what happened in the stream that keeps a purchase.
    mutating func add(_ entry: NewEntry) {
        let (stream, event) = (entry.header.stream, entry.event)
        let since = entry.header.record.recordedAt
        switch event {
        case .purchaseDetached(let detached):
            waiting.remove(stream)
            for row in carried.rows where row.held.purchase == detached.purchase {
                carried.remove(row)
            }
            gone.append((stream, detached.purchase))
        case .purchaseAttached(let attached):
            // An admin put it back. Its tokens led to whom it was taken from, so they are not awaited.
            guard let held = attached.held else { return }
            waiting.set(stream, Row(stream: stream, held: held, since: since))
        default:
            guard let held = event.statedPurchase else { return }
            waiting.set(stream, Row(stream: stream, held: held, since: since))
            guard let (token, held) = event.carried else { return }
            let row = TokenRow(key: TokenKey(token.text, in: stream), held: held)
            carried.set(row, row)
        }
    }

    /// The tokens that have to be guarded against being given away at the same moment.
    var tokens: [String] { carried.rows.map(\.key.token) }

    /// What is gone comes first: it may be back.
    var calls: [Call] {
        (gone.isEmpty ? [] : [goneCall]) + (waiting.isEmpty ? [] : [waitingCall])
            + (carried.isEmpty ? [] : [tokensCall])
    }

    private var goneCall: Call {
        Statement.unprojectUnclaimed(
            .texts(gone.map(\.stream.project.text)),
            .texts(gone.map(\.stream.environment.rawValue)),
            .texts(gone.map(\.purchase.store.rawValue)),
            .texts(gone.map(\.purchase.original.text)))
    }

    private var waitingCall: Call {
        let rows = waiting.rows
        return Statement.projectUnclaimed(
            .texts(rows.map(\.stream.project.text)),
            .texts(rows.map(\.stream.environment.rawValue)),
            .texts(rows.map(\.held.purchase.store.rawValue)),
            .texts(rows.map(\.held.purchase.original.text)),
            .texts(rows.map(\.held.app.text)), .int8s(rows.map(\.since.milliseconds)))
    }

    private var tokensCall: Call {
        let rows = carried.rows
        return Statement.awaitTokens(
            .texts(rows.map(\.key.project.text)),
            .texts(rows.map(\.key.environment.rawValue)), .texts(rows.map(\.key.token)),
            .texts(rows.map(\.held.purchase.store.rawValue)),
            .texts(rows.map(\.held.purchase.original.text)), .texts(rows.map(\.held.app.text)))
    }
}

extension PurchaseAttached {
    /// The purchase in the app of its first fact.
    fileprivate var held: HeldPurchase? {
        let app = transactions.first?.app ?? renewals.first?.app
        return app.map { HeldPurchase(app: $0, purchase: purchase) }
    }
}
