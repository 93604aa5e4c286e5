package import Core
import Wording

/// Tests the whole path to the store and back, step by step, and shows which step fails. For a
/// store that sends no test notifications on request, tests what the key may read.
package struct StoreCheck: Sendable {
    package enum Step: String, Sendable, CaseIterable {
        /// A key exists, and it can be decrypted.
        case key
        /// The store accepts requests signed with the key.
        case token
        /// The store has an address for notifications.
        case address
        /// The test notification arrived at that address, and the response was a success.
        case arrived
        /// The notification has been verified to come from the store.
        case verified
        /// The key may read the app's purchases.
        case purchases
        /// The key may read the app's orders.
        case orders

        /// The steps for a store that sends a test notification on request.
        static let ofSending: [Step] = [.key, .token, .address, .arrived, .verified]
    }

    package struct Result: Sendable {
        package let step: Step
        /// `nil` if the step was not tried.
        package let passed: Bool?
        package let detail: String
    }

    /// The pauses double from the shortest to the longest one, because stores answer only a few of these questions per
    /// hour.
    private static let pauses: ClosedRange<Int64> = 3000...12_000

    private let intake: Intake
    private let pause: @Sendable (_ milliseconds: Int64) -> Void

    package init(_ intake: Intake, pause: @escaping @Sendable (_ milliseconds: Int64) -> Void) {
        self.intake = intake
        self.pause = pause
    }

    /// Returns the result of each step, including steps that were not reached.
    package func run(
        _ key: AppKey, of project: ProjectID, in environment: Environment, waiting seconds: Int
    ) throws(CommandError) -> [Result] {
        guard let app = try intake.ledger.existing(project).app(key) else {
            throw .refused(.appUnknown(key.id))
        }
        var results: [Result] = []
        let profile = intake.stores[key.store]?.profile
        let name = StoreApp(project: project, key: key)
        if let probes = profile?.probes, !probes.isEmpty { return probe(probes, of: name) }
        do throws(StoreTrouble) {
            let sent = try intake.ask(.test, name, environment)
            results += [.passed(.key), .passed(.token), .passed(.address)]
            guard case .testSent(let token) = sent.remark else {
                throw .unreadable("it names no test notification")
            }
            try follow(token, name, app, sent.environment, seconds, &results)
        } catch {
            results += failures(of: error, after: results.count, profile)
        }
        return Step.ofSending.completed(results)
    }

    /// Tests what the key may read, one permission at a time, because an accepted key may lack some of them.
    private func probe(_ probes: [StoreProbe], of app: StoreApp) -> [Result] {
        var results: [Result] = []
        for probe in probes {
            do throws(StoreTrouble) {
                _ = try intake.ask(.probe(probe), app, nil)
                if results.isEmpty { results = [.passed(.key), .passed(.token)] }
                results.append(.passed(probe.step))
            } catch {
                switch error {
                case .unconfigured, .locked, .fault: results = [.failed(.key, error.withRemedy)]
                case .unauthorized, .denied(_, isKey: true):
                    results = [.passed(.key), .failed(.token, error.withRemedy)]
                case .unavailable where results.isEmpty, .untrusted where results.isEmpty:
                    results = [.passed(.key), .failed(.token, error.withRemedy)]
                default:
                    if results.isEmpty { results = [.passed(.key), .passed(.token)] }
                    results.append(.failed(probe.step, error.withRemedy))
                    continue
                }
                break
            }
        }
        return ([.key, .token] + probes.map(\.step)).completed(results)
    }

    /// Returns the results of the steps that are affected by trouble in the first call.
    private func failures(
        of trouble: StoreTrouble, after count: Int, _ profile: (any StoreProfile)?
    ) -> [Result] {
        if count >= 4 { return [.failed(.verified, trouble.withRemedy)] }
        if count == 3 { return [.failed(.arrived, trouble.withRemedy)] }
        switch trouble {
        case .unconfigured, .locked, .fault: return [.failed(.key, trouble.withRemedy)]
        case .refused(_, _, .noAddress):
            let cure = profile?.addressCure ?? trouble.withRemedy
            return [.passed(.key), .passed(.token), .failed(.address, cure)]
        default: return [.passed(.key), .failed(.token, trouble.withRemedy)]
        }
    }

    private func follow(
        _ token: String, _ name: StoreApp, _ app: App, _ environment: Environment,
        _ seconds: Int, _ results: inout [Result]
    ) throws(StoreTrouble) {
        let patience = Int64(seconds) * 1000
        var waited: Int64 = 0
        var pause = StoreCheck.pauses.lowerBound
        while true {
            var trouble: StoreTrouble?
            var wait = pause
            do throws(StoreTrouble) {
                let (raw, attempts) = try testResult(token, name, environment)
                if let outcome = outcome(raw, attempts, app, environment) {
                    results += outcome
                    return
                }
            } catch {
                // A temporary fault may disappear before the time is up.
                guard error.isRetryable else { throw error }
                trouble = error
                if case .limited(let until) = error {
                    wait = max(wait, until.milliseconds - intake.machineClock().milliseconds)
                }
            }
            if waited >= patience {
                let ending =
                    "The store had not sent the notification after \(seconds) s; try again later."
                results.append(.failed(.arrived, trouble?.withRemedy ?? ending))
                return
            }
            wait = min(wait, patience - waited)
            self.pause(wait)
            waited += wait
            pause = min(2 * pause, StoreCheck.pauses.upperBound)
        }
    }

    /// Returns what the store's delivery attempts show about the remaining steps; `nil` if there
    /// was no attempt.
    private func outcome(
        _ raw: RawEvidence?, _ attempts: [SendAttempt], _ app: App, _ environment: Environment
    ) -> [Result]? {
        if let raw, attempts.contains(where: \.hasArrived) {
            return [.passed(.arrived), verified(raw, app, environment)]
        }
        let console = intake.stores[app.key.store]?.profile.console ?? "the store"
        return attempts.last.map { last in
            [
                .failed(
                    .arrived,
                    "The store says \(last.result): check that the server URL of \(console) leads "
                        + "to Deed from the outside, with a valid certificate.")
            ]
        }
    }

    /// Returns the test notification and the attempts to deliver it. A notification that the store does not know yet
    /// has none.
    private func testResult(
        _ token: String, _ name: StoreApp, _ environment: Environment
    ) throws(StoreTrouble) -> (RawEvidence?, [SendAttempt]) {
        do throws(StoreTrouble) {
            let answer = try intake.ask(.testResult(token), name, environment)
            guard case .attempts(let lists) = answer.remark else { return (nil, []) }
            return (answer.evidence.first, lists.flatMap(\.self))
        } catch {
            guard error.meaning == .testUnknown else { throw error }
            return (nil, [])
        }
    }

    private func verified(_ raw: RawEvidence, _ app: App, _ environment: Environment) -> Result {
        do throws(RefusedEvidence) {
            let proven = try intake.prove(raw, for: [app.trusted])
            if proven.environment == environment { return .passed(.verified) }
            return .failed(.verified, "The answer is from \(proven.environment.rawValue).")
        } catch {
            return .failed(.verified, error.sentence)
        }
    }
}

extension [StoreCheck.Step] {
    /// Returns the results, with the steps that were not reached added at the end.
    fileprivate func completed(_ results: [StoreCheck.Result]) -> [StoreCheck.Result] {
        let reached = Set(results.map(\.step))
        return results
            + filter { !reached.contains($0) }.map {
                StoreCheck.Result(step: $0, passed: nil, detail: "not reached")
            }
    }
}

extension StoreProbe {
    fileprivate var step: StoreCheck.Step {
        switch self {
        case .purchases: .purchases
        case .orders: .orders
        }
    }
}

extension StoreCheck.Result {
    fileprivate static func passed(_ step: StoreCheck.Step) -> Self {
        Self(step: step, passed: true, detail: "")
    }

    fileprivate static func failed(_ step: StoreCheck.Step, _ detail: String) -> Self {
        Self(step: step, passed: false, detail: detail)
    }
}
