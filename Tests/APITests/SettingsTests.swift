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

    @Test("A new project keeps purchases with holders, waits a day and a week, and has no app")
    func defaults() {
        #expect(
            send("GET", "/v1/settings").text
                == #"{"project":"default","settings":{"transfer":"keep","restore":null,"#
                + #""cool_down":"P1D","order_lifetime":"P7D","credit_limits":{},"refund_reports":null,"#
                + #""customers_per_account":3,"support_limits":{},"merge":"staff"},"apps":[],"#
                + #""allowed_apps":{"any":true,"bundle_ids":[]}}"#
        )
    }

    @Test("A member left out of a change stays, and null lets restoring follow the other rule")
    func changed() throws {
        let first = send(
            "PATCH", "/v1/settings",
            #"{"transfer":"transfer_if_inactive","restore":"transfer","cool_down":"PT12H"}"#)
        #expect(
            first.text
                == #"{"project":"default","settings":{"transfer":"transfer_if_inactive","#
                + #""restore":"transfer","cool_down":"PT12H","order_lifetime":"P7D","#
                + #""credit_limits":{},"refund_reports":null,"customers_per_account":3,"#
                + #""support_limits":{},"merge":"staff"}}"#)
        let second = send("PATCH", "/v1/settings", #"{"restore":null,"order_lifetime":"P1M"}"#)
        #expect(
            second.text
                == #"{"project":"default","settings":{"transfer":"transfer_if_inactive","#
                + #""restore":null,"cool_down":"PT12H","order_lifetime":"P1M","credit_limits":{},"refund_reports":null,"customers_per_account":3,"#
                + #""support_limits":{},"merge":"staff"}}"#
        )
        let events = try service.eventCount()
        #expect(send("PATCH", "/v1/settings", #"{"order_lifetime":"P1M"}"#).text == second.text)
        #expect(send("PATCH", "/v1/settings", "{}").text == second.text)
        #expect(try service.eventCount() == events)
    }

    @Test("An app is replaced completely: a member left out gets a new app's default")
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

    @Test("A key adds only apps that the operator allowed, until the permission is withdrawn")
    func allowed() throws {
        try service.createProject("closed", allowsAnyApp: false)
        let key = try service.key(.admin, project: "closed")
        let game = AppAllowance.app(AppKey(store: .apple, id: try AppID("com.example.game")))
        func code() throws -> String? {
            let reply = send("PUT", app, "{}", key: key)
            return reply.status == 200 ? nil : try reply.json["code"]?.string
        }
        func allowed() throws -> String? {
            try send("GET", "/v1/settings", key: key).json["allowed_apps"]?.text
        }
        let events = try service.eventCount()
        #expect(try code() == "app_not_allowed")
        #expect(send("PUT", app, "{}", key: key).status == 403)
        #expect(try service.eventCount() == events)
        #expect(try allowed() == #"{"any":false,"bundle_ids":[]}"#)
        try service.allow(game, in: "closed")
        #expect(try allowed() == #"{"any":false,"bundle_ids":["com.example.game"]}"#)
        #expect(try code() == nil)
        try service.allow(game, isTakenBack: true, in: "closed")
        // The project already has the app, so the change needs no permission.
        #expect(try code() == nil)
        #expect(send("DELETE", app, key: key).status == 200)
        #expect(try code() == "app_not_allowed")
        try service.allow(.any, in: "closed")
        #expect(try allowed() == #"{"any":true,"bundle_ids":[]}"#)
        #expect(try code() == nil)
    }

    @Test(
        "A project learns nothing about forbidden apps, and takes nothing from later owners"
    )
    func foreign() throws {
        try service.createProject("thief", allowsAnyApp: false)
        let thief = try service.key(.admin, project: "thief")
        // The answer must not reveal whether another project has the app.
        let before = send("PUT", app, "{}", key: thief)
        #expect(send("PUT", app, "{}").status == 200)
        let after = send("PUT", app, "{}", key: thief)
        #expect(before.status == 403 && after.text == before.text)
        #expect(try service.ports.directory.apps().map(\.project) == [ProjectID("default")])
    }

    @Test("An app has one project; once that removes it, another may take it")
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
