package import Core

extension Command {
    /// Returns a command that records what evidence states, by the project's catalog.
    package static func record(
        _ facts: [TransactionFact], for stream: Stream, key: String
    ) throws -> Command {
        var all = Facts()
        all.transactions = facts
        return try record(all, for: stream, key: key)
    }

    /// Returns a command that records what evidence states, by the project's catalog.
    package static func record(
        _ evidence: Facts, for stream: Stream, key: String
    ) throws -> Command {
        var command = Command.customer(
            stream, actor: try Actor("test"),
            cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        ) { state, catalog, _ throws(Refusal) in
            state.decide(RecordFacts(evidence, catalog: catalog))
        }
        command.purchases =
            evidence.transactions.map { HeldPurchase(app: $0.app, purchase: $0.purchase) }
            + evidence.renewals.map { HeldPurchase(app: $0.app, purchase: $0.purchase) }
        return command
    }
}

extension TransactionFact {
    /// Returns a separate purchase, made and signed at `start`.
    package static func bought(
        _ product: String, _ kind: ProductKind, transaction: String, at start: Instant,
        until end: Instant? = nil
    ) throws -> TransactionFact {
        var fact = TransactionFact(
            store: .apple, environment: .production, app: try AppID("com.example.game"),
            transaction: try TransactionID(transaction), original: try TransactionID(transaction),
            product: try ProductID(product), purchased: start, signedAt: start,
            rank: .clientTransaction)
        fact.kind = kind
        fact.expires = end
        return fact
    }
}
