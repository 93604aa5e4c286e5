import Core
import Histories

/// A random stream of a customer, with events of every kind. It uses few names, so several events
/// often concern the same thing. Every event can be folded, but the rules need not allow it.
struct RandomStream {
    private var random: SeededGenerator
    private var facts: [AnyFact]
    private var readings: [TransactionFact]
    private var now: Int64 = 0
    private(set) var events: [RecordedEvent] = []
    private static let stream = Stream(
        project: id("default"), environment: .production, customer: id("u1"))
    private static let tokens = (1...3).map { number in
        AccountToken(random: [UInt8](repeating: UInt8(number), count: 16))
    }

    init(seed: UInt64, count: Int) {
        random = SeededGenerator(seed: seed)
        facts = RandomHistory(seed: seed, prefix: "x").facts
        readings = PlayLife(seed: seed).readings
        for _ in 0..<count { add(event()) }
    }

    private mutating func add(_ event: Event) {
        now += random.number(0...1)
        let version = Int64(events.count) + 1
        let record = EventRecord(
            occurredAt: at(now), recordedAt: at(now, random.number(0...999)),
            actor: id("key:k\(random.number(1...3))"), cause: "key:\(version)",
            catalogVersion: random.number(1...2))
        events.append(
            RecordedEvent(
                stream: Self.stream, version: version,
                position: Position(shard: Self.stream.shard, sequence: 2 * version),
                event: event, record: record))
    }

    private mutating func one<Element>(of all: [Element]) -> Element {
        all[Int(random.number(0...Int64(all.count - 1)))]
    }

    private mutating func maybe<Value>(_ value: Value) -> Value? { random.chance(50) ? value : nil }

    private mutating func event() -> Event {
        switch random.number(0...11) {
        case 0...3: ofStore()
        case 4: ofReading()
        case 5: ofHolder()
        case 6: ofGrant()
        case 7...8: ofBalance()
        case 9: ofOrder()
        case 10:
            switch random.number(0...2) {
            case 0: ofNotice()
            case 1: ofMerge()
            default: ofNote()
            }
        default: ofRefund()
        }
    }

    private mutating func ofStore() -> Event {
        switch one(of: facts) {
        case .transaction(var fact):
            fact.accountToken = maybe(one(of: Self.tokens).text)
            return one(of: [
                .purchaseMade(fact), .subscriptionRenewed(fact), .purchaseRefunded(fact),
                .purchaseRestated(fact),
            ])
        case .renewal(var fact):
            fact.accountToken = maybe(one(of: Self.tokens).text)
            return .renewalChanged(fact)
        case .app(let fact): return .appInstalled(fact)
        case .refund(let fact): return .refundRequested(fact)
        case .consent(let fact): return .consentRescinded(fact)
        }
    }

    private mutating func ofReading() -> Event { .subscriptionRenewed(one(of: readings)) }

    private mutating func purchase() -> PurchaseID {
        let known = facts.compactMap { fact -> PurchaseID? in
            if case .transaction(let fact) = fact { fact.purchase } else { nil }
        }
        return one(of: known + [readings[0].purchase])
    }

    private mutating func cause() -> MoveCause {
        one(of: [
            .claimed, .transferred, .named(one(of: Self.tokens)), .merged, .unmerged,
            .admin(id("asked"), ticket: maybe(id("T-1"))), .undone(id("wrong"), ticket: nil),
        ])
    }

    private mutating func ofHolder() -> Event {
        let purchase = purchase()
        let other: CustomerID = id("u\(random.number(2...3))")
        let change = BlockChanged(
            purchase: purchase, at: at(now), reason: id("fraud"), ticket: maybe(id("T-2")))
        switch random.number(0...4) {
        case 0:
            return .purchaseDetached(
                PurchaseDetached(purchase: purchase, to: other, cause: cause(), at: at(now)))
        case 1:
            var brought = AnyFact.facts(facts.shuffled(using: &random).prefix(4))
            brought.transactions.removeAll { $0.purchase != purchase }
            brought.renewals.removeAll { $0.purchase != purchase }
            brought.refunds.removeAll { $0.purchase != purchase }
            return .purchaseAttached(
                PurchaseAttached(
                    purchase: purchase, from: other, cause: cause(), at: at(now), facts: brought,
                    reports: [RefundReport(request: id("n\(random.number(1...2))"))],
                    earlierTokens: [CarriedToken(one(of: Self.tokens))],
                    blocks: random.chance(20)
                        ? [Block(since: at(1), until: at(2), reason: id("r"), ticket: nil)] : [],
                    arrived: maybe(Arrival(from: other, cause: cause(), at: at(now)))))
        case 2: return .purchaseBlocked(change)
        case 3: return .purchaseUnblocked(change)
        default: return .accountJoined(AccountJoined(account: id("a1"), customer: other))
        }
    }

    private mutating func ofNote() -> Event {
        let note: NoteID = id("n\(random.number(1...4))")
        if random.chance(30) {
            return .noteRemoved(NoteRemoved(note: note, reason: id("old"), ticket: nil))
        }
        return .noteAdded(
            NoteAdded(
                note: note, text: noteText(one(of: ["calls often", "two\nphones"])),
                ticket: maybe(id("T-5"))))
    }

    private mutating func ofGrant() -> Event {
        let grant: GrantID = id("g\(random.number(1...6))")
        let entitlement: EntitlementID = id(one(of: ["pro", "level2"]))
        switch random.number(0...2) {
        case 0:
            return .grantGiven(
                GrantGiven(
                    grant: grant, entitlement: entitlement, start: at(now),
                    end: maybe(at(now + 30)), afterCurrent: maybe(duration("P1M")),
                    reason: id("sorry"), ticket: maybe(id("T-3")),
                    outlook: GrantOutlook(
                        begins: maybe(at(now)), givenAnyway: maybe(.purchase(purchase())))))
        case 1:
            return .grantChanged(
                GrantChanged(
                    grant: grant, entitlement: entitlement, end: maybe(at(now + 9)),
                    lasts: maybe(duration("P2W")), begins: maybe(at(now + 1)), reason: id("longer"),
                    ticket: nil))
        default:
            return .grantRevoked(
                GrantRevoked(
                    grant: grant, entitlement: entitlement, at: at(now), reason: id("enough"),
                    ticket: maybe(id("T-4"))))
        }
    }

    private mutating func ofBalance() -> Event {
        let currency: CurrencyID = id(one(of: ["coins", "gems"]))
        let (purchase, amount) = (purchase(), random.number(1...Balances.limit))
        switch random.number(0...3) {
        case 0:
            return .balanceCredited(
                BalanceCredited(
                    currency: currency, amount: amount, purchase: purchase,
                    transaction: purchase.original, perPiece: amount))
        case 1:
            return .balanceDebited(
                BalanceDebited(
                    currency: currency, amount: amount, purchase: purchase,
                    transaction: purchase.original))
        case 2:
            return .balanceSpent(BalanceSpent(currency: currency, amount: amount, reason: nil))
        default:
            return .balanceAdjusted(
                BalanceAdjusted(
                    currency: currency, amount: random.chance(50) ? amount : -amount,
                    reason: id("gift"), ticket: nil, earnedAt: maybe(at(now))))
        }
    }

    private mutating func ofOrder() -> Event {
        let order: OrderID = id("o\(random.number(1...5))")
        switch random.number(0...3) {
        case 0:
            return .orderOpened(
                OrderOpened(
                    order: order, token: one(of: Self.tokens), product: maybe(id("coins")),
                    openedAt: at(now), expires: at(now + 7)))
        case 1:
            let purchase = purchase()
            return .orderFulfilled(
                OrderFulfilled(
                    order: order, purchase: purchase, transaction: purchase.original))
        case 2:
            return .orderClosed(
                OrderClosed(
                    order: order,
                    cause: one(of: [
                        .stale, .cancelled(id("r"), ticket: nil),
                        .settled(id("r"), ticket: id("T")),
                    ]), at: at(now)))
        default: return .tokenRegistered(TokenRegistered(token: one(of: Self.tokens)))
        }
    }

    private mutating func ofNotice() -> Event {
        let notice = AccessNotice(
            entitlement: id(one(of: ["pro", "level2", "ad_free"])), at: at(now), answer: .none)
        return one(of: [.accessStarted(notice), .accessEnded(notice), .accessEnded(notice)])
    }

    private mutating func ofRefund() -> Event {
        let (request, purchase): (NewsID, PurchaseID) = (id("n\(random.number(1...3))"), purchase())
        switch random.number(0...2) {
        case 0:
            return .refundReportPrepared(
                RefundReportPrepared(
                    request: request, purchase: purchase, transaction: purchase.original,
                    report: ConsumptionReport(
                        delivery: .delivered, hasSample: random.chance(50), used: maybe(20_000),
                        preference: maybe(.grantProrated))))
        case 1: return .refundReported(RefundReported(request: request, purchase: purchase))
        default:
            return .refundUnreported(
                RefundUnreported(request: request, purchase: purchase, why: .refused, detail: nil))
        }
    }

    private mutating func ofMerge() -> Event {
        let other: CustomerID = id("u\(random.number(2...3))")
        let act = MergeAct(reason: id("one person"), ticket: nil, at: at(now))
        switch random.number(0...9) {
        case 0: return .customerMerged(CustomerMerged(into: other, act))
        case 1...2: return .customerUnmerged(CustomerUnmerged(from: other, act, belongings: came()))
        case 3...4:
            return .customerParted(
                CustomerParted(
                    to: other, act,
                    left: BelongingNames(grants: [id("g1")], balances: [id("coins"): 5])))
        case 5:
            let mark = PurchaseMark(purchase(), in: Self.stream) { bytes in
                [UInt8](repeating: UInt8(bytes.count % 200), count: 32)
            }
            return .customerErased(
                CustomerErased(reason: id("asked"), ticket: nil, forgotten: [mark]))
        default:
            return .customerJoined(
                CustomerJoined(from: other, others: [id("u9")], act, belongings: came()))
        }
    }

    /// Returns what a merge moves from another customer.
    private mutating func came() -> Belongings {
        var came = Belongings()
        var other = CustomerState()
        for event in [ofGrant(), ofGrant(), ofOrder(), ofOrder()] { other.apply(event) }
        (came.grants, came.orders, came.tokens) = (other.grants, other.orders, other.tokens)
        came.coins.amounts = [id("coins"): random.number(-50...50)]
        let purchase = purchase()
        came.coins.credits[Credit.Key(purchase, purchase.original, id("coins"))] =
            Credit(perPiece: 100, net: random.number(0...100))
        came.coins.earnings[id("gems")] = Coins.Earning(day: 20_000 + now, amount: 7)
        came.apps = AnyFact.facts(facts).apps
        came.accounts = [id("a\(random.number(1...2))")]
        came.consents = [rescission("n\(random.number(1...2))", signed: at(now))]
        return came
    }
}
