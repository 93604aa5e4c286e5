package import Core
package import Service
import Synchronization
package import Threading

/// A store whose answers the test determines. Without a script, it does not answer yet.
package final class ScriptedStore: StoreClient {
    package typealias Judge =
        @Sendable (RawEvidence, App, Environment, Instant) ->
        Judgement<ProvenEvidence, Postponement>

    package typealias Ask = @Sendable (StoreCall, StoreApp) throws(StoreTrouble) -> StoreAnswer

    private let judge = Mutex<Judge?>(nil)
    private let ask = Mutex<Ask?>(nil)
    private let asked = Mutex(0)

    package init() {}

    /// How often the store was asked.
    package var count: Int { asked.withLock { $0 } }

    package func answer(_ judge: @escaping Judge) { self.judge.withLock { $0 = judge } }

    package func answerCalls(_ ask: @escaping Ask) { self.ask.withLock { $0 = ask } }

    package func judging(
        _ inquiry: StoreInquiry, within milliseconds: Int64?
    ) -> Course<StoreVerdict> {
        .work { [self] in
            asked.withLock { $0 += 1 }
            let judge = judge.withLock { $0 }
            let verdict = judge?(
                inquiry.evidence, inquiry.app, inquiry.environment, inquiry.now)
            return .ended((verdict ?? .tryAgain(.scripted)).map { [$0] })
        }
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

/// A store's client that takes a detour for some calls.
package struct DetouredClient: StoreClient {
    /// A function that answers a call in place of the store, or returns `nil` to let the call reach the store.
    package typealias Detour =
        @Sendable (StoreCall, Environment?) throws(StoreTrouble) -> StoreAnswer?

    private let client: any StoreClient
    private let detour: Detour

    package init(_ client: any StoreClient, _ detour: @escaping Detour) {
        self.client = client
        self.detour = detour
    }

    package func judging(
        _ inquiry: StoreInquiry, within milliseconds: Int64?
    ) -> Course<StoreVerdict> { client.judging(inquiry, within: milliseconds) }

    package func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        if let answer = try detour(call, environment) { return answer }
        return try client.ask(call, about: app, in: environment)
    }
}

extension Intake {
    /// Adds detours to the App Store's client.
    package mutating func detour(_ detour: @escaping DetouredClient.Detour) {
        guard let client = stores[.apple]?.client else { return }
        stores[.apple]?.client = DetouredClient(client, detour)
    }
}

extension IntakeReason {
    package static let scripted = IntakeReason(
        code: "store_not_configured", sentence: "The script says so.")
}
