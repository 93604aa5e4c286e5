package import Core
package import Feed
package import Telemetry
import Threading

/// The storage for the progress of webhooks.
package protocol DeliveryStore: Sendable {
    func webhookStandings(
        of project: ProjectID, _ id: WebhookID?
    ) throws(Fault) -> [WebhookID: WebhookStanding]
    func waitingCustomers(of name: WebhookName, limit: Int) throws(Fault) -> [WaitingCustomer]
    func replays(of name: WebhookName) throws(Fault) -> [WebhookReplay]
    /// Returns the customers' streams whose events an erasure has not emptied yet, with the erasure's version.
    func unfinishedErasures() throws(Fault) -> [Stream: Int64]
    /// Stores all of the progress or none of it. Returns `false` if another instance has taken over
    /// or the webhook no longer exists.
    func keep(_ progress: WebhookProgress, under lease: Lease) throws(Fault) -> Bool
}

/// The services that delivery needs.
package struct DeliveryPorts: Sendable {
    package let store: any DeliveryStore
    package let vault: WebhookVault
    package let form: MessageForm
    package let gate: SafeGate
    /// Creates a reader for one webhook. Each webhook needs a separate one, because a reader
    /// remembers customers' states at the webhook's place.
    package let reader: @Sendable () -> FeedReader
    package let machineClock: @Sendable () -> Instant
    package let log: Log
    package let measures: DeliveryMeasures
    /// The limit on concurrent reads, which leaves connections for other work.
    let turnstile = Turnstile(places: 2)
    /// The pauses after failed attempts to send a message.
    package var retries = RetryPlan.usual

    package init(
        _ store: some DeliveryStore, vault: WebhookVault, form: MessageForm, gate: SafeGate,
        reader: @escaping @Sendable () -> FeedReader,
        machineClock: @escaping @Sendable () -> Instant, log: Log, measures: DeliveryMeasures
    ) {
        self.store = store
        self.vault = vault
        self.form = form
        self.gate = gate
        self.reader = reader
        self.machineClock = machineClock
        self.log = log
        self.measures = measures
    }
}

/// A limit on the number of threads that pass at the same time.
final class Turnstile: Sendable {
    private let free: Monitor<Int>

    init(places: Int) {
        free = Monitor(places)
    }

    func passing<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        free.wait { free -> Void? in
            if free == 0 { return nil }
            free -= 1
            return ()
        }
        defer { free.change { $0 += 1 } }
        return try body()
    }
}
