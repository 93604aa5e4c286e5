import Core
import Crypto
import Ledger
import Minting
import StoreAccess
import TestSupport
import Testing

@Suite("Credentials for stores", .timeLimit(.minutes(20)))
struct VaultTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let app: StoreApp
    private let now = Instant(milliseconds: 1_795_202_460_000)
    private let write = CredentialsWrite(version: 1, appSince: 1)

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
        app = StoreApp(
            project: try ProjectID("p"), key: AppKey(store: .apple, id: try AppID("com.example.a")))
    }

    private var change: CredentialsChange {
        var change = CredentialsChange()
        change.secrets = [
            "issuer_id": "57246542-96fe-1a63-e053-0824d011072a", "key_id": "2X9R4HXF34",
            "key": MintedKey(.p256).pem, "shared_secret": "s3cr3t",
        ]
        return change
    }

    private func set(_ change: CredentialsChange, _ keys: SecretKeyBytes...) throws {
        _ = try CredentialVault(ledger, keys)
            .change(app, change, at: write, by: Actor("a"), now: now)
    }

    @Test("Stored credentials come back, and the table does not reveal them")
    func kept() throws {
        defer { ledger.close() }
        let change = change
        try set(change, SecretKeyBytes(1))
        let vault = CredentialVault(ledger, [SecretKeyBytes(1)])
        #expect(try vault.credentials(of: app) == StoreCredentials().changed(by: change))
        let row = "select c::text from deed.store_credentials as c"
        let found = try database.number(
            "select count(*) from (\(row)) as r (t) where t like '%s3cr3t%' or t like '%2X9R4HXF34%'"
        )
        #expect(found == 0)
        var forget = CredentialsChange()
        forget.secrets["shared_secret"] = .some(nil)
        try set(forget, SecretKeyBytes(1))
        let rest = try vault.credentials(of: app)
        #expect(rest.secrets["shared_secret"] == nil && rest.secrets["key"] != nil)
    }

    @Test("Under another key, or moved to another app, credentials stay sealed")
    func shut() throws {
        defer { ledger.close() }
        try set(change, SecretKeyBytes(1))
        let stranger = CredentialVault(ledger, [SecretKeyBytes(2)])
        #expect(throws: StoreTrouble.locked(app.key.id)) { try stranger.credentials(of: app) }
        #expect(throws: StoreTrouble.locked(app.key.id)) {
            try CredentialVault(ledger, []).credentials(of: app)
        }
        #expect(try stranger.lockedApps() == [app])
        try database.run("update deed.store_credentials set app = 'com.example.b'")
        let other = StoreApp(
            project: app.project, key: AppKey(store: .apple, id: try AppID("com.example.b")))
        #expect(throws: StoreTrouble.locked(other.key.id)) {
            try CredentialVault(ledger, [SecretKeyBytes(1)]).credentials(of: other)
        }
        // Credentials cannot be opened in a row with another address, so they are never sent to it.
        try database.run(
            "update deed.store_credentials set app = 'com.example.a', address = 'http://127.0.0.1:9'"
        )
        #expect(throws: StoreTrouble.locked(app.key.id)) {
            try CredentialVault(ledger, [SecretKeyBytes(1)]).credentials(of: app)
        }
    }

    @Test("Replaced completely, credentials open again; a partial change is refused")
    func anew() throws {
        defer { ledger.close() }
        try set(change, SecretKeyBytes(1))
        var part = CredentialsChange()
        part.secrets["shared_secret"] = "other"
        #expect(throws: CommandError.self) { try set(part, SecretKeyBytes(2)) }
        try set(change, SecretKeyBytes(2))
        let vault = CredentialVault(ledger, [SecretKeyBytes(2)])
        #expect(try vault.credentials(of: app).secrets["shared_secret"] == "s3cr3t")
    }

    @Test("After a rotation the new key opens everything, and the old one nothing")
    func rotation() throws {
        defer { ledger.close() }
        try set(change, SecretKeyBytes(1))
        let keys = [SecretKeyBytes(2), SecretKeyBytes(1)]
        let vault = CredentialVault(ledger, keys)
        let secretKeys = try [2, 1].map { byte in
            try #require(SecretKey([UInt8](repeating: byte, count: 32)))
        }
        #expect(try vault.rotate(under: secretKeys) == 1)
        #expect(try vault.rotate(under: secretKeys) == 0)
        #expect(
            try CredentialVault(ledger, [SecretKeyBytes(2)]).credentials(of: app).secrets[
                "shared_secret"]
                == "s3cr3t")
        #expect(throws: StoreTrouble.locked(app.key.id)) {
            try CredentialVault(ledger, [SecretKeyBytes(1)]).credentials(of: app)
        }
    }

    @Test("An invalid key, id or secret is refused by its name")
    func invalid() throws {
        defer { ledger.close() }
        let good = change
        func refused(_ secrets: [String: String?]) -> String? {
            var change = good
            change.secrets.merge(secrets) { _, secret in secret }
            do {
                try set(change, SecretKeyBytes(1))
                return nil
            } catch CommandError.refused(.credentialsInvalid(let part)) {
                return part.name
            } catch {
                Issue.record("\(error)")
                return nil
            }
        }
        #expect(refused(["issuer_id": "me"]) == "issuer_id")
        #expect(refused(["key_id": "A 1"]) == "key_id")
        #expect(refused(["key": "no key"]) == "key")
        #expect(refused(["key": MintedKey(.p384).pem]) == "key")
        #expect(refused(["key": MintedKey(.rsa2048).pem]) == "key")
        #expect(refused(["shared_secret": "two\nlines"]) == "shared_secret")
        #expect(refused(["shared_secret": ""]) == "shared_secret")
        #expect(refused([:]) == nil)
    }

    @Test("A real store and a test clock exclude each other")
    func testClock() throws {
        defer { ledger.close() }
        let clock = TestClockTable(database.settings())
        try set(change, SecretKeyBytes(1))
        #expect {
            try clock.mark(at: now)
        } throws: { "\($0)".contains("DD008") }
        var forget = CredentialsChange()
        forget.secrets = change.secrets.mapValues { _ in nil }
        try set(forget, SecretKeyBytes(1))
        // Empty credentials need no key.
        #expect(try CredentialVault(ledger, []).credentials(of: app) == StoreCredentials())
        #expect(try CredentialVault(ledger, []).lockedApps() == [])
        try clock.mark(at: now)
        // The vault refuses even if it does not know about the test clock.
        let blind = CredentialVault(ClocklessTable(ledger), [SecretKeyBytes(1)])
        #expect(throws: CommandError.fault(.busy)) {
            try blind.change(app, change, at: write, by: Actor("a"), now: now)
        }
        #expect(throws: CommandError.refused(.realStoreOnTestClock)) {
            try set(change, SecretKeyBytes(1))
        }
        var here = change
        here.address = StoreAddress("http://127.0.0.1:9090")
        try set(here, SecretKeyBytes(1))
    }

    @Test("Only this machine's own addresses can replace the store")
    func addresses() {
        for text in [
            "http://127.0.0.1", "http://127.0.0.1:0", "http://127.0.0.1:70000",
            "https://127.0.0.1:1", "http://localhost:9090", "http://127.0.0.2:1",
            "http://127.0.0.1:1/x", "http://127.0.0.1:1@evil.example", "http://10.0.0.1:80",
            "http://127.0.0.1:+1", "",
        ] {
            #expect(StoreAddress(text) == nil, "\(text)")
        }
        #expect(StoreAddress("http://127.0.0.1:9090")?.url == "http://127.0.0.1:9090")
        #expect(StoreAddress("http://[::1]:1")?.url == "http://[::1]:1")
    }

    @Test("Credentials that are printed by mistake reveal nothing")
    func printed() {
        let all = StoreCredentials().changed(by: change)
        for text in ["\(all)", "\(change)", "\(all as Any?)", "\([all])"] {
            #expect(!text.contains("s3cr3t") && !text.contains("PRIVATE"), "\(text)")
        }
    }
}
