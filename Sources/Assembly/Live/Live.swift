package import Answers
import AppStore
package import Core
package import Crypto
package import Evidence
import Glibc
package import Ledger
package import Service
package import Telemetry
import Threading

/// What a command or the service relies on.
package typealias Clock = @Sendable () -> Instant

/// The machine's clock.
@Sendable package func systemClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

/// What lives outside, apart from the database. Tests bring their own.
package struct Outside: Sendable {
    /// The key to seal with first; it is made where there is none, if asked.
    package typealias Keys = @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]

    package var verifier: Verifier
    /// The installation's keys, to keep what stores are shown.
    package var keys: Keys
    /// What takes the place of the stores.
    package var store: StorePort?
    /// Whether evidence of production counts: not where the time is a test's.
    package var takesProduction = true
    package var log: Log
    package var metrics: Metrics
    package var machineClock: Clock
    /// For durations, in milliseconds.
    package var monotonicClock: @Sendable () -> Int64

    package init(
        verifier: Verifier, keys: @escaping Keys, store: StorePort? = nil, log: Log = .silent,
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

/// The one place that wires the ports to what lives outside.
package struct Live: Sendable {
    package let ledger: Ledger
    package let ports: Ports
    package let intake: Intake
    package let store: LiveStore

    /// `answers` follow the log where there are any.
    package init(_ settings: LedgerSettings, _ outside: Outside, answers: AnswerCache? = nil) {
        let ledger = Ledger(settings, log: outside.log, metrics: outside.metrics)
        if let answers { ledger.follow(with: answers) }
        self.ledger = ledger
        let prover = Prover(outside.verifier, metrics: outside.metrics)
        let store = LiveStore(ledger, prover, outside)
        self.store = store
        ports = Ports(
            ledger: LedgerPort(ledger), directory: DirectoryPort(ledger),
            accounts: AccountPort(ledger),
            reading: ReadingPort(
                heads: ledger.heads, customers: ledger.customers(_:),
                requireCertainty: ledger.requireCertainty),
            credentials: store.credentials,
            secrets: SecretsPort(
                randomBytes: { randomBytes($0) }, digest: { SHA256.digest($0).bytes },
                hexDigest: { SHA256.digest($0).hex }),
            now: settings.clock, machineClock: outside.machineClock)
        intake = Intake(
            ports: ports, queue: IntakePort(ledger),
            stores: [
                StoreAdapter(
                    .apple, news: .notification,
                    codes: .apple,
                    evidence: EvidencePort(prover, takesProduction: outside.takesProduction),
                    asking: outside.store ?? store.port)
            ],
            wasBelieved: ledger.hasBelieved)
    }
}

extension LedgerPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            append: ledger.append, submit: { ledger.submit($0, respond: $1) },
            announce: {
                ledger.announce(1)
                return Announcement { ledger.announce(-1) }
            },
            customer: ledger.customer(of:), read: { ledger.read($0, respond: $1) },
            project: ledger.project, events: ledger.events(of:after:limit:))
    }
}

extension DirectoryPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            projects: ledger.projects, customers: ledger.customers(of:after:limit:),
            apps: ledger.apps, keys: ledger.liveKeys, owner: ledger.owner(of:in:_:),
            isReconciling: ledger.isReconciling,
            unclaimed: ledger.unclaimed(of:_:after:limit:))
    }
}

extension AccountPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            holders: ledger.customers(of:in:_:limit:),
            refundRequests: ledger.refundRequests(of:_:at:after:limit:))
    }
}

extension EvidencePort {
    package init(_ prover: Prover, takesProduction: Bool = true) {
        @Sendable func timely(_ proven: ProvenEvidence) throws(RefusedEvidence) -> ProvenEvidence {
            if proven.environment == .sandbox || takesProduction { return proven }
            throw .productionOnTestClock
        }
        self.init(
            prove: { raw, apps, now throws(RefusedEvidence) in
                try timely(prover.prove(raw, for: apps, now: now))
            },
            readVouched: { raw, apps, now throws(RefusedEvidence) in
                try timely(prover.read(vouchedFor: raw, for: apps, now: now))
            },
            bare: prover.bare, heading: prover.heading(of:), standing: prover.standing(ofSigner:))
    }
}

extension RefusedEvidence {
    fileprivate static let productionOnTestClock = RefusedEvidence(
        code: "production_on_test_clock",
        sentence: "It is from production, and this database follows a test clock: send it to a "
            + "service with another database.")
}

extension IntakePort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            add: ledger.addIntake,
            find: { project, id throws(Fault) in try ledger.intake(id, of: project) },
            list: { project, filter throws(Fault) in
                try ledger.intake(
                    of: project, in: filter.state, after: filter.after, limit: filter.limit)
            },
            take: ledger.takeIntake(now:without:withoutStores:), change: ledger.changeIntake,
            counts: ledger.intakeCounts, clean: ledger.cleanIntake(endedBefore:under:))
    }
}
