package import Core

/// The holders of purchases, implemented directly from `docs/identity.md` without the code under test.
package struct PlainHolders {
    fileprivate struct Purchase {
        var facts: [TransactionFact] = []
        var renewals: [RenewalFact] = []
        /// The holder; `nil` if the purchase is unclaimed.
        var holder: CustomerID?
        /// When the project's rule or an admin last moved the purchase.
        var movedAt: Instant?
        var isOfAdmin = false
        /// The previous holder, if there was one.
        var cameFrom: CustomerID?
        /// The people whose merges brought the purchase here, latest last.
        var cameWith: [CustomerID] = []
    }

    private let transfer: TransferPolicy.Rule
    private let restore: TransferPolicy.Rule
    private let coolDown: Int64
    /// Products that the catalog credits. Their purchases stay with the customer who got the credit.
    private let credited: Set<ProductID>
    private var purchases: [PurchaseID: Purchase] = [:]
    private var owners: [String: CustomerID] = [:]
    /// The people whose merges brought each token, by token.
    private var tokensCameWith: [String: [CustomerID]] = [:]
    /// The person into whom each merged person was merged.
    private var wholes: [CustomerID: CustomerID] = [:]
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

    /// The holder of each known purchase; `nil` for unclaimed purchases.
    package var holders: [PurchaseID: CustomerID?] { purchases.mapValues(\.holder) }

    /// Purchases that are not held by the person whom their tokens name, although nothing prevents that.
    package var misplaced: [PurchaseID] {
        purchases.filter { _, purchase in
            guard let holder = purchase.holder, let named = named(by: purchase) else {
                return false
            }
            return holder != named && !stays(purchase)
        }.map(\.key)
    }

    /// Performs the act. Returns false if the rules refuse it.
    @discardableResult
    package mutating func take(_ act: TokenAct) -> Bool {
        switch act {
        case .evidence(let fact, let bearer):
            if let sender = bearer.customer, wholes[sender] != nil { return false }
            change(fact.purchase, by: bearer) { $0.facts.append(fact) }
        case .news(let fact): change(fact.purchase, by: .store) { $0.renewals.append(fact) }
        case .registered(let token, let person):
            if wholes[person] != nil { return false }
            if let owner = owners[token.text] { return owner == person }
            register(token.text, for: person)
        case .moved(let purchase, let person):
            return wholes[person] == nil && move(purchase, to: person)
        case .movedBack(let purchase): return moveBack(purchase)
        case .merged(let person, let other): return merge(person, into: other)
        case .parted(let person): return part(person)
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

    private mutating func merge(_ person: CustomerID, into other: CustomerID) -> Bool {
        if person == other || wholes[person] != nil || wholes[other] != nil { return false }
        wholes[person] = other
        for (id, purchase) in purchases where purchase.holder == person {
            purchases[id]?.holder = other
            purchases[id]?.cameWith.append(person)
        }
        for (token, owner) in owners where owner == person {
            owners[token] = other
            tokensCameWith[token, default: []].append(person)
        }
        return true
    }

    /// Undoes the person's merge. Everything that the merge brought goes back, unless its tokens
    /// name the other person. Purchases that arrived later under a token that goes back also go.
    private mutating func part(_ person: CustomerID) -> Bool {
        // The undo must wait if the person's new holder was also merged into someone.
        guard let whole = wholes[person], wholes[whole] == nil else { return false }
        wholes[person] = nil
        var returned = Set<String>()
        for (token, came) in tokensCameWith where owners[token] == whole && came.last == person {
            owners[token] = person
            tokensCameWith[token]?.removeLast()
            returned.insert(token)
        }
        for (id, purchase) in purchases
        where purchase.holder == whole && purchase.cameWith.last == person {
            if !stays(purchase), named(by: purchase) == whole {
                purchases[id]?.cameWith = []
            } else {
                purchases[id]?.holder = person
                purchases[id]?.cameWith.removeLast()
            }
        }
        for (id, purchase) in purchases where purchase.holder == whole && !stays(purchase) {
            let tokens = purchase.facts.map(\.accountToken) + purchase.renewals.map(\.accountToken)
            let isCarried = tokens.contains { $0.map(returned.contains) ?? false }
            if isCarried, named(by: purchase) == person { purchases[id]?.go(to: person) }
        }
        return true
    }

    private mutating func move(_ id: PurchaseID, to person: CustomerID) -> Bool {
        guard let purchase = purchases[id], purchase.holder != person else { return false }
        if purchase.holder != nil, purchase.isConsumable { return false }
        purchases[id]?.go(to: person)
        purchases[id]?.movedAt = now
        purchases[id]?.isOfAdmin = true
        return true
    }

    /// Moves the purchase back to its previous holder, or to the person into whom that holder was merged.
    private mutating func moveBack(_ id: PurchaseID) -> Bool {
        guard let purchase = purchases[id], let former = purchase.cameFrom else { return false }
        var receiver = former
        while let whole = wholes[receiver] { receiver = whole }
        return move(id, to: receiver)
    }

    /// Returns the person whom the tokens name. If purchases are kept, the earliest transaction's
    /// token counts, otherwise the latest's. Without a token in the transactions, the renewal's
    /// token counts.
    private func named(by purchase: Purchase) -> CustomerID? {
        let inOrder = purchase.facts.sorted {
            ($0.purchased, $0.transaction) < ($1.purchased, $1.transaction)
        }
        let customers = inOrder.compactMap { $0.accountToken.flatMap { owners[$0] } }
        let ofNews = purchase.renewals.lazy.compactMap { $0.accountToken.flatMap { owners[$0] } }
        return (transfer == .keep ? customers.first : customers.last) ?? ofNews.first
    }

    /// Returns whether the purchase stays with its holder whatever its tokens say.
    private func stays(_ purchase: Purchase) -> Bool {
        purchase.isOfAdmin || purchase.facts.contains { credited.contains($0.product) }
    }

    /// Returns whether the purchase moves to the sender of evidence that names no person.
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
        cameFrom = holder
        holder = person
        movedAt = nil
        isOfAdmin = false
        cameWith = []
    }
}
