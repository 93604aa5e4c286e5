import Core
import Evidence
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Checking the way to the store")
struct StoreCheckTests {
    private let service: TestService
    private let project: ProjectID
    private let app: AppKey

    init() throws {
        service = try TestService()
        project = try ProjectID("default")
        app = AppKey(store: .apple, id: try AppID("com.example.game"))
        let wish = service.useCases.apps.setting(
            app, AppChange(), of: project,
            as: .operator, by: Sender(actor: try Actor("test"), idempotencyKey: nil))
        _ = try service.ledger.perform(wish)
    }

    /// Returns the steps that passed and the steps that failed. The store's answers about the test
    /// notification depend on how often it was asked.
    private func check(
        _ answer: @escaping @Sendable (_ number: Int) throws(StoreTrouble) -> [SendAttempt]
    ) throws -> (steps: [String], questions: Int) {
        let questions = Mutex(0)
        service.store.answerCalls { call, _ throws(StoreTrouble) in
            var told = StoreAnswer(environment: .sandbox)
            if call == .test {
                told.remark = .testSent(token: "t")
                return told
            }
            let number = questions.withLock { count in
                count += 1
                return count
            }
            told.remark = .attempts([try answer(number)])
            told.evidence = [RawEvidence(.notification, [1])]
            return told
        }
        let clock = service.clock
        let check = StoreCheck(service.intake) { clock.advance(byMilliseconds: $0) }
        let steps = try check.run(app, of: project, in: .sandbox, waiting: 60).compactMap { step in
            step.passed.map { "\(step.step) \($0)" }
        }
        return (steps, questions.withLock { $0 })
    }

    @Test("Delays are waited for with few questions")
    func patient() throws {
        let unknown = StoreTrouble.refused(code: 1, message: "", meaning: .testUnknown)
        let clock = service.clock
        let (steps, questions) = try check { number throws(StoreTrouble) in
            switch number {
            case 1: throw .limited(until: clock.now.advanced(byMilliseconds: 20_000))
            case 2: throw .unavailable("it answered 500")
            case 3: throw unknown
            default: return [SendAttempt(at: nil, result: "SUCCESS", hasArrived: true)]
            }
        }
        // This evidence is not a notification. Only the last step notices that.
        #expect(steps.suffix(2) == ["arrived true", "verified false"] && questions == 4)
        let (late, most) = try check { _ throws(StoreTrouble) in
            throw unknown
        }
        #expect(late.last == "arrived false" && (2...8).contains(most))
    }

    @Test("A permanent error ends the check at once")
    func final() throws {
        let (steps, questions) = try check { _ throws(StoreTrouble) in throw .unauthorized }
        #expect(steps.last == "arrived false" && questions == 1)
    }
}
