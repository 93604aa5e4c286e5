import API
import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Keys in the console", .timeLimit(.minutes(5)))
struct KeyPageTests {
    private static let settings = "/console/p/default/settings"
    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
    }

    private func place(_ key: NewKey) -> String {
        "\(KeyPageTests.settings)/keys/\(key.key)/revoke"
    }

    private func isLive(_ key: NewKey) throws -> Bool {
        try desk.service.keys.reload()
        return desk.service.send("GET", "/v1/customers/u1", key: key).status != 401
    }

    private func events() throws -> Int64 { try desk.service.eventCount() }

    @Test("From the list, a key is revoked in two steps, with a reason that the trail has")
    func revoke() throws {
        let key = try desk.service.key(.reader, name: "lobby")
        #expect(try isLive(key))
        let list = browser.get(KeyPageTests.settings).text
        #expect(list.contains("<a href=\"\(place(key))\">Revoke \(key.key)</a>"), "\(list)")
        let before = try events()
        let form = browser.get(place(key))
        #expect(form.status == 200 && form.text.shown.contains("Name lobby"))
        #expect(form.text.shown.contains("Nothing has been done yet."))
        #expect(try events() == before && isLive(key))
        var fields = Browser.hidden(in: form.text)
        fields["reason"] = "it was in a public repository"
        fields["ticket"] = "T-9"
        let done = browser.post(place(key), fields)
        #expect(done.header("Location") == "\(KeyPageTests.settings)?revoked=\(key.key)")
        #expect(try !isLive(key) && events() == before + 1)
        let after = browser.get("\(KeyPageTests.settings)?revoked=\(key.key)").text
        #expect(after.shown.contains("The key \(key.key) is revoked."))
        #expect(!after.contains(place(key)) && !after.contains(key.text))
        let trail = desk.service.send("GET", "/v1/trail?action=key.revoked", key: desk.admin)
        let entry = try #require(try trail.json["entries"]?.array?.first, "\(trail.text)")
        #expect(entry["reason"]?.string == "it was in a public repository")
        #expect(entry["ticket"]?.string == "T-9")
        #expect(entry["actor"]?.string?.hasPrefix("person:pe_") ?? false)
        // Pressing the button again changes nothing, even if another person presses it.
        #expect(browser.post(place(key), fields).status == 303)
        fields["mark"] = "another"
        #expect(browser.post(place(key), fields).status == 303)
        #expect(try events() == before + 1)
        #expect(browser.get(place(key)).text.shown.contains("The key no longer works."))
    }

    @Test(
        "Nothing is revoked without a reason, by a form from elsewhere, by GET, or by a lesser role"
    )
    func refused() throws {
        let key = try desk.service.key(.backend, name: "game")
        let fields = ["reason": "why", "mark": "m"]
        let before = try events()
        _ = browser.get(place(key))
        for reason in ["", "   ", String(repeating: "x", count: 300)] {
            let page = browser.post(place(key), ["reason": reason, "mark": "m"])
            #expect(page.status == 400 && page.text.contains("role=\"alert\""), "\(page.status)")
        }
        #expect(browser.post(place(key), fields, token: "x").status == 403)
        browser.site = "cross-site"
        #expect(browser.post(place(key), fields).status == 403)
        browser.site = "same-origin"
        #expect(browser.get("\(place(key))?reason=why&mark=m").status == 200)
        for role in [Role.reader, .support] {
            let bob = try desk.visitor("\(role.rawValue)@example.com", role)
            _ = bob.get("/console/p/default")
            #expect(bob.get(place(key)).status == 403)
            #expect(bob.post(place(key), fields).status == 403)
        }
        #expect(try events() == before && isLive(key))
    }

    @Test("A key of another project is unknown here, and stays")
    func otherProject() throws {
        try desk.service.createProject("other")
        let key = try desk.service.key(.reader, project: "other")
        #expect(browser.get(place(key)).status == 404)
        _ = browser.get(KeyPageTests.settings)
        #expect(browser.post(place(key), ["reason": "why", "mark": "m"]).status == 404)
        #expect(try isLive(key))
    }

    @Test("No key can make these calls: a leaked one revokes no other")
    func onlyPages() throws {
        let key = try desk.service.key(.reader)
        let reply = desk.service.sendUnchecked(
            "POST", "/v1/keys/\(key.key)/revoke", key: desk.admin, body: #"{"reason":"r"}"#)
        #expect(reply.status == 404)
        #expect(try isLive(key))
    }

    @Test("A name that others chose shows as text", arguments: MarkupTests.texts)
    func hostile(_ text: String, _ shown: String) throws {
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .format }) {
            return
        }
        let key = try desk.service.key(.reader, name: text)
        let page = browser.get(place(key)).text
        #expect(page.contains(shown) && !page.contains("<script>alert") && !page.contains("<img"))
        let said = browser.get("\(KeyPageTests.settings)?revoked=%3Cscript%3Ealert(1)%3C/script%3E")
            .text
        #expect(!said.contains("<script>alert"))
    }
}
