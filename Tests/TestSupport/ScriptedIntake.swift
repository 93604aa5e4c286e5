package import Core
package import Service
import Synchronization

/// A store that says what the test tells it to; nothing yet when it was told nothing.
package final class ScriptedStore: Sendable {
    package typealias Judge =
        @Sendable (RawEvidence, App, Environment, Instant) ->
        Judgement<ProvenEvidence, Postponement>

    package typealias Ask = @Sendable (StoreCall, StoreApp) throws(StoreTrouble) -> StoreAnswer

    private let judge = Mutex<Judge?>(nil)
    private let ask = Mutex<Ask?>(nil)
    private let asked = Mutex(0)

    package init() {}

    /// How often it was asked.
    package var count: Int { asked.withLock { $0 } }

    package func answer(_ judge: @escaping Judge) { self.judge.withLock { $0 = judge } }

    package func answerCalls(_ ask: @escaping Ask) { self.ask.withLock { $0 = ask } }

    package var port: StorePort {
        StorePort(
            judge: { [self] inquiry in
                asked.withLock { $0 += 1 }
                let judge = judge.withLock { $0 }
                return judge?(inquiry.receipt, inquiry.app, inquiry.environment, inquiry.now)
                    ?? .tryAgain(.scripted)
            },
            ask: { [self] call, app, _ throws(StoreTrouble) in
                guard let ask = ask.withLock({ $0 }) else { throw .noKey(app.key.id) }
                return try ask(call, app)
            })
    }
}

extension IntakeReason {
    package static let scripted = IntakeReason(
        code: "store_not_configured", sentence: "The script says so.")
}
