import Core
import Evidence
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("A store that is slow for one app", .timeLimit(.minutes(20)))
struct SlowStoreTests {
    private let service: TestService
    private let project: ProjectID

    init() throws {
        service = try TestService()
        project = try ProjectID("default")
        for name in ["com.example.ill", "com.example.well"] {
            let wish = service.useCases.apps.setting(
                AppKey(store: .apple, id: try AppID(name)),
                AppChange(appleID: nil, sandboxAccess: nil, receipts: .store), of: project,
                as: .operator, by: Sender(actor: try Actor("test"), idempotencyKey: nil))
            _ = try service.ledger.perform(wish)
        }
    }

    private func queue(_ app: String, _ number: Int) throws {
        let heading = EvidenceHeading(
            digest: Array(repeating: UInt8(number), count: 31) + [UInt8(app.utf8.count)],
            kind: "app_receipt", environment: .sandbox, app: try AppID(app))
        _ = try service.intake.hold(
            RawEvidence(.appReceipt, [1]), .submit(CustomerID("u1")), order: nil,
            heading: heading, of: project)
    }

    /// Judges the queue with as many threads as a service has. Returns the number of running threads.
    private func work(until isOver: Monitor<Bool>) -> Monitor<Int> {
        let worker = IntakeWorker(Submissions(service.intake, apps: service.apps))
        let running = Monitor(IntakeWorker.count)
        for number in 0..<IntakeWorker.count {
            startThread("slow-\(number)") {
                while !isOver.change(wake: .none, { $0 }) {
                    let work = try? worker.work()
                    if work.flatMap(\.self) == nil { pause(milliseconds: 5) }
                }
                running.change { $0 -= 1 }
            }
        }
        return running
    }

    @Test("It occupies two of four workers, while the other app's receipts are judged")
    func fair() throws {
        let isOver = Monitor(false)
        let judged = Mutex<[String: Int]>([:])
        service.store.answer { _, app, _, _ in
            judged.withLock { $0[app.key.id.text, default: 0] += 1 }
            if app.key.id.text == "com.example.ill" { isOver.wait { $0 ? () : nil } }
            return .refused(RefusedEvidence(code: "test", sentence: "The test says no."))
        }
        for number in 1...10 { try queue("com.example.ill", number) }
        for number in 1...5 { try queue("com.example.well", number) }
        let running = work(until: isOver)
        #expect(
            eventually(within: 20_000) { judged.withLock { $0["com.example.well"] == 5 } },
            "\(judged.withLock { $0 })")
        #expect(eventually(within: 20_000) { judged.withLock { $0["com.example.ill"] == 2 } })
        isOver.change { $0 = true }
        #expect(running.wait(milliseconds: 20_000) { $0 == 0 ? true : nil } == true)
    }

    @Test("If it is slow for all, one of four workers judges what needs no store")
    func others() throws {
        let isOver = Monitor(false)
        let asked = Mutex(0)
        service.store.answer { _, _, _, _ in
            asked.withLock { $0 += 1 }
            isOver.wait { $0 ? () : nil }
            return .refused(RefusedEvidence(code: "test", sentence: "The test says no."))
        }
        for number in 1...4 {
            try queue("com.example.ill", number)
            try queue("com.example.well", number)
        }
        let running = work(until: isOver)
        #expect(eventually(within: 20_000) { asked.withLock { $0 == 3 } })
        let heading = EvidenceHeading(
            digest: Array(repeating: 9, count: 32), kind: "notification", environment: .sandbox,
            app: try AppID("com.example.well"))
        let news = try service.intake.hold(
            RawEvidence(.notification, [1]), .notification, order: nil, heading: heading,
            of: project)
        let isJudged = try eventually(within: 20_000) {
            try service.intake.item(news.id, of: project).state.word == .refused
        }
        #expect(isJudged && asked.withLock { $0 } == 3)
        isOver.change { $0 = true }
        #expect(running.wait(milliseconds: 20_000) { $0 == 0 ? true : nil } == true)
    }

    @Test("A worker whose look into the queue hangs does not block the others")
    func hangingQueue() throws {
        let (isOver, isHeld, done) = (Monitor(false), Monitor(false), Monitor(0))
        var intake = service.intake
        intake.queue = TappedQueue(
            intake.queue,
            beforeTaking: {
                let isFirst = isHeld.change { held in
                    defer { held = true }
                    return !held
                }
                if isFirst { isOver.wait { $0 ? () : nil } }
            })
        service.store.answer { _, _, _, _ in
            .refused(RefusedEvidence(code: "test", sentence: "The test says no."))
        }
        try queue("com.example.well", 1)
        let worker = IntakeWorker(Submissions(intake, apps: service.apps))
        startThread("held") {
            _ = try? worker.work()
            done.change { $0 += 1 }
        }
        isHeld.wait { $0 ? () : nil }
        startThread("other") {
            _ = try? worker.work()
            done.change { $0 += 1 }
        }
        #expect(done.wait(milliseconds: 20_000) { $0 == 1 ? true : nil } == true)
        isOver.change { $0 = true }
        #expect(done.wait(milliseconds: 20_000) { $0 == 2 ? true : nil } == true)
    }
}
