import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@Suite("The permissions of people", .timeLimit(.minutes(20)))
struct PermissionTests {
    struct Row: Sendable {
        let call: String
        /// The address, in which `{…}` stands for the id of an object on the stage.
        let target: String
        /// The roles that get the page; `nil` if strangers also get it.
        let roles: [Role]?
        /// The fields of the form.
        var fields: [String: String] = [:]
        /// The expected status for roles that may get the page.
        var status = 200
    }

    private static let everyone: [Role] = [.reader, .support, .admin]
    private static let helpers: [Role] = [.support, .admin]
    private static let reasons = ["reason": "why", "ticket": "T-1", "step": "show"]

    private static func form(
        _ pattern: String, _ roles: [Role], _ fields: [String: String] = [:],
        opening: Int = 200, sending: Int = 200
    ) -> [Row] {
        let route = "/console/p/{project}/customers/{customer}\(pattern)"
        let target = route.replacing("{project}", with: "default")
            .replacing("{customer}", with: "u1").replacing("{currency}", with: "coins")
            .replacing("{order}", with: "o1")
        return [
            Row(call: "GET \(route)", target: target, roles: roles, status: opening),
            Row(
                call: "POST \(route)", target: target, roles: roles,
                fields: reasons.merging(fields) { $1 }, status: sending),
        ]
    }

    private static let pages: [Row] = [
        Row(call: "GET /console/style.css", target: "/console/style.css", roles: nil),
        Row(call: "GET /console/script.js", target: "/console/script.js", roles: nil),
        Row(call: "GET /console/sign-in", target: "/console/sign-in", roles: nil),
        Row(
            call: "POST /console/sign-in", target: "/console/sign-in", roles: nil,
            fields: ["email": "x@example.com", "password": "x"], status: 403),
        Row(
            call: "GET /console/sign-in/code", target: "/console/sign-in/code", roles: nil,
            status: 303),
        Row(
            call: "POST /console/sign-in/code", target: "/console/sign-in/code", roles: nil,
            fields: ["code": "000000"], status: 401),
        Row(
            call: "GET /console/your-sign-in", target: "/console/your-sign-in", roles: everyone),
        Row(
            call: "POST /console/your-sign-in", target: "/console/your-sign-in", roles: everyone,
            fields: ["do": "offer", "password": Desk.password]),
        Row(
            call: "GET /console/link/{secret}", target: "/console/link/x", roles: nil,
            status: 404),
        Row(
            call: "POST /console/link/{secret}", target: "/console/link/x", roles: nil,
            fields: ["password": Desk.password, "again": Desk.password], status: 404),
        Row(call: "GET /console", target: "/console", roles: everyone, status: 303),
        Row(
            call: "GET /console/p/{project}", target: "/console/p/default", roles: everyone),
        Row(
            call: "GET /console/p/{project}/find", target: "/console/p/default/find?q=zz",
            roles: everyone),
        Row(
            call: "GET /console/p/{project}/trail", target: "/console/p/default/trail",
            roles: [.admin]),
        Row(
            call: "GET /console/p/{project}/customers/{customer}",
            target: "/console/p/default/customers/u1", roles: everyone),
    ]

    private static let acts: [[Row]] = [
        form("/grant", helpers, ["entitlement": "pro", "for": "P1D"]),
        form("/grants/{grant}/change", helpers, ["for": "P2D"]),
        form("/grants/{grant}/revoke", helpers),
        form("/balances/{currency}/adjust", [.admin], ["amount": "5"]),
        form("/purchases/{purchase}/transfer", helpers, ["to": "u2"]),
        form("/purchases/{purchase}/undo_transfer", helpers),
        form("/attach", helpers, ["purchase": "apple:4"]),
        form("/purchases/{purchase}/block", [.admin]),
        form("/purchases/{purchase}/unblock", [.admin]),
        form("/merge", helpers, ["into": "u9"]),
        form("/unmerge", helpers, opening: 409, sending: 409),
        form("/orders/{order}/close", helpers, ["because": "cancelled"], sending: 404),
        form("/note", helpers, ["text": " "], sending: 400),
        form("/notes/{note}/remove", helpers, sending: 404),
        form("/erase", [.admin], ["id": "u1"], sending: 409),
    ]

    /// The pages of a webhook that does not exist.
    private static let operating: [Row] = {
        let home = "/console/p/{project}"
        func row(_ call: String, _ roles: [Role], status: Int = 200) -> Row {
            let path = String(call.split(separator: " ")[1])
            let target = path.replacing("{project}", with: "default")
                .replacing("{webhook}", with: "wh_1").replacing("{id}", with: "x")
                .replacing("{figure}", with: "ending").replacing("{key}", with: "k_none")
                .replacing("{customer}", with: "u1").replacing("{evidence}", with: "x")
            return Row(
                call: call, target: target, roles: roles, fields: ["event": "x"], status: status)
        }
        let acts = ["pause", "resume", "test", "replay"]
        return [
            row("GET \(home)/unclaimed", [.admin]), row("GET \(home)/refunds", everyone),
            row("GET \(home)/webhooks", [.admin]),
            row("GET \(home)/webhooks/{webhook}", [.admin], status: 404),
            row("GET \(home)/attach", helpers, status: 400),
            row("GET \(home)/figures", everyone),
            row("GET \(home)/figures/{figure}", everyone),
            row("GET \(home)/intake", [.admin]),
            row("GET \(home)/intake/{id}", [.admin], status: 404),
            row("POST \(home)/intake/{id}", [.admin], status: 400),
            row("GET \(home)/customers/{customer}/evidence", everyone),
            row("GET \(home)/customers/{customer}/evidence/{evidence}/file", [.admin], status: 400),
            row("GET \(home)/settings/keys/{key}/revoke", [.admin], status: 404),
            row("POST \(home)/settings/keys/{key}/revoke", [.admin], status: 404),
            row("GET \(home)/catalog/edit", [.admin]),
            row("POST \(home)/catalog/edit", [.admin], status: 400),
            row("GET \(home)/catalog/history", [.admin]),
            row("GET \(home)/catalog/history/{change}", [.admin], status: 400),
            row("GET \(home)/catalog", [.admin]), row("GET \(home)/settings", [.admin]),
        ] + acts.map { row("POST \(home)/webhooks/{webhook}/\($0)", [.admin], status: 404) }
    }()

    /// The last row, because it ends the session.
    private static let end = Row(
        call: "POST /console/sign-out", target: "/console/sign-out", roles: everyone, status: 303)

    static let rows: [Row] = pages + acts.flatMap { $0 } + operating + [end]

    private let desk: Desk
    private let grant: String

    init() throws {
        desk = try Desk()
        let body = #"{"entitlement":"pro","for":"P3D","reason":"secret-reason","ticket":"T-1"}"#
        let given = desk.service.send(
            "POST", "/v1/customers/u1/grants", key: desk.admin, body: body)
        grant = try #require(try given.json["grant"]?["id"]?.string)
        let sales = [
            Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1)),
            Sale("2", "level2", .nonConsumable, at: desk.daysAgo(1)),
        ]
        for sale in sales { #expect(desk.submit(sale).status == 200) }
        #expect(
            desk.submit(Sale("3", "level2", .nonConsumable, at: desk.daysAgo(1)), for: "u9").status
                == 200)
        let move = #"{"to":"u1","reason":"r"}"#
        let moved = desk.service.send(
            "POST", "/v1/customers/u9/purchases/apple:3/transfer", key: desk.admin, body: move)
        #expect(moved.status == 200, "\(moved.text)")
        #expect(desk.leave("4").status == 200)
        let path = "/v1/customers/u1/purchases/apple:2/block"
        let blocked = desk.service.send("POST", path, key: desk.admin, body: #"{"reason":"r"}"#)
        #expect(blocked.status == 200)
        try desk.service.countFigures()
    }

    private func target(of row: Row) -> String {
        let purchase =
            row.call.hasSuffix("unblock")
            ? "apple:2" : row.call.hasSuffix("undo_transfer") ? "apple:3" : "apple:1"
        return row.target.replacing("{grant}", with: grant)
            .replacing("{purchase}", with: purchase)
    }

    private func send(_ row: Row, _ browser: Browser) -> Reply {
        let target = target(of: row)
        if row.call.hasPrefix("GET") { return browser.get(target) }
        return browser.post(target, row.fields)
    }

    private func rest(_ target: String) -> Bool { target.hasPrefix("/console") }

    @Test("The table has every page and form of the console")
    func complete() {
        let routed = desk.service.router.outlines
            .filter { rest($0.pattern) }.map { "\($0.method) \($0.pattern)" }
        #expect(Set(PermissionTests.rows.map(\.call)) == Set(routed))
        #expect(routed.count == PermissionTests.rows.count)
    }

    @Test("A person gets what the role permits, and nothing else")
    func roles() throws {
        let before = try desk.service.eventCount()
        for role in PermissionTests.everyone {
            let browser = try desk.visitor("\(role)@example.com", role)
            for row in PermissionTests.rows {
                _ = browser.get("/console/p/default")
                let reply = send(row, browser)
                let isAllowed = row.roles.map { $0.contains(role) } ?? true
                let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                #expect(reply.status == (isAllowed ? row.status : 403), "\(told)")
            }
        }
        #expect(try desk.service.eventCount() == before)
    }

    @Test("Without a session, and with one that has ended, a visitor sees and does nothing")
    func strangers() throws {
        let ended = try desk.visitor("ann@example.com", .admin)
        _ = ended.get("/console/p/default")
        let people = desk.service.useCases.people
        let ann = try people.list().first { $0.email.text == "ann@example.com" }
        try people.end(try #require(ann))
        let before = try desk.service.eventCount()
        for row in PermissionTests.rows where row.roles != nil {
            for browser in [Browser(desk.service), ended] {
                let reply = send(row, browser)
                let told = "\(row.call): \(reply.status) \(reply.text)"
                if row.call.hasPrefix("GET") {
                    #expect(reply.status == 303, "\(told)")
                    let isToDoor =
                        reply.header("Location")?.hasPrefix("/console/sign-in") ?? false
                    #expect(isToDoor, "\(told)")
                } else {
                    #expect(reply.status == 401, "\(told)")
                }
                #expect(!reply.text.contains("secret-reason") && !reply.text.contains(grant))
            }
        }
        #expect(try desk.service.eventCount() == before)
    }

    @Test("A person of another project sees nothing of this one, and does nothing in it")
    func otherProject() throws {
        try desk.service.createProject("other")
        let browser = try desk.visitor("eve@example.com", .admin, in: "other")
        let before = try desk.service.eventCount()
        for row in PermissionTests.rows where row.target.contains("/p/default") {
            _ = browser.get("/console/p/other")
            let reply = send(row, browser)
            #expect(reply.status == 404, "\(row.call): \(reply.status) \(reply.text)")
            #expect(!reply.text.contains("secret-reason") && !reply.text.contains(grant))
        }
        #expect(browser.get("/console/p/other/customers/u1").status == 200)
        #expect(!browser.get("/console/p/other/customers/u1").text.contains(grant))
        #expect(try desk.service.eventCount() == before)
    }

    @Test("Without the flag there is nothing below /console")
    func off() throws {
        let plain = try TestService(beside: desk.service)
        #expect(!plain.router.outlines.contains { rest($0.pattern) })
        for row in PermissionTests.rows {
            let method = String(row.call.split(separator: " ")[0])
            let reply = plain.sendUnchecked(method, target(of: row))
            #expect(try reply.status == 404 && reply.json["code"]?.string == "route_unknown")
        }
    }
}
