package import Core

/// Whose purchases are, told as plainly as `docs/identity.md` says it, by none of the code that decides it.
package struct PlainHolders {
    fileprivate struct Purchase {
        var facts: [TransactionFact] = []
        var renewals: [RenewalFact] = []
        /// No one where it is unclaimed.
        var holder: CustomerID?
        /// When the project's rule or an admin moved it to the holder.
        var movedAt: Instant?
        var isOfAdmin = false
    }

    private let transfer: TransferPolicy.Rule
    private let restore: TransferPolicy.Rule
    private let coolDown: Int64
    /// What the catalog credits: it stays with the customer who got the credit.
    private let credited: Set<ProductID>
    private var purchases: [PurchaseID: Purchase] = [:]
    private var owners: [String: CustomerID] = [:]
    private var now: Instant

    package init(
        transfer: TransferPolicy.Rule, restore: TransferPolicy.Rule, coolDown: Int64 = day,
        credited: Set<ProductID>, from now: Instant
    ) {
        self.transfer = transfer
        self.restore = restore
        self.coolDown = coolDown
        self.credited = credited
        self.now = now
    }

    /// Who has each purchase that was ever heard of, `nil` for no one.
    package var holders: [PurchaseID: CustomerID?] { purchases.mapValues(\.holder) }

    /// Takes it in; false where an admin is refused.
    @discardableResult
    package mutating func take(_ act: TokenAct) -> Bool {
        switch act {
        case .evidence(let fact, let bearer):
            change(fact.purchase, by: bearer) { $0.facts.append(fact) }
        case .news(let fact): change(fact.purchase, by: .store) { $0.renewals.append(fact) }
        case .registered(let token, let person): register(token.text, for: person)
        case .moved(let purchase, let person): return move(purchase, to: person)
        case .waits(let hours): now = now.advanced(byMilliseconds: hours * hour)
        }
        return true
    }

    private mutating func change(
        _ id: PurchaseID, by bearer: Submission.Bearer, _ add: (inout Purchase) -> Void
    ) {
        let before = purchases[id] ?? Purchase()
        var purchase = before
        add(&purchase)
        let named = named(by: purchase)
        if let holder = before.holder {
            if let named {
                if named != holder, !stays(before) { purchase.go(to: named) }
            } else if let sender = bearer.customer, sender != holder, goes(before, by: bearer) {
                purchase.go(to: sender)
                purchase.movedAt = now
            }
        } else if let claimant = named ?? bearer.customer {
            purchase.go(to: claimant)
        }
        purchases[id] = purchase
    }

    private mutating func register(_ token: String, for person: CustomerID) {
        owners[token] = person
        for (id, purchase) in purchases {
            let tokens = purchase.facts.map(\.accountToken) + purchase.renewals.map(\.accountToken)
            guard tokens.contains(token), purchase.holder != person else { continue }
            let isNamed = named(by: purchase) == person
            if purchase.holder == nil || !stays(purchase) && isNamed {
                purchases[id]?.go(to: person)
            }
        }
    }

    private mutating func move(_ id: PurchaseID, to person: CustomerID) -> Bool {
        guard let purchase = purchases[id], purchase.holder != person else { return false }
        if purchase.holder != nil, purchase.isConsumable { return false }
        purchases[id]?.go(to: person)
        purchases[id]?.movedAt = now
        purchases[id]?.isOfAdmin = true
        return true
    }

    /// Whom the tokens name: the earliest transaction's where purchases are kept, the latest's otherwise, and
    /// news of the renewal where no transaction names anyone.
    private func named(by purchase: Purchase) -> CustomerID? {
        let inOrder = purchase.facts.sorted {
            ($0.purchased, $0.transaction) < ($1.purchased, $1.transaction)
        }
        let customers = inOrder.compactMap { $0.accountToken.flatMap { owners[$0] } }
        let ofNews = purchase.renewals.lazy.compactMap { $0.accountToken.flatMap { owners[$0] } }
        return (transfer == .keep ? customers.first : customers.last) ?? ofNews.first
    }

    /// Whether it stays whatever a token says.
    private func stays(_ purchase: Purchase) -> Bool {
        purchase.isOfAdmin || purchase.facts.contains { credited.contains($0.product) }
    }

    /// Whether it goes to who brings evidence that names no one.
    private func goes(_ purchase: Purchase, by bearer: Submission.Bearer) -> Bool {
        var rule = transfer
        if case .restorer = bearer { rule = restore }
        if rule == .keep || purchase.isConsumable { return false }
        if rule == .transferIfInactive, purchase.givesAccess(at: now) { return false }
        return purchase.movedAt.map { now >= $0.advanced(byMilliseconds: coolDown) } ?? true
    }
}

extension PlainHolders.Purchase {
    fileprivate var isConsumable: Bool { facts.contains { $0.kind == .consumable } }

    fileprivate func givesAccess(at now: Instant) -> Bool {
        facts.contains { $0.purchased <= now && ($0.expires.map { now < $0 } ?? true) }
    }

    fileprivate mutating func go(to person: CustomerID) {
        holder = person
        movedAt = nil
        isOfAdmin = false
    }
}
