import Core
import JSON
import Ledger
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Credentials over HTTP")
struct CredentialCallTests {
    private let service: TestService
    private let admin: NewKey
    private let path = "/v1/apps/com.example.game"
    private let app: AppKey
    private let project: ProjectID
    private let pem = MintedKey(.p256).pem

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        app = AppKey(store: .apple, id: try AppID("com.example.game"))
        project = try ProjectID("default")
    }

    private func sender(key: String?) throws -> Sender {
        Sender(actor: try Actor("test"), idempotencyKey: key)
    }

    private func removal() throws -> Wish<AppAnswer> {
        service.useCases.apps.removing(app, of: project, by: try sender(key: nil))
    }

    private func set(_ secret: String, key: String, by ports: Ports? = nil) throws {
        let useCases = UseCases(ports ?? service.ports)
        var change = CredentialsChange()
        change.secrets["shared_secret"] = secret
        _ = try service.ledger.perform(
            useCases.apps.setting(
                app, AppChange(), change, of: project, as: .operator, by: sender(key: key)))
    }

    /// Makes a call that fails after its event is committed.
    private func breakOff(_ secret: String, key: String) throws {
        var ports = service.ports
        ports.credentials = TappedCredentials(ports.credentials) {
            _, _, _, _, _ throws(CommandError) in
            throw .fault(.unavailable)
        }
        let broken = ports
        #expect(throws: CommandError.fault(.unavailable)) {
            try set(secret, key: key, by: broken)
        }
    }

    private func put(_ credentials: JSON, idempotencyKey: String? = nil) -> Reply {
        let body: JSON = ["credentials": credentials]
        return service.send(
            "PUT", path, key: admin, body: body.text, idempotencyKey: idempotencyKey)
    }

    private func keptSecret() throws -> String? {
        try service.credentials(of: "com.example.game").secrets["shared_secret"]
    }

    private func told(_ reply: Reply) throws -> String? {
        try reply.json["app"]?["credentials"]?.text
    }

    private var key: JSON {
        [
            "issuer_id": "57246542-96fe-1a63-e053-0824d011072a", "key_id": "2X9R4HXF34",
            "key": .string(pem), "shared_secret": "s3cr3t",
        ]
    }

    @Test("Credentials are stored, reported as present, kept when left out, and deleted by null")
    func kept() throws {
        let all = #"{"api_key":true,"shared_secret":true,"store_url":null}"#
        #expect(try told(put(key)) == all)
        #expect(try told(service.send("PUT", path, key: admin, body: "{}")) == all)
        let shown = service.send("GET", "/v1/settings", key: admin)
        #expect(!shown.text.contains("s3cr3t") && !shown.text.contains("2X9R4HXF34"))
        #expect(
            try told(put(["shared_secret": .null]))?.contains(#""shared_secret":false"#) == true)
        #expect(
            try told(put(.null)) == #"{"api_key":false,"shared_secret":false,"store_url":null}"#)
    }

    @Test("Credentials leave with their app, and do not come back with it")
    func removed() throws {
        _ = put(key)
        #expect(service.send("DELETE", path, key: admin).status == 200)
        let again = service.send("PUT", path, key: admin, body: "{}")
        #expect(try told(again)?.contains("true") == false)
    }

    @Test("A part in the wrong form is named")
    func invalid() throws {
        let wrong: [(String, JSON, String)] = [
            ("issuer_id", "me", "credentials_invalid"), ("key_id", "A B", "credentials_invalid"),
            ("key", "no key", "credentials_invalid"),
            ("shared_secret", "two\nlines", "credentials_invalid"),
        ]
        for (name, value, code) in wrong {
            var object = JSONObject()
            for member in key.object?.members ?? [] {
                object.append(member.name, member.name == name ? value : member.value)
            }
            let reply = put(.object(object))
            #expect(reply.status == 400)
            #expect(try reply.json["code"] == .string(code))
            #expect(try reply.json["member"] == .string("credentials.\(name)"))
            #expect(!reply.text.contains("PRIVATE KEY"))
        }
        #expect(put(["key_id": "A1"]).status == 400)
        #expect(put(["store_url": "http://127.0.0.1:9090"]).status == 400)
        #expect(put("key").status == 400)
        #expect(try service.database.number("select count(*) from deed.store_credentials") == 0)
    }

    @Test("While a store on this machine is in use, only the operator can set credentials")
    func storeOnThisMachine() throws {
        func address(_ url: String?) throws {
            var change = CredentialsChange()
            change.address = .some(url.flatMap { StoreAddress($0) })
            _ = try service.ledger.perform(
                service.useCases.apps.setting(
                    app, AppChange(), change, of: project, as: .operator, by: sender(key: nil)))
        }
        try address("http://127.0.0.1:9090")
        let events = try service.eventCount()
        for credentials in [key, ["shared_secret": "s3cr3t"]] {
            let reply = put(credentials)
            #expect(reply.status == 409 && reply.code == "store_on_this_machine", "\(reply.text)")
            #expect(reply.text.contains("http://127.0.0.1:9090"))
        }
        #expect(try keptSecret() == nil)
        #expect(try service.eventCount() == events)
        // Other changes to the app still work, and so does removing credentials.
        try set("practice", key: "k1")
        #expect(service.send("PUT", path, key: admin, body: #"{"apple_id":7}"#).status == 200)
        #expect(try keptSecret() == "practice")
        #expect(put(["shared_secret": .null]).status == 200)
        #expect(try keptSecret() == nil)
        try address(nil)
        #expect(put(key).status == 200)
        #expect(try keptSecret() == "s3cr3t")
    }

    @Test("Credentials are in no event, and in none of the log's tables")
    func log() throws {
        _ = put(key)
        let before = try service.eventCount()
        var other = JSONObject()
        other.append("shared_secret", "other")
        _ = put(.object(other))
        #expect(try service.eventCount() == before)
    }

    @Test("A repeated write does not undo later writes")
    func repeated() throws {
        _ = service.send("PUT", path, key: admin, body: "{}")
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        #expect(put(["shared_secret": "second"], idempotencyKey: "k2").status == 200)
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        #expect(try keptSecret() == "second")
        #expect(put(["shared_secret": .null], idempotencyKey: "k3").status == 200)
        #expect(put(["shared_secret": "second"], idempotencyKey: "k2").status == 200)
        #expect(try keptSecret() == nil)
    }

    @Test("The log decides which write is later, even if clocks differ")
    func skewedClocks() throws {
        _ = service.send("PUT", path, key: admin, body: "{}")
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        service.clock.advance(byMilliseconds: -60_000)
        #expect(put(["shared_secret": "second"]).status == 200)
        service.clock.advance(byMilliseconds: 60_000)
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        #expect(try keptSecret() == "second")
        // By the clock, this write is later than the next ones, but the log's order counts.
        service.clock.advance(byMilliseconds: 60_000)
        #expect(put(["shared_secret": "third"]).status == 200)
        service.clock.advance(byMilliseconds: -60_000)
        try breakOff("fourth", key: "k4")
        try set("fourth", key: "k4")
        #expect(try keptSecret() == "fourth")
    }

    @Test("A late write does not overwrite a later call's")
    func late() throws {
        _ = service.send("PUT", path, key: admin, body: "{}")
        var later = CredentialsChange()
        later.secrets["shared_secret"] = "second"
        let ports = service.ports
        let wish = service.useCases.apps.setting(
            app, AppChange(), later, of: project, as: .operator, by: try sender(key: "k2"))
        var stalled = ports
        stalled.credentials = TappedCredentials(ports.credentials) {
            app, change, write, actor, now throws(CommandError) in
            _ = try ports.ledger.perform(wish)
            return try ports.credentials.change(
                app, change, at: write, by: actor, now: now)
        }
        try set("first", key: "k1", by: stalled)
        #expect(try keptSecret() == "second")
    }

    @Test(
        "Nothing remains of an app that is removed while it is set again",
        arguments: [true, false])
    func removedMeanwhile(removalDies: Bool) throws {
        _ = put(["shared_secret": "first"])
        let (ledger, removal) = (service.ledger, try removal())
        let setting = TappedLog(ledger) { set throws(CommandError) in
            let outcome = Mutex<Outcome?>(nil)
            let removing = TappedLog(ledger) { remove throws(CommandError) in
                let removed = try ledger.append(remove)
                let again = try ledger.append(set)
                outcome.withLock { $0 = again }
                if removalDies { throw .fault(.unavailable) }
                return removed
            }
            _ = try? removing.perform(removal)
            guard let outcome = outcome.withLock({ $0 }) else { throw .fault(.unavailable) }
            return outcome
        }
        let answer = try setting.perform(
            service.useCases.apps.setting(
                app, AppChange(), of: project, as: .operator, by: sender(key: nil)))
        #expect(answer.app != nil && answer.credentials?.hasSharedSecret != true)
        #expect(try keptSecret() == nil)
    }

    @Test("A call from before an app's removal gives nothing to a new app with its name")
    func formerApp() throws {
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        #expect(service.send("DELETE", path, key: admin).status == 200)
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        #expect(service.send("PUT", path, key: admin, body: "{}").status == 200)
        #expect(try keptSecret() == nil)
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        #expect(try keptSecret() == nil)
    }

    @Test("One key cannot stand for two secrets")
    func oneKey() throws {
        #expect(put(["shared_secret": "first"], idempotencyKey: "k1").status == 200)
        let other = put(["shared_secret": "second"], idempotencyKey: "k1")
        #expect(other.status == 422, "\(other.text)")
        #expect(try keptSecret() == "first")
    }

    @Test("A repetition completes a write that broke off after its event")
    func brokenOff() throws {
        try breakOff("first", key: "k1")
        #expect(try keptSecret() == nil)
        try set("first", key: "k1")
        #expect(try keptSecret() == "first")
    }

    @Test("A repeated removal takes nothing from an app that was set again since")
    func removedAgain() throws {
        _ = put(["shared_secret": "first"])
        func remove() -> Reply {
            service.send("DELETE", path, key: admin, idempotencyKey: "k1")
        }
        #expect(remove().status == 200)
        #expect(try keptSecret() == nil)
        _ = put(["shared_secret": "second"])
        #expect(remove().status == 200)
        #expect(try keptSecret() == "second")
    }

    @Test("A failed removal leaves the app's credentials in place")
    func removalFails() throws {
        _ = put(["shared_secret": "first"])
        let ledger = TappedLog(service.ledger) { _ throws(CommandError) in
            throw .fault(.unavailable)
        }
        let removal = try removal()
        #expect(throws: CommandError.fault(.unavailable)) { try ledger.perform(removal) }
        #expect(try keptSecret() == "first")
    }
}
