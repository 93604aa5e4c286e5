import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Settings and apps of a project over the API")
struct SettingsTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", key: NewKey? = nil,
        idempotencyKey: String? = nil
    ) -> Reply {
        service.send(
            method, target, key: key ?? admin,
            headers: idempotencyKey.map { [("Idempotency-Key", $0)] } ?? [], body: body)
    }

    private let app = "/v1/apps/com.example.game"

    @Test("A new project keeps purchases where they are, waits a day and a week, and has no app")
    func defaults() {
        #expect(
            send("GET", "/v1/settings").text
                == #"{"project":"default","settings":{"transfer":"keep","restore":null,"#
                + #""cool_down":"P1D","order_lifetime":"P7D","credit_limits":{},"refund_reports":null},"apps":[]}"#
        )
    }

    @Test("What is left out of a change stays, and null lets restoring follow the other rule")
    func changed() throws {
        let first = send(
            "PATCH", "/v1/settings",
            #"{"transfer":"transfer_if_inactive","restore":"transfer","cool_down":"PT12H"}"#)
        #expect(
            first.text
                == #"{"project":"default","settings":{"transfer":"transfer_if_inactive","#
                + #""restore":"transfer","cool_down":"PT12H","order_lifetime":"P7D","#
                + #""credit_limits":{},"refund_reports":null}}"#)
        let second = send("PATCH", "/v1/settings", #"{"restore":null,"order_lifetime":"P1M"}"#)
        #expect(
            second.text
                == #"{"project":"default","settings":{"transfer":"transfer_if_inactive","#
                + #""restore":null,"cool_down":"PT12H","order_lifetime":"P1M","credit_limits":{},"refund_reports":null}}"#
        )
        let events = try service.eventCount()
        #expect(send("PATCH", "/v1/settings", #"{"order_lifetime":"P1M"}"#).text == second.text)
        #expect(send("PATCH", "/v1/settings", "{}").text == second.text)
        #expect(try service.eventCount() == events)
    }

    @Test("An app is put whole: what is left out becomes what a new app has")
    func put() throws {
        let whole = send(
            "PUT", app,
            #"{"apple_id":1234567890,"sandbox_access":"listed","sandbox_customers":["b","a","b"],"#
                + #""receipts":"store"}"#)
        let json =
            #"{"store":"apple","bundle_id":"com.example.game","apple_id":1234567890,"#
            + #""sandbox_access":"listed","sandbox_customers":["a","b"],"receipts":"store","#
            + #""credentials":{"api_key":false,"shared_secret":false,"store_url":null}}"#
        #expect(whole.status == 200)
        #expect(whole.text == #"{"project":"default","app":\#(json)}"#)
        #expect(try send("GET", "/v1/settings").json["apps"]?.text == "[\(json)]")
        let bare = send("PUT", app, "{}")
        #expect(
            bare.text
                == #"{"project":"default","app":{"store":"apple","bundle_id":"com.example.game","#
                + #""apple_id":null,"sandbox_access":"none","sandbox_customers":[],"#
                + #""receipts":"local","#
                + #""credentials":{"api_key":false,"shared_secret":false,"store_url":null}}}"#)
        let events = try service.eventCount()
        #expect(send("PUT", app, "{}").text == bare.text)
        #expect(try service.eventCount() == events)
    }

    @Test("The same key and body give the same bytes, whatever happened since")
    func repetition() throws {
        let set = send("PUT", app, #"{"receipts":"store"}"#, idempotencyKey: "a")
        let changed = send(
            "PATCH", "/v1/settings", #"{"transfer":"transfer"}"#, idempotencyKey: "b")
        let removed = send("DELETE", app, idempotencyKey: "c")
        _ = send("PATCH", "/v1/settings", #"{"transfer":"keep"}"#)
        let events = try service.eventCount()
        #expect(removed.text == #"{"project":"default","removed":"com.example.game"}"#)
        #expect(
            send("PUT", app, #"{"receipts":"store"}"#, idempotencyKey: "a").text == set.text)
        #expect(
            send("PATCH", "/v1/settings", #"{"transfer":"transfer"}"#, idempotencyKey: "b").text
                == changed.text)
        #expect(send("DELETE", app, idempotencyKey: "c").text == removed.text)
        let other = send("PUT", app, #"{"receipts":"local"}"#, idempotencyKey: "a")
        #expect(try other.json["code"]?.string == "idempotency_mismatch")
        #expect(try service.eventCount() == events)
    }

    @Test("An app has one project; once that lets go of it another may take it")
    func taken() throws {
        try service.createProject("other")
        let other = try service.key(.admin, project: "other")
        #expect(send("PUT", app, "{}").status == 200)
        let refused = send("PUT", app, "{}", key: other)
        #expect(refused.status == 409)
        #expect(try refused.json["code"]?.string == "app_taken")
        #expect(try service.ports.directory.apps().map(\.project) == [ProjectID("default")])
        #expect(send("DELETE", app).status == 200)
        #expect(try service.ports.directory.apps().isEmpty)
        #expect(send("PUT", app, "{}", key: other).status == 200)
        let key = AppKey(store: .apple, id: try AppID("com.example.game"))
        let project = try ProjectID("other")
        #expect(
            try service.ports.directory.apps() == [ListedApp(app: key, project: project)])
        let body = #"{"apple_id":1234567890,"receipts":"store","sandbox_access":"all"}"#
        #expect(send("PUT", app, body, key: other).status == 200)
        #expect(
            try service.ports.directory.apps()
                == [
                    ListedApp(
                        app: key, project: project, appleID: 1_234_567_890, receipts: .store,
                        countsSandbox: true)
                ])
    }
}
