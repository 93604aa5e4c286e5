import Core
import Histories
import Testing

/// Tests how erasures are decided and folded. Days count from 1 January 2026.
@Suite("Erasures")
struct ErasureTests {
    private let production = Stream(
        project: id("default"), environment: .production, customer: id("anna"))

    /// Returns a simple digest. It need not be secure, because only equality matters here.
    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var sums = [UInt8](repeating: 7, count: 32)
        for (place, byte) in bytes.enumerated() {
            let target = place % sums.count
            sums[target] = sums[target] &* 31 &+ byte &+ UInt8(truncatingIfNeeded: place)
        }
        // Each part of the digest depends on all bytes, because readers keep only one part.
        for place in (0..<64).map({ $0 % 32 }) {
            sums[place] = sums[place] &* 31 &+ sums[(place + 31) % 32]
        }
        return sums
    }

    private var bought: CustomerState {
        var state = CustomerState()
        state.record(facts([transaction("m1", "pro", .autoRenewable, at(0), to: at(30))]))
        return state
    }

    private func life(_ state: CustomerState, sandbox: Bool = false) -> ErasedLife {
        ErasedLife(sandbox ? production.inSandbox : production, state)
    }

    private func wish(
        _ lives: [ErasedLife], _ treatment: PurchaseTreatment = .forget, intent: String? = nil
    ) -> EraseCustomer {
        EraseCustomer(
            lives, reason: id("asked"), ticket: nil, treatment: treatment, intent: intent,
            digest: Self.digest)
    }

    private func intent(
        _ lives: [ErasedLife], _ treatment: PurchaseTreatment = .forget, until end: Instant
    ) -> String {
        ErasureIntent(lives, treatment, until: end, digest: Self.digest).text
    }

    private func situation(
        _ state: CustomerState, elsewhere: CustomerState = CustomerState(), now: Instant = at(10)
    ) -> Situation {
        Situation(
            now: now, project: ProjectState(), states: [production.customer: state],
            elsewhere: [production.customer: elsewhere])
    }

    @Test("Both environments are erased in one decision, and purchases are known by a mark alone")
    func both() throws {
        let lives = [life(bought), life(bought, sandbox: true)]
        let decision = try wish(lives).decide(situation(bought, elsewhere: bought))
        #expect(decision.parts.map(\.isElsewhere) == [false, true])
        var marks = Set<PurchaseMark>()
        for part in decision.parts {
            guard case .customerErased(let erased) = part.events.first, part.events.count == 1
            else {
                Issue.record("\(part.events)")
                continue
            }
            #expect(erased.forgotten.count == 1 && erased.treatment == .forget)
            marks.formUnion(erased.forgotten)
        }
        // The same purchase in the sandbox counts as a different one.
        #expect(marks.count == 2)
        let freed = try wish(lives, .free).decide(situation(bought, elsewhere: bought))
        guard case .customerErased(let erased) = freed.parts.first?.events.first else {
            Issue.record("\(freed.parts)")
            return
        }
        #expect(erased.forgotten.isEmpty)
    }

    @Test("An intent is good for 15 minutes, for these versions, this treatment and this customer")
    func intents() throws {
        let lives = [life(bought)]
        let good = intent(lives, until: at(10, ErasureIntent.lifetime))
        _ = try wish(lives, intent: good).decide(situation(bought))
        let others = [ErasedLife(production.inSandbox, bought)]
        let stale = [
            intent(lives, until: at(10)),
            intent(lives, until: at(10, ErasureIntent.lifetime + 60_001)),
            intent(others, until: at(10, 1000)), intent(lives, .free, until: at(10, 1000)),
            good + "0", "er_", "",
        ]
        for intent in stale {
            #expect(throws: Refusal.erasure(.intentStale), "\(intent)") {
                _ = try wish(lives, intent: intent).decide(situation(bought))
            }
        }
        var changed = bought
        changed.record(
            facts([transaction("m2", of: "m1", "pro", .autoRenewable, at(30), to: at(60))]))
        #expect(throws: Refusal.erasure(.intentStale)) {
            _ = try wish(lives, intent: good).decide(situation(changed))
        }
    }

    @Test("Who is unknown or erased already is not erased, and a new life is")
    func lives() throws {
        #expect(throws: Refusal.customerUnknown(production.customer)) {
            _ = try wish([life(CustomerState())]).decide(situation(CustomerState()))
        }
        var state = bought
        state.apply(.customerErased(CustomerErased(reason: id("asked"), ticket: nil)))
        #expect(state.isErased && state.purchases.isEmpty && !life(state).isLeft)
        state.record(facts([transaction("m9", "pro", .autoRenewable, at(0), to: at(30))]))
        #expect(!state.isErased && life(state).isLeft)
        #expect(state.entitlements(at: at(10), catalog: shop)[id("pro")]?.isActive == true)
    }

    @Test("Emptied events count as versions, and lack an erasure until it comes")
    func emptied() {
        var state = CustomerState()
        state.apply(.erased(.purchaseMade))
        state.apply(.erased(.grantGiven))
        #expect(state.version == 2 && state.lacksErasure && !state.isErased)
        state.apply(.customerErased(CustomerErased(reason: id("asked"), ticket: nil)))
        #expect(state.version == 3 && !state.lacksErasure && state.isErased)
    }

    @Test("What is forgotten stays known over later lives")
    func forgotten() throws {
        let mark = PurchaseMark(
            PurchaseID(store: .apple, original: id("1")), in: production, digest: Self.digest)
        var state = CustomerState()
        for _ in 0..<2 {
            state.apply(
                .customerErased(
                    CustomerErased(
                        reason: id("asked"), ticket: nil, treatment: .forget, forgotten: [mark])))
        }
        #expect(state.forgotten == [mark, mark])
        #expect(PurchaseMark(mark.text) == mark && PurchaseMark("x") == nil)
    }

    @Test(
        "A repeated erasure forgets what its list names, and nothing that the customer has beside")
    func repeated() throws {
        let mark = PurchaseMark(
            PurchaseID(store: .apple, original: id("9")), in: production, digest: Self.digest)
        for state in [bought, CustomerState()] {
            let life = ErasedLife(production, state, lost: [mark])
            let decision = try wish([life]).decide(situation(state))
            guard case .customerErased(let erased) = decision.parts.last?.events.first else {
                Issue.record("\(decision.parts)")
                continue
            }
            #expect(erased.forgotten == [mark])
        }
    }

    /// Returns a purchase that continues another one. The store names the other one only for some time.
    private func again(continuing older: String?) -> TransactionFact {
        playReading(
            .active, "t2", of: "t2", at: at(older == nil ? 20 : 10), from: at(10),
            [playItem("pro", "GPA.2", to: at(40))], mark: older ?? "later"
        ) { $0.continues = older.map { id($0) } }
    }

    @Test("A purchase with several names is forgotten under each of them")
    func names() throws {
        var state = CustomerState()
        let first = playReading(.active, at: at(0), [playItem("pro", to: at(30))], mark: "a")
        for fact in [first, again(continuing: "t1")] {
            state.record(facts([fact]), catalog: playShop)
        }
        #expect(state.purchases.map(\.id.description) == ["google:t1"])
        let decision = try wish([life(state)]).decide(situation(state))
        guard case .customerErased(let erased) = decision.parts.last?.events.first else {
            Issue.record("\(decision.parts)")
            return
        }
        let names = ["t1", "t2"].map { PurchaseID(store: .google, original: id($0)) }
        let marks = names.map { PurchaseMark($0, in: production, digest: Self.digest) }
        #expect(erased.forgotten == marks.sorted())
    }

    @Test("What was forgotten does not come back with evidence that only continues it")
    func continued() throws {
        let forgotten = PurchaseID(store: .google, original: id("t1"))
        let submission = Submission(
            [.init(index: 0, facts: facts([again(continuing: "t1")]))], by: .customer(id("ben")))
        #expect(submission.purchases.map(\.purchase).contains(forgotten))
        func decide(
            _ holders: [PurchaseID: CustomerID], _ states: [CustomerID: CustomerState]
        ) throws -> Decision {
            try submission.decide(
                Situation(
                    now: at(11), project: ProjectState(), states: states, holders: holders,
                    erased: [forgotten]))
        }
        let decision = try decide([:], [:])
        #expect(decision.parts.isEmpty)
        #expect(decision.items.map(\.result) == [.refused(.erasure(.purchaseErased))])
        // After a restore, a customer may hold the purchase under its other name.
        var ben = CustomerState()
        ben.record(facts([again(continuing: nil)]), catalog: playShop)
        let held = PurchaseID(store: .google, original: id("t2"))
        let known = try decide([held: id("ben")], [id("ben"): ben])
        #expect(known.items.map(\.result) == [.recorded])
    }
}
