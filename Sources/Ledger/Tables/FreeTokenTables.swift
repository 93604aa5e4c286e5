import Core
import SQL

extension Table {
    /// Purchases kept under a reserved name until a customer claims them. Their states show only
    /// roughly how long the purchases have waited.
    static let unclaimed = Table(
        "unclaimed",
        [
            .text("project"), .text("environment"), .text("store"), .text("original"),
            .text("app"), .instant("since").forPeople,
        ], key: ["project", "environment", "store", "original"], writing: .once,
        source: RowSource { origin in
            origin.kept == nil ? [] : [origin.stream.customer.unclaimed].compactMap(\.self)
        } changedBy: { event, origin in
            event.changedPurchase.flatMap { _ in origin.stream.customer.unclaimed }
        } name: { id, _ in
            [.text(id.store.rawValue), .text(id.original.text)]
        } cells: { _, origin in
            guard let held = origin.kept?.firstHeld else { return nil }
            return [
                .text(held.app.text), .instant(origin.customer.lastRecord?.at ?? .distantPast),
            ]
        })

    /// Account tokens of unclaimed purchases.
    static let unclaimedTokens = Table(
        "unclaimed_tokens",
        [
            .text("project"), .text("environment"), .text("token"), .text("store"),
            .text("original"), .text("app"), .flag("is_looked_at").told,
        ], key: ["token", "project", "environment", "store", "original"],
        writing: .sifting(.awaitTokens),
        source: RowSource { origin in
            origin.kept.map { $0.carrying($0.tokens, in: origin.stream) } ?? []
        } name: { carrying, origin in
            carrying.name(in: origin.stream)
        } cells: { carrying, _ in
            carrying.cells(isLookedAt: false)
        })

    /// Account tokens of held purchases that do not belong to a customer yet, if they could move the purchases.
    static let carriedTokens = Table(
        "carried_tokens",
        [
            .text("project"), .text("environment"), .text("token"), .text("store"),
            .text("original"), .text("customer").owner.indexed, .text("app"),
            .flag("is_looked_at").told,
        ], key: ["token", "project", "environment", "store", "original"],
        writing: .sifting(.carryTokens),
        source: RowSource { origin in
            origin.stream.customer.isReserved
                ? []
                : origin.customer.purchasesMovedByTokens.flatMap {
                    $0.carrying($0.tokens, in: origin.stream)
                }
        } name: { carrying, origin in
            carrying.name(in: origin.stream)
        } cells: { carrying, _ in
            carrying.cells(isLookedAt: false)
        })
}

extension Origin {
    /// The purchase that waits in this stream until a customer claims it.
    fileprivate var kept: Purchase? {
        if !stream.customer.isReserved { return nil }
        return customer.purchases.first { $0.allIDs.contains { stream.customer == .unclaimed($0) } }
    }
}

/// A token and a purchase that has it.
struct Carrying: Hashable {
    let token: AccountToken
    let held: HeldPurchase

    /// Returns the row key in either table. An unclaimed purchase has the same name as its keeper.
    func name(in stream: Stream) -> Row {
        [
            .text(token.text), .text(held.purchase.store.rawValue),
            .text(held.purchase.original.text),
        ] + (stream.customer.isReserved ? [] : [.text(stream.customer.text)])
    }

    func cells(isLookedAt: Bool) -> Row { [.text(held.app.text), .flag(isLookedAt)] }
}

extension Purchase {
    /// The purchase, with the alphabetically first of its apps.
    fileprivate var firstHeld: HeldPurchase? {
        heldPurchases.filter { $0.purchase == id }.min { $0.app < $1.app }
    }

    func carrying(_ tokens: [AccountToken], in stream: Stream) -> [Carrying] {
        guard let held = firstHeld?.named(in: stream) else { return [] }
        return tokens.map { Carrying(token: $0, held: held) }
    }
}

extension HeldPurchase {
    /// Returns a waiting purchase under the name of its keeper, so that the row leads to the keeper, regardless of the
    /// purchase's other names.
    func named(in stream: Stream) -> HeldPurchase {
        HeldPurchase(app: app, purchase: stream.customer.unclaimed ?? purchase)
    }
}
