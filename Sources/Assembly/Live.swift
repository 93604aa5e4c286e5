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

/// What a command or the service goes by.
package typealias Clock = @Sendable () -> Instant

/// The machine's clock.
@Sendable package func systemClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

/// What lives outside, beside the database. Tests bring their own.
package struct Outside: Sendable {
    /// The key to seal with first; it is made where there is none, if asked.
    package typealias Keys = @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]

    package var verifier: Verifier
    /// The installation's keys, to keep what stores are shown.
    package var keys: Keys
    /// What takes the place of the stores.
    package var store: StorePort?
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
        if let answers { ledger.subscribe(answers) }
        self.ledger = ledger
        let prover = Prover(outside.verifier, metrics: outside.metrics)
        let store = LiveStore(ledger, prover, outside)
        self.store = store
        ports = Ports(
            ledger: LedgerPort(ledger), directory: DirectoryPort(ledger),
            accounts: AccountPort(ledger),
            reading: ReadingPort(
                heads: { () throws(Fault) in try ledger.heads() },
                customers: { streams throws(Fault) in try ledger.customers(streams) }),
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
                    codes: StoreCodes(
                        noAddress: AppStoreCodes.noAddress,
                        testUnknown: AppStoreCodes.testUnknown),
                    evidence: EvidencePort(prover), asking: outside.store ?? store.port)
            ],
            wasBelieved: { digest throws(Fault) in try ledger.hasBelieved(digest) })
    }
}

extension LedgerPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            append: { command throws(CommandError) in try ledger.append(command) },
            submit: { ledger.submit($0, respond: $1) },
            announce: {
                ledger.announce(1)
                return Announcement { ledger.announce(-1) }
            },
            customer: { stream throws(Fault) in try ledger.customer(of: stream) },
            read: { ledger.read($0, respond: $1) },
            project: { project throws(Fault) in try ledger.project(project) },
            events: { stream, version, limit throws(Fault) in
                try ledger.events(of: stream, after: version, limit: limit)
            })
    }
}

extension DirectoryPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            projects: { () throws(Fault) in try ledger.projects() },
            customers: { project, stream, limit throws(Fault) in
                try ledger.customers(of: project, after: stream, limit: limit)
            },
            apps: { () throws(Fault) in try ledger.apps() },
            keys: { () throws(Fault) in try ledger.liveKeys() },
            owner: { order, project, environment throws(Fault) in
                try ledger.owner(of: order, in: project, environment)
            },
            unclaimed: { project, environment, purchase, limit throws(Fault) in
                try ledger.unclaimed(of: project, environment, after: purchase, limit: limit)
            })
    }
}

extension AccountPort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            holders: { account, project, environment, limit throws(Fault) in
                try ledger.customers(of: account, in: project, environment, limit: limit)
            },
            refundRequests: { project, environment, now, place, limit throws(Fault) in
                try ledger.refundRequests(
                    of: project, environment, at: now, after: place, limit: limit)
            })
    }
}

extension EvidencePort {
    package init(_ prover: Prover) {
        self.init(
            prove: { raw, apps, now throws(RefusedEvidence) in
                try prover.prove(raw, for: apps, now: now)
            },
            readVouched: { raw, apps, now throws(RefusedEvidence) in
                try prover.read(vouchedFor: raw, for: apps, now: now)
            },
            bare: { raw throws(RefusedEvidence) in try prover.bare(raw) },
            heading: { raw throws(RefusedEvidence) in try prover.heading(of: raw) },
            standing: { prover.standing(ofSigner: $0) })
    }
}

extension IntakePort {
    fileprivate init(_ ledger: Ledger) {
        self.init(
            add: { item, evidence throws(Fault) in try ledger.addIntake(item, evidence) },
            find: { project, id throws(Fault) in try ledger.intake(id, of: project) },
            list: { project, filter throws(Fault) in
                try ledger.intake(
                    of: project, in: filter.state, after: filter.after, limit: filter.limit)
            },
            take: { now, apps throws(Fault) in try ledger.takeIntake(now: now, without: apps) },
            change: { item throws(CommandError) in try ledger.changeIntake(item) },
            counts: { () throws(Fault) in try ledger.intakeCounts() },
            clean: { instant, lease throws(Fault) in
                try ledger.cleanIntake(endedBefore: instant, under: lease)
            })
    }
}
