import Core
import Evidence
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Working on queued evidence")
struct IntakeWorkerTests {
    private let service: TestService
    private let project: ProjectID
    private let app: AppKey

    init() throws {
        service = try TestService()
        project = try ProjectID("default")
        app = AppKey(store: .apple, id: try AppID(Payload.bundleID))
        try judge(.store)
    }

    private var sender: Sender {
        get throws { Sender(actor: try Actor("test"), idempotencyKey: nil) }
    }

    private func judge(_ judge: ReceiptJudge) throws {
        let change = AppChange(appleID: nil, sandboxAccess: nil, receipts: judge)
        _ = try service.ledger.perform(
            service.useCases.apps.setting(app, change, of: project, as: .operator, by: sender))
    }

    private func queue(
        _ receipt: [UInt8] = ReceiptPlan().bytes, kind: EvidenceKind = .appReceipt
    ) throws -> IntakeItem {
        let evidence = RawEvidence(kind, receipt)
        return try service.intake.hold(
            evidence, .submit(CustomerID("u1")), order: nil,
            heading: service.intake.heading(of: evidence), of: project)
    }

    private func worker(_ intake: Intake? = nil) -> IntakeWorker {
        IntakeWorker(Submissions(intake ?? service.intake, apps: service.apps))
    }

    private func purchases() throws -> Int64 {
        try service.database.number(
            "select count(*) from deed.events where type = 'purchase.made'")
    }

    private func found(_ item: IntakeItem) throws -> IntakeItem {
        try service.intake.item(item.id, of: project)
    }

    /// Makes the store accept every receipt.
    private func believeAll() {
        service.store.answer { [intake = service.intake] evidence, app, _, _ in
            do throws(RefusedEvidence) {
                return .believed(try intake.read(vouchedFor: evidence, for: app.trusted))
            } catch {
                return .refused(error)
            }
        }
    }

    @Test("Evidence that the store believes is recorded, and the item has the result")
    func believed() throws {
        believeAll()
        // No pinned root vouches for this receipt, so only the store can confirm it.
        let item = try queue(ReceiptPlan(chain: MintedChain(.receipts)).bytes)
        let work = try #require(try worker().work())
        #expect(work.isKept && work.item.id == item.id)
        #expect(
            try found(item).state
                == .believed([
                    IntakeResult(
                        purchase: "apple:1000000000000001", transaction: "1000000000000002",
                        outcome: "recorded", unknownProduct: "com.example.pro.month")
                ]))
        #expect(try purchases() == 1)
        #expect(try worker().work() == nil)
    }

    @Test("A receipt without purchases proves the app, and the item says so")
    func appOnly() throws {
        believeAll()
        var plan = ReceiptPlan()
        plan.attributes = .receipt(purchases: [])
        let item = try queue(plan.bytes)
        _ = try worker().work()
        let result = IntakeResult(purchase: nil, transaction: nil, outcome: "recorded")
        #expect(try found(item).state == .believed([result]))
    }

    @Test("Evidence that the store refuses is refused with its reason, and nothing is recorded")
    func refused() throws {
        let refused = RefusedEvidence(code: "reply_refused", sentence: "The store says no.")
        service.store.answer { _, _, _, _ in .refused(refused) }
        let item = try queue()
        _ = try worker().work()
        #expect(try found(item).state == .refused(IntakeReason(refused)))
        #expect(try purchases() == 0)
    }

    @Test("An undecided receipt is asked about again in steps; the sixth attempt alarms")
    func again() throws {
        let item = try queue()
        var alarms: [Int64] = []
        for tries in 1...8 as ClosedRange<Int64> {
            let work = try #require(try worker().work())
            if work.isAlarming { alarms.append(work.item.tries) }
            #expect(try found(item).reason == .scripted && work.item.tries == tries)
            #expect(try worker().work() == nil)
            let pause = IntakeItem.pause(afterTries: tries, jitter: .max)
            service.clock.advance(byMilliseconds: pause)
        }
        #expect(alarms == [IntakeItem.alarmTries])
        #expect(service.store.count == 8)
        believeAll()
        _ = try worker().work()
        #expect(try found(item).state.word == .believed && purchases() == 1)
    }

    @Test("If a worker dies between the record and its note, the item is done once more")
    func crash() throws {
        believeAll()
        let item = try queue()
        struct Died: Error {}
        var intake = service.intake
        intake.queue = TappedQueue(
            intake.queue, change: { _ throws(CommandError) in throw .fault(.unavailable) })
        #expect(throws: CommandError.self) { try worker(intake).work() }
        #expect(try purchases() == 1 && found(item).state.word == .waiting)
        let events = try service.eventCount()
        #expect(try worker().work() == nil)
        service.clock.advance(byMilliseconds: IntakeItem.lease)
        #expect(try #require(try worker().work()).isKept)
        #expect(try found(item).state.word == .believed && found(item).tries == 2)
        #expect(try service.eventCount() == events)
    }

    @Test("A record that fails this time waits, and is made later")
    func unrecorded() throws {
        believeAll()
        let item = try queue()
        var intake = service.intake
        intake.ledger = TappedLog(service.ledger) { _ throws(CommandError) in
            throw .fault(.unavailable)
        }
        _ = try worker(intake).work()
        #expect(try found(item).reason?.code == "database_unavailable")
        service.clock.advance(byMilliseconds: 6000)
        _ = try worker().work()
        #expect(try found(item).state.word == .believed && purchases() == 1)
    }

    @Test("Evidence with too much for one record is refused, not tried forever")
    func tooMuch() throws {
        believeAll()
        let item = try queue()
        var intake = service.intake
        intake.ledger = TappedLog(service.ledger) { _ throws(CommandError) in
            throw .refused(.tooMuchAtOnce(limit: Submission.eventLimit))
        }
        _ = try worker(intake).work()
        #expect(try found(item).state.word == .refused)
        #expect(try found(item).reason?.code == "too_much_at_once")
    }

    /// Returns evidence of a purchase in one environment, as a store proves it.
    private func proven(_ transaction: String, in environment: Environment) throws -> ProvenEvidence
    {
        var fact = try TransactionFact.bought(
            "level2", .nonConsumable, transaction: transaction, at: service.clock.now)
        (fact.environment, fact.app) = (environment, app.id)
        var facts = Facts()
        facts.transactions = [fact]
        let bytes = Array(transaction.utf8)
        return ProvenEvidence(
            kind: .appReceipt, environment: environment, app: app.id, facts: facts,
            record: EvidenceRecord(
                digest: service.ports.secrets.digest(bytes), kind: EvidenceKind.appReceipt.word,
                app: app.id, signedAt: fact.signedAt, content: bytes, certificates: []))
    }

    /// Queues evidence that claims to be of production, and then erases the customer's sandbox.
    private func queueBeforeErasure() throws -> IntakeItem {
        let heading = EvidenceHeading(
            digest: Array(repeating: 1, count: 32), kind: EvidenceKind.appReceipt.word,
            environment: .production, app: app.id)
        let item = try service.intake.hold(
            RawEvidence(.appReceipt, [1, 2, 3]), .submit(CustomerID("u1")), order: nil,
            heading: heading, of: project)
        service.clock.advance(byMilliseconds: 1000)
        let admin = try service.key(.admin)
        let given = service.send(
            "POST", "/v1/customers/u1/grants", key: admin,
            body:
                #"{"entitlement":"vip","reason":"r","allow_unknown":true,"environment":"sandbox"}"#)
        #expect(given.status == 201, "\(given.text)")
        func erase(_ intent: String) -> Reply {
            service.send(
                "POST", "/v1/customers/u1/erase", key: admin,
                body: #"{"reason":"r","purchases":"forget","environment":"sandbox"\#(intent)}"#)
        }
        let look = erase("")
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let erased = erase(#","intent":"\#(intent)""#)
        #expect(erased.status == 200, "\(erased.text)")
        return item
    }

    @Test("Evidence of a person who was erased meanwhile ends as refused, and is deleted")
    func erasedMeanwhile() throws {
        let item = try queueBeforeErasure()
        let test = try proven("1", in: .sandbox)
        service.store.answer { _, _, _, _ in .believed(test) }
        #expect(try #require(try worker().work()).isKept)
        #expect(try found(item).state.word == .refused)
        #expect(try found(item).reason?.code == "done_before_erasure")
        #expect(try purchases() == 0)
        #expect(
            try service.database.number(
                "select count(*) from deed.intake where octet_length(evidence) > 1") == 0)
        service.clock.advance(byMilliseconds: IntakeItem.longestWait)
        #expect(try worker().work() == nil)
    }

    @Test("Evidence of both environments still counts in the one that was not erased")
    func erasedInOne() throws {
        let item = try queueBeforeErasure()
        let both = [try proven("1", in: .sandbox), try proven("2", in: .production)]
        let cause = Cause(text: "intake:both", digest: [UInt8](repeating: 2, count: 32))
        let submissions = Submissions(service.intake, apps: service.apps)
        let results = try service.ledger.perform(submissions.recording(item, both, cause))
        #expect(results.map(\.purchase) == ["apple:2"])
        #expect(results.map(\.outcome) == ["recorded"])
        #expect(try purchases() == 1)
    }

    @Test("A person's decision made meanwhile wins over the worker's")
    func decidedMeanwhile() throws {
        let item = try queue()
        let reason = AdminReason(reason: try Reason("spam"), ticket: nil)
        service.store.answer { [intake = service.intake, project] _, _, _, _ in
            _ = try? intake.ledger.perform(
                intake.deciding(
                    .drop, about: item.id, of: project, reason: reason,
                    by: Sender(actor: .intake, idempotencyKey: nil)))
            return .tryAgain(.scripted)
        }
        #expect(try #require(try worker().work()).isKept == false)
        #expect(try found(item).state.word == .dropped)
    }

    @Test("An item whose app was removed waits, and continues when the app is back")
    func appRemoved() throws {
        believeAll()
        let item = try queue()
        _ = try service.ledger.perform(service.useCases.apps.removing(app, of: project, by: sender))
        _ = try worker().work()
        #expect(try found(item).reason?.code == "app_unknown" && service.store.count == 0)
        try judge(.store)
        service.clock.advance(byMilliseconds: 6000)
        _ = try worker().work()
        #expect(try found(item).state.word == .believed)
    }

    @Test("Evidence that Deed judges by itself is never sent to the store")
    func local() throws {
        try judge(.local)
        let genuine = try queue()
        let forged = try queue(ReceiptPlan(chain: MintedChain(.receipts)).bytes)
        _ = try worker().work()
        _ = try worker().work()
        #expect(try found(genuine).state.word == .believed && purchases() == 1)
        #expect(try found(forged).reason?.code == "untrusted_root")
        #expect(try found(forged).state.word == .refused && service.store.count == 0)
        // Deed verifies a signed transaction's signature even if the store judges receipts.
        try judge(.store)
        var early = Payload.transaction
        let ahead = service.clock.now.advanced(byMilliseconds: 600_000)
        early["signedDate"] = .integer(ahead.milliseconds)
        let late = try queue(
            Array(early.signed(by: .lasting).utf8), kind: .signedTransaction)
        _ = try worker().work()
        #expect(try found(late).reason?.code == "signed_in_future")
        #expect(try found(late).state.word == .waiting && service.store.count == 0)
        service.clock.advance(byMilliseconds: 600_000)
        _ = try worker().work()
        #expect(try found(late).state.word == .believed)
    }

    @Test("Eight workers of two instances record every item once", .timeLimit(.minutes(20)))
    func parallel() throws {
        believeAll()
        let count = 60
        for number in 1...count {
            let name = "10000000000\(1000 + number)"
            var plan = ReceiptPlan()
            plan.attributes = .receipt(purchases: [.purchase(transaction: name, original: name)])
            _ = try queue(plan.bytes)
        }
        let done = Mutex(0)
        inParallel(8) { _ in
            while let work = try? worker().work() {
                done.withLock { $0 += work.isKept ? 1 : 0 }
            }
        }
        #expect(done.withLock { $0 } == count && service.store.count == count)
        #expect(try purchases() == Int64(count))
    }
}

extension MintedChain {
    /// A chain whose leaf is valid at the test clock's times.
    fileprivate static let lasting: MintedChain = {
        var plan = CertificatePlan.leaf
        plan.notAfter = plan.notAfter.advanced(byMilliseconds: 5 * 366 * 86_400_000)
        return MintedChain.transactions.with(leaf: plan)
    }()
}
