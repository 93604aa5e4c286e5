package import AppStore
import Core
import Evidence
import JSON
import Ledger
import Outbound
import Service
import Synchronization
import Telemetry
import Threading

/// What the ports need to reach stores, and to keep what stores are shown.
package struct LiveStore: Sendable {
    package let vault: CredentialVault
    let port: StorePort
    let credentials: CredentialsPort
    private let lines = OutboundLines()

    init(_ ledger: Ledger, _ prover: Prover, _ outside: Outside) {
        let vault = CredentialVault(
            VaultPort(
                find: { app throws(Fault) in try ledger.credentials(of: app) },
                all: { () throws(Fault) in try ledger.allCredentials() },
                put: { sealed throws(Fault) in try ledger.putCredentials(sealed) },
                isTest: { () throws(Fault) in try ledger.testClock() != nil },
                keys: outside.keys))
        let way = AppStorePort(
            credentials: { app throws(StoreTrouble) in try vault.credentials(of: app) },
            take: { app, environment, endpoint, now throws(Fault) in
                try ledger.takeStoreBudget(app, environment, endpoint, now: now)
            },
            rest: { app, environment, endpoint, until throws(Fault) in
                try ledger.restStore(app, environment, endpoint, until: until)
            },
            send: { [lines] request throws(OutboundError) in try lines.send(request) },
            machineClock: outside.machineClock, pause: { pause(milliseconds: $0) })
        let client = AppStoreClient(way)
        let judge = ReceiptClient(way, prover: prover)
        self.vault = vault
        port = StorePort(
            judge: { judge.judge($0) },
            ask: { call, app, environment throws(StoreTrouble) in
                try client.ask(call, about: app, in: environment)
            })
        credentials = CredentialsPort(
            change: { app, change, write, actor, now throws(CommandError) in
                try vault.change(app, change, at: write, by: actor, now: now)
            },
            digest: { change throws(CommandError) in try vault.digest(of: change) },
            forget: { app, version throws(Fault) in
                try ledger.forgetCredentials(of: app, before: version)
            },
            statuses: { project throws(Fault) in
                let kept = try ledger.credentials(of: project)
                return Dictionary(kept.map { ($0.app.key, $0.status) }) { first, _ in first }
            })
    }

    /// Says whose stores cannot be asked, so that operators learn of it in time.
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

    /// Gives up what is being asked of stores.
    package func close() { lines.close() }
}

/// The way to other servers, which most commands never go.
private final class OutboundLines: Sendable {
    private struct State {
        var courier: Courier?
        var isClosed = false
    }
    private let state = Mutex(State())

    func send(_ request: OutboundRequest) throws(OutboundError) -> OutboundResponse {
        let courier = try state.withLock { state throws(OutboundError) -> Courier in
            if state.isClosed { throw .cancelled }
            if let courier = state.courier { return courier }
            let courier = try Courier()
            state.courier = courier
            return courier
        }
        return try courier.send(request)
    }

    func close() {
        let courier = state.withLock { state in
            state.isClosed = true
            return state.courier
        }
        courier?.close()
    }
}
