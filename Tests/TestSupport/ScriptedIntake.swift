package import Core
package import Service
import Synchronization

/// A store that says what the test tells it to; nothing yet when it was told nothing.
package final class ScriptedStore: StoreClient {
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

    package func judge(
        _ inquiry: StoreInquiry
    ) -> Judgement<ProvenEvidence, Postponement> {
        asked.withLock { $0 += 1 }
        let judge = judge.withLock { $0 }
        return judge?(inquiry.evidence, inquiry.app, inquiry.environment, inquiry.now)
            ?? .tryAgain(.scripted)
    }

    package func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        guard let ask = ask.withLock({ $0 }) else {
            throw .unconfigured("The script has no answer.")
        }
        return try ask(call, app)
    }
}

/// A client of a store, with a detour for some calls.
package struct DetouredClient: StoreClient {
    /// What a call comes to that does not reach the store; `nil` where it does.
    package typealias Detour =
        @Sendable (StoreCall, Environment?) throws(StoreTrouble) -> StoreAnswer?

    private let client: any StoreClient
    private let detour: Detour

    package init(_ client: any StoreClient, _ detour: @escaping Detour) {
        self.client = client
        self.detour = detour
    }

    package func judge(
        _ inquiry: StoreInquiry
    ) -> Judgement<ProvenEvidence, Postponement> { client.judge(inquiry) }

    package func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        if let answer = try detour(call, environment) { return answer }
        return try client.ask(call, about: app, in: environment)
    }
}

extension Intake {
    /// Has the App Store's client make detours.
    package mutating func detour(_ detour: @escaping DetouredClient.Detour) {
        guard let client = stores[.apple]?.client else { return }
        stores[.apple]?.client = DetouredClient(client, detour)
    }
}

extension IntakeReason {
    package static let scripted = IntakeReason(
        code: "store_not_configured", sentence: "The script says so.")
}
