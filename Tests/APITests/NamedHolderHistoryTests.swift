import Auditing
import Core
import Histories
import Ledger
import Minting
import Synchronization
import TestSupport
import Testing
import Threading

/// Plays the histories of `NamedHolderOrderTests` over the API and PostgreSQL, several at a time.
/// Simultaneous acts share batches, and Deed decides them by the tables of tokens.
@Suite("Who holds purchases, in random histories over the ledger", .timeLimit(.minutes(20)))
struct NamedHolderHistoryTests {
    private static let lanes = 8
    private let front: Storefront
    private let start: Instant

    init() throws {
        front = try Storefront()
        start = front.service.clock.now
    }

    @Test(
        "Each step leaves each purchase with the right holder, and rows that follow from the log",
        arguments: TransferPolicy.Rule.allCases)
    func holders(rule: TransferPolicy.Rule) throws {
        var random = SeededGenerator(seed: printedSeed(of: "holders over the ledger, \(rule)"))
        let restore = TransferPolicy.Rule.allCases[Int(random.number(0...2))]
        let settings = #"{"transfer":"\#(rule.rawValue)","restore":"\#(restore.rawValue)"}"#
        #expect(front.send("PATCH", "/v1/settings", settings, key: front.admin).status == 200)
        for round in 0..<3 {
            var lives = (0..<Self.lanes).map { lane in
                Life(
                    round * Self.lanes + lane, start, now: front.service.clock.now, rule, restore,
                    &random)
            }
            while lives.contains(where: { !$0.acts.isEmpty }) {
                let (steps, before) = (lives.map(\.acts.first), lives)
                let faults = Mutex<[String]>([])
                inParallel(Self.lanes) { lane in
                    let fault = steps[lane].flatMap { take($0, in: before[lane]) }
                    if let fault { faults.withLock { $0.append(fault) } }
                }
                #expect(faults.withLock { $0 } == [])
                for lane in lives.indices { lives[lane].step() }
                // All histories share the clock.
                let hours = random.number(0...40)
                front.service.clock.advance(byMilliseconds: hours * hour)
                for lane in lives.indices { lives[lane].plain.take(.waits(hours: hours)) }
                try expect(lives)
            }
        }
        var projections = ProjectionAudit()
        let auditor = Auditor(front.service.database.settings(role: LedgerSettings.serviceRole))
        try projections.compareAll(auditor) { _ in }
        #expect(projections.findings.isEmpty, "\(projections.findings.listed)")
    }

    private func expect(_ lives: [Life]) throws {
        for life in lives {
            for (purchase, holder) in life.plain.holders {
                let found = try front.service.database.text(
                    """
                    select string_agg(customer, ',') from deed.holders
                    where original = '\(purchase.original.text)'
                    """)
                #expect(found == (holder ?? .unclaimed(purchase)).text, "\(life.done)")
            }
        }
    }

    /// Performs the act. Returns what went wrong, except for refusals by the rules.
    private func take(_ act: TokenAct, in life: Life) -> String? {
        switch act {
        case .evidence(let fact, let bearer): return told(submit(fact, by: bearer), act)
        case .news(let fact):
            var plan = RenewalPlan(of: fact.original.text, "pro.month", signed: fact.signedAt)
            plan.token = fact.accountToken
            return told(
                front.notify(
                    front.store.notification(
                        "DID_CHANGE_RENEWAL_STATUS", id: "\(fact.original)-\(fact.signedAt.text)",
                        at: fact.signedAt, renewal: front.store.renewal(plan))), act)
        case .registered(let token, let person):
            return told(
                front.send(
                    "PUT", "/v1/customers/\(person)/account_token",
                    #"{"token":"\#(token.text)"}"#), act)
        case .merged, .parted, .movedBack: return "\(act) is not tried over the API"
        case .moved(let purchase, let person):
            let reply = move(purchase, to: person, in: life)
            var plain = life.plain
            let isDone = plain.take(act)
            return (reply?.status == 200) == isDone ? nil : "\(act): \(reply?.text ?? "-")"
        case .waits: return nil
        }
    }

    private func told(_ reply: Reply, _ act: TokenAct) -> String? {
        reply.status == 200 ? nil : "\(act): \(reply.text)"
    }

    private func submit(_ fact: TransactionFact, by bearer: Submission.Bearer) -> Reply {
        var sale = Sale(
            fact.transaction.text, of: fact.original.text, fact.product.text,
            fact.kind ?? .consumable, at: fact.purchased, until: fact.expires)
        sale.signedAt = fact.signedAt
        sale.token = fact.accountToken
        switch bearer {
        case .store:
            return front.notify(
                front.store.notification(
                    "ONE_TIME_CHARGE", id: "\(fact.transaction)-\(fact.signedAt.text)",
                    at: fact.signedAt, transaction: front.store.transaction(sale)))
        case .customer(let person): return front.submit(sale, for: person.text)
        case .restorer(let person): return front.submit(sale, for: person.text, restore: true)
        }
    }

    /// Moves the purchase. Uses the call for unclaimed purchases if no customer has it.
    private func move(_ purchase: PurchaseID, to person: CustomerID, in life: Life) -> Reply? {
        guard let holder = life.plain.holders[purchase] else { return nil }
        guard let holder else {
            return front.send(
                "POST", "/v1/unclaimed/\(purchase)/attach",
                #"{"customer":"\#(person)","reason":"r"}"#, key: front.admin)
        }
        return front.send(
            "POST", "/v1/customers/\(holder)/purchases/\(purchase)/transfer",
            #"{"to":"\#(person)","reason":"r"}"#, key: front.admin)
    }
}

/// One of the histories, and its expected result up to now.
private struct Life {
    private(set) var acts: [TokenAct]
    private(set) var done: [TokenAct] = []
    var plain: PlainHolders

    init(
        _ number: Int, _ start: Instant, now: Instant, _ rule: TransferPolicy.Rule,
        _ restore: TransferPolicy.Rule, _ random: inout SeededGenerator
    ) {
        // The monthly purchases are in their second month.
        let history = TokenHistory(
            "h\(number)", number: UInt8(number), subscription: "pro.month", coins: "coins.100",
            from: start.advanced(byMilliseconds: -40 * day))
        acts = history.acts(&random).filter {
            if case .waits = $0 { false } else { true }
        }
        plain = PlainHolders(
            transfer: rule, restore: restore, credited: [id("coins.100")], from: now)
    }

    /// Performs the next act.
    mutating func step() {
        guard !acts.isEmpty else { return }
        let act = acts.removeFirst()
        plain.take(act)
        done.append(act)
    }
}
