import Core

/// Random numbers that can be repeated with the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    package mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    package mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: range, using: &self)
    }
}

/// A random life of a customer with the stores, fact by fact as the stores signed them.
package struct RandomHistory {
    private var random: SeededGenerator
    package private(set) var facts: [AnyFact] = []
    private var names = 0
    private let prefix: String

    /// `prefix` distinguishes the transactions of different histories.
    package init(seed: UInt64, prefix: String = "") {
        self.prefix = prefix
        random = SeededGenerator(seed: seed)
        for _ in 0..<random.number(1...3) {
            switch random.number(0...9) {
            case 0...4: addSubscription()
            case 5...6: addConsumable()
            case 7: addNonConsumable()
            default: addTerms()
            }
        }
        if random.chance(10) { addInstallation() }
        if random.chance(10) { addConsents() }
    }

    private mutating func name() -> String {
        names += 1
        return "\(prefix)t\(names)"
    }

    private mutating func one<Element>(of all: [Element]) -> Element {
        all[Int(random.number(0...Int64(all.count - 1)))]
    }

    // MARK: Kinds

    private mutating func addSubscription() {
        var original = name()
        var previous: TransactionID?
        var (start, length) = (random.number(0...5), random.number(3...9))
        let items = someItems(of: ["plus", "pro", "solo"])
        var selling = items.isEmpty ? one(of: ["plus", "pro", "solo"]) : "anything"
        let (isFamily, isAssigned) = (random.chance(15), random.chance(10))
        let committed = random.chance(25) ? random.number(2...4) : nil
        var transactionName = original
        for period in 0..<random.number(1...4) {
            var fact = transaction(
                transactionName, of: original, selling, .autoRenewable, at(start),
                to: at(start + length))
            fact.ownership = isFamily ? .familyShared : isAssigned ? .assigned : .purchased
            fact.items = items
            fact.previousOriginal = previous
            if period == 0, random.chance(20) { fact.offer = Offer(discount: .freeTrial) }
            if let committed {
                fact.commitment = Commitment(
                    period: period % committed + 1, periods: committed, ends: at(60))
            }
            var next = start + length
            var isUpgraded = false
            switch random.number(0...9) {
            case 0:  // The customer buys again after a while.
                next += random.number(1...3)
            case 1...2:
                next = addFailure(of: original, expiring: start + length)
            case 3:
                isUpgraded = true
                next = start + random.number(0...length - 1)
                if items.isEmpty { selling = one(of: ["plus", "pro", "solo"]) }
                length = random.number(3...9)
            default: break
            }
            addVersions(of: fact, until: next, isUpgraded: isUpgraded)
            if random.chance(committed == nil ? 30 : 70) {
                addRenewal(
                    of: original, signed: random.number(start...next), selling,
                    commits: committed.map { _ in random.chance(50) })
            }
            start = next
            transactionName = name()
            // The subscription continues as part of a bundle, with a new id.
            if random.chance(10) { (previous, original) = (id(original), transactionName) }
        }
    }

    /// Adds a failed renewal payment, with or without a grace period and a recovery. Returns the next start.
    private mutating func addFailure(of original: String, expiring end: Int64) -> Int64 {
        let isGrace = random.chance(70)
        let until = end + random.number(1...4)
        facts.append(
            .renewal(
                renewal(of: original, signed: at(end)) {
                    $0.isInBillingRetry = true
                    $0.graceUntil = isGrace ? at(until) : nil
                }))
        if random.chance(40) {
            facts.append(
                .renewal(
                    renewal(of: original, signed: at(until)) { $0.isInBillingRetry = true }))
        }
        return end + random.number(0...5)
    }

    private mutating func addRenewal(
        of original: String, signed: Int64, _ product: String, commits: Bool?
    ) {
        let (isOn, isRetry) = (random.chance(50), random.chance(20))
        let next = random.chance(50) ? one(of: ["plus", "pro", "solo"]) : nil
        facts.append(
            .renewal(
                renewal(of: original, signed: at(signed), on: isOn) {
                    $0.isInBillingRetry = isRetry
                    $0.rank = isOn ? .serverAPI : .notification
                    $0.product = next.map { _ in id(product) }
                    $0.nextProduct = next.map { id($0) }
                    $0.willCommitAgain = commits
                }))
    }

    private mutating func addConsumable() {
        let start = random.number(0...10)
        let items = someItems(of: ["coins", "chest"])
        var fact = transaction(
            name(), items.isEmpty ? one(of: ["coins", "chest"]) : "anything", .consumable, at(start)
        )
        fact.items = items
        fact.quantity = one(of: [1, 1, 2, 3])
        addVersions(of: fact, until: start + 10, isUpgraded: false)
    }

    private mutating func addNonConsumable() {
        let start = random.number(0...10)
        let original = name()
        let items = someItems(of: ["level2", "level3"])
        var fact = transaction(
            original, items.isEmpty ? one(of: ["level2", "level3"]) : "anything", .nonConsumable,
            at(start))
        fact.items = items
        fact.ownership = one(of: [.familyShared, .assigned, .purchased, .purchased, .purchased])
        addVersions(of: fact, until: start + 8, isUpgraded: false)
        if random.chance(50) {
            var restored = fact
            restored.transaction = id(name())
            restored.originallyPurchased = fact.purchased
            restored.purchased = at(start + random.number(1...5))
            restored.signedAt = restored.purchased
            restored.rank = .offlineReceipt
            restored.ownership = .purchased
            // Receipts do not list a sale's items.
            restored.items = []
            facts.append(.transaction(restored))
        }
    }

    private mutating func addTerms() {
        let selling = one(of: ["season", "boost", "pass", "monthly"])
        var start = random.number(0...10)
        for _ in 0..<random.number(1...3) {
            addVersions(
                of: transaction(name(), selling, .nonRenewing, at(start)), until: start + 20,
                isUpgraded: false)
            start += random.number(0...40)
        }
    }

    private mutating func addInstallation() {
        let environment: Environment = random.chance(80) ? .production : .sandbox
        for _ in 0..<random.number(1...3) {
            var fact = installation(
                one(of: ["1.0", "1.5", "2.0", "3.1"]),
                on: random.chance(50) ? at(random.number(0...5)) : nil,
                signed: at(random.number(0...5)), environment: environment)
            fact.appTransaction = random.chance(70) ? id("account\(random.number(1...2))") : nil
            facts.append(.app(fact))
        }
    }

    /// Adds withdrawals of a parent's consent. Some are reported twice.
    private mutating func addConsents() {
        for _ in 0..<random.number(1...2) {
            let (news, start) = (name(), random.number(0...20))
            for _ in 0..<random.number(1...2) {
                facts.append(
                    .consent(rescission(news, signed: at(start + random.number(0...2)))))
            }
        }
    }

    /// Adds refund requests for the transaction at various times. Each report may be repeated with a new signature.
    private mutating func addRefundRequests(of fact: TransactionFact) {
        guard random.chance(20) else { return }
        let start = (fact.purchased.milliseconds - at(0).milliseconds) / day
        for _ in 0..<random.number(1...3) {
            let stage: RefundFact.Stage =
                random.chance(60) ? .requested(one(of: [.legal, .other])) : .declined
            let (news, moment) = (name(), start + random.number(0...9))
            for _ in 0..<random.number(1...2) {
                facts.append(
                    .refund(
                        RefundFact(
                            id(news), stage, of: fact, signedAt: at(moment + random.number(0...2)),
                            rank: .notification)))
            }
        }
    }

    /// Returns the products that another one represents. Usually there are none.
    private mutating func someItems(of all: [String]) -> [SoldItem] {
        guard random.chance(20) else { return [] }
        return all.shuffled(using: &random).prefix(Int(random.number(1...2)))
            .map { SoldItem(id($0)) }
    }

    // MARK: What is stated about one transaction

    /// Adds the stores' statements about a transaction over time.
    private mutating func addVersions(
        of fact: TransactionFact, until end: Int64, isUpgraded: Bool
    ) {
        var fact = fact
        // The price does not matter for the rules. It makes statements of the same instant differ.
        fact.price = Price(milliunits: random.number(0...2), currency: nil)
        facts.append(.transaction(fact))
        addLegacy(of: fact)
        addRefundRequests(of: fact)
        if isUpgraded {
            fact.isUpgraded = true
            sign(&fact, after: end)
        }
        if fact.expires != nil, random.chance(10) {
            fact.expires = fact.expires?.advanced(byMilliseconds: random.number(1...2) * day)
            sign(&fact, after: end)
        }
        if !fact.items.isEmpty, random.chance(50) {
            // The items are revoked one after another, so that statements of the same instant do
            // not contradict each other.
            for index in fact.items.indices where random.chance(60) {
                let start = fact.purchased.advanced(byMilliseconds: Int64(index + 1) * day)
                fact.items[index] = SoldItem(fact.items[index].product, revokedAt: start)
                sign(&fact, after: end)
            }
        }
        for _ in 0..<(random.chance(30) ? random.number(1...3) : 0) {
            fact.revocation = fact.revocation == nil ? someRefund(of: fact) : nil
            sign(&fact, after: end)
            addLegacy(of: fact)
        }
    }

    private mutating func someRefund(of fact: TransactionFact) -> Revocation {
        let start = (fact.purchased.milliseconds - at(0).milliseconds) / day
        let moment = random.number(start - 1...start + 8)
        // The moment determines the share, so that statements of the same instant do not contradict each other.
        let isPart = moment % 3 == 0
        let whole: Revocation.Extent = fact.ownership == .familyShared ? .family : .full
        var revocation = refund(
            at: at(moment), isPart ? .prorated : whole,
            milliPercent: isPart ? moment * 7_777 % 100_000 : nil)
        if moment % 5 == 1 { revocation.reason = .unknown(.text("UPGRADED_TO_BUNDLE")) }
        return revocation
    }

    /// Signs the fact at the start of a day, so that several statements often have the same instant.
    private mutating func sign(_ fact: inout TransactionFact, after day: Int64) {
        fact.signedAt = at(day + random.number(0...4))
        fact.rank = one(of: [.clientTransaction, .notification, .serverAPI])
        fact.price = Price(milliunits: random.number(0...2), currency: nil)
        facts.append(.transaction(fact))
    }

    private mutating func addLegacy(of fact: TransactionFact) {
        guard random.chance(25) else { return }
        var legacy = fact
        legacy.rank = one(of: [.offlineReceipt, .verifyReceiptReply])
        legacy.signedAt = at(random.number(0...30))
        // A receipt does not state the ownership, but verifyReceipt's reply does.
        if legacy.rank == .offlineReceipt { legacy.ownership = .purchased }
        (legacy.commitment, legacy.previousOriginal) = (nil, nil)
        legacy.items = []
        legacy.price = Price(milliunits: random.number(0...2), currency: nil)
        if random.chance(30) { legacy.kind = nil }
        facts.append(.transaction(legacy))
    }
}

extension Ownership {
    /// An ownership that this release does not know.
    fileprivate static let assigned = Ownership.unknown(.text("ASSIGNED"))
}
