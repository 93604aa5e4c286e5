import Core
import SQL

extension Table {
    /// What is kept under a reserved name until a customer proves it. A state shows only roughly since
    /// when.
    static let unclaimed = Table(
        "unclaimed",
        [
            .text("project"), .text("environment"), .text("store"), .text("original"),
            .text("app"), .instant("since").forPeople,
        ], key: ["project", "environment", "store", "original"], writing: .once,
        source: RowSource { origin in
            origin.kept.map { [$0.id] } ?? []
        } changedBy: { event, origin in
            origin.stream.customer.isReserved ? event.changedPurchase : nil
        } name: { id, _ in
            [.text(id.store.rawValue), .text(id.original.text)]
        } cells: { _, origin in
            guard let held = origin.kept?.firstHeld else { return nil }
            return [
                .text(held.app.text), .instant(origin.customer.lastRecord?.at ?? .distantPast),
            ]
        })

    /// The account tokens of those purchases.
    static let unclaimedTokens = Table(
        "unclaimed_tokens",
        [
            .text("project"), .text("environment"), .text("token"), .text("store"),
            .text("original"), .text("app"), .flag("is_looked_at").told,
        ], key: ["token", "project", "environment", "store", "original"],
        writing: .sifting(.awaitTokens),
        source: RowSource { origin in
            origin.kept.map { $0.carrying($0.tokens) } ?? []
        } name: { carrying, origin in
            carrying.name(in: origin.stream)
        } cells: { carrying, _ in
            carrying.cells(isLookedAt: false)
        })

    /// The account tokens of held purchases that no customer has, if they may bring a purchase elsewhere.
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
                ? [] : origin.customer.purchasesMovedByTokens.flatMap { $0.carrying($0.tokens) }
        } name: { carrying, origin in
            carrying.name(in: origin.stream)
        } cells: { carrying, _ in
            carrying.cells(isLookedAt: false)
        })
}

extension Origin {
    /// The purchase that waits in this stream for a customer.
    fileprivate var kept: Purchase? {
        if !stream.customer.isReserved { return nil }
        return customer.purchases.first { stream.customer == .unclaimed($0.id) }
    }
}

/// A token, and a purchase that carries it.
struct Carrying: Hashable {
    let token: AccountToken
    let held: HeldPurchase

    /// Its key in either table. A waiting purchase belongs to its keeper by its own name.
    func name(in stream: Stream) -> Row {
        [
            .text(token.text), .text(held.purchase.store.rawValue),
            .text(held.purchase.original.text),
        ] + (stream.customer.isReserved ? [] : [.text(stream.customer.text)])
    }

    func cells(isLookedAt: Bool) -> Row { [.text(held.app.text), .flag(isLookedAt)] }
}

extension Purchase {
    /// The purchase in the first of its apps.
    fileprivate var firstHeld: HeldPurchase? { heldPurchases.min { $0.app < $1.app } }

    func carrying(_ tokens: [AccountToken]) -> [Carrying] {
        firstHeld.map { held in tokens.map { Carrying(token: $0, held: held) } } ?? []
    }
}
