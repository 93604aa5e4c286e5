import AppStore
package import Core
import Crypto
import Evidence
import JSON
package import Ledger
import Outbound
import PlayStore
package import Service
package import StoreAccess
import Telemetry
package import Threading

extension Ledger: CredentialTable {
    package func followsTestClock() throws(Fault) -> Bool { try testClock() != nil }
}
extension Prover: EvidenceProver {}
extension AppStoreClient: StoreClient {
    package func judging(
        _ inquiry: StoreInquiry, within milliseconds: Int64?
    ) -> Course<StoreVerdict> { .work { .ended(judge(inquiry).map { [$0] }) } }
}
extension PlayStoreClient: StoreClient {}
extension CredentialVault: CredentialKeeper {}

/// The stores that this release supports.
package let storeProfiles: [any StoreProfile] = [AppStoreProfile(), PlayStoreProfile()]

/// The parts that call stores and store credentials.
package struct LiveStore: Sendable {
    package let vault: CredentialVault
    let adapters: [StoreAdapter]
    private let lines = OutboundLines { () throws(OutboundError) in
        var limits = Courier.Limits()
        // A store that hangs for one app must leave room for the other apps.
        limits.ofLane = 256
        return try Courier(limits)
    }

    init(_ ledger: Ledger, _ outside: Outside) {
        let vault = CredentialVault(ledger, of: storeProfiles, keys: outside.keys)
        let line = LiveLine(
            ledger: ledger, vault: vault, lines: lines, clock: outside.machineClock)
        let prover = Prover(outside.verifier, metrics: outside.metrics)
        let plays = Prover(PlayEvidence(), metrics: outside.metrics)
        self.vault = vault
        adapters = [
            StoreAdapter(
                AppStoreProfile(), prover: prover,
                client: outside.store ?? AppStoreClient(line, prover)),
            StoreAdapter(
                PlayStoreProfile(), prover: plays,
                client: PlayStoreClient(line, plays) { token, app throws(Fault) in
                    try ledger.chain(
                        ofToken: TransactionID(playToken: token), in: app.key, of: app.project)
                }),
        ]
    }

    /// Logs a warning about apps whose stores cannot be queried because their credentials cannot be
    /// opened.
    func tellLocked(to log: Log) {
        guard let apps = try? vault.lockedApps(), !apps.isEmpty else { return }
        log.warning(
            "credentials_locked",
            [
                "apps": .array(apps.map { .string($0.key.id.text) }),
                "remedy": .string(
                    "restore the installation's key (DEED_SECRET_KEY_FILE), or set the "
                        + "credentials again with: deed app set"),
            ])
    }

    package func close() { lines.close() }
}

/// The store clients' access to the network, the database and the clock.
private struct LiveLine: StoreLine {
    let ledger: Ledger
    let vault: CredentialVault
    let lines: OutboundLines
    let clock: Clock

    func credentials(of app: StoreApp) throws(StoreTrouble) -> StoreCredentials {
        try vault.credentials(of: app)
    }

    func take(_ turn: StoreTurn, now: Instant) throws(Fault) -> Instant? {
        try ledger.takeStoreTurn(turn, now: now)
    }

    func rest(_ turn: StoreTurn, until: Instant) throws(Fault) {
        try ledger.restStore(turn, until: until)
    }

    func send(
        _ request: OutboundRequest, respond: @escaping @Sendable (Courier.Answer) -> Void
    ) {
        do throws(OutboundError) {
            try lines.courier().send(request, respond: respond)
        } catch {
            respond(.failure(error))
        }
    }

    func machineClock() -> Instant { clock() }

    func pause(milliseconds: Int64) { Threading.pause(milliseconds: milliseconds) }
}
