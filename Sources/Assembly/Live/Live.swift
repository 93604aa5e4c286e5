package import Answers
package import Core
package import Crypto
package import Evidence
package import Feed
import Glibc
package import Ledger
import Outbound
package import Service
package import Telemetry
import Threading

/// Returns the current time.
package typealias Clock = @Sendable () -> Instant

@Sendable package func systemClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

/// The outside world, apart from the database. Tests substitute their own.
package struct Outside: Sendable {
    /// Returns the keys. The first one seals. If no key exists and `making` is true, creates one.
    package typealias Keys = @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]

    package var verifier: Verifier
    /// The installation's keys, which seal credentials.
    package var keys: Keys
    /// A replacement for the real stores, if any.
    package var store: (any StoreClient)?
    /// Whether production evidence is accepted. Under a test clock, it is not.
    package var takesProduction = true
    package var log: Log
    package var metrics: Metrics
    package var machineClock: Clock
    package var webhooks = WebhookSettings()
    /// A clock for measuring durations, in milliseconds.
    package var monotonicClock: @Sendable () -> Int64

    package init(
        verifier: Verifier, keys: @escaping Keys, store: (any StoreClient)? = nil,
        log: Log = .silent,
        metrics: Metrics = Metrics(), machineClock: @escaping Clock = systemClock,
        monotonicClock: @escaping @Sendable () -> Int64 = monotonicMilliseconds
    ) {
        self.verifier = verifier
        self.keys = keys
        self.store = store
        self.log = log
        self.metrics = metrics
        self.machineClock = machineClock
        self.monotonicClock = monotonicClock
    }
}

/// The connection between the ports and the outside world.
package struct Live: Sendable {
    package let ledger: Ledger
    package let useCases: UseCases
    package let webhooks: LiveWebhooks
    package let factors: FactorVault
    package let intake: Intake
    package let feed: FeedReader
    package let store: LiveStore

    /// Connects the ports to the outside. `answers`, if given, follows the log.
    package init(_ settings: LedgerSettings, _ outside: Outside, answers: AnswerCache? = nil) {
        let ledger = Ledger(settings, log: outside.log, metrics: outside.metrics)
        if let answers { ledger.follow(with: answers) }
        self.ledger = ledger
        var outside = outside
        outside.keys = ledger.guarding(outside.keys)
        let store = LiveStore(ledger, outside)
        self.store = store
        factors = FactorVault(ledger: ledger, keys: outside.keys)
        let ports = Ports(
            ledger, evidence: .live(outside.verifier), credentials: store.vault, sealing: factors,
            secrets: .live, now: settings.clock, machineClock: outside.machineClock)
        feed = FeedReader(ledger, now: settings.clock)
        webhooks = LiveWebhooks(ledger, feed, outside, clock: settings.clock)
        var useCases = UseCases(ports)
        useCases.webhooks = Webhooks(
            ports, keeper: webhooks.vault, records: ledger, source: webhooks,
            reach: outside.webhooks.reach)
        self.useCases = useCases
        intake = Intake(
            ports, ledger, stores: store.adapters, takesProduction: outside.takesProduction)
    }
}

extension Ledger {
    /// Creates a missing key only if no data is sealed. Otherwise the key is lost or unreadable, and a new key would
    /// hide the loss.
    fileprivate func guarding(_ keys: @escaping Outside.Keys) -> Outside.Keys {
        { [self] making throws(KeyTrouble) in
            try keys(making && !((try? hasSealed()) ?? true))
        }
    }
}

extension EvidenceReading {
    fileprivate static func live(_ verifier: Verifier) -> EvidenceReading {
        EvidenceReading(
            unpack: { $0.unpacked },
            base64: { String(decoding: Base64.standard.encode($0), as: UTF8.self) },
            prove: { [verifier, PlayEvidence()].proveAgain($0) })
    }
}

extension Secrets {
    package static let live = Secrets(
        randomBytes: { Crypto.randomBytes($0) }, digest: { SHA256.digest($0).bytes },
        stretch: { Crypto.stretched($0, salt: $1, cost: $2) })
}

extension Ledger: EventLog, Directory, StoreAccounts, GrantListing, Finding, FigureReading,
    CustomerReading,
    IntakeQueue, EvidenceArchive, Leases, FeedLog, NoteReading, ErasureLog, EvidenceNaming,
    KeyUsing,
    TrailKeeping, PeopleKeeping, PasswordKeeping, SessionKeeping, SecondFactorKeeping
{}
