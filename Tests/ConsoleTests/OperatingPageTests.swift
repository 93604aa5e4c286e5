import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Compares the pages about a project with the API's answers.
@Suite("The pages about a project", .timeLimit(.minutes(5)))
struct OperatingPageTests {
    private static let home = "/console/p/default"
    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
    }

    private func webhook(_ description: String = "the game") throws -> String {
        let body: JSON = [
            "url": "https://example.com/hook", "description": .string(description),
        ]
        let made = desk.service.send("POST", "/v1/webhooks", key: desk.admin, body: body.text)
        #expect(made.status == 201, "\(made.text)")
        return try #require(try made.json["id"]?.string)
    }

    private func state(of webhook: String) throws -> String? {
        try desk.service.send("GET", "/v1/webhooks/\(webhook)", key: desk.admin)
            .json["state"]?.string
    }

    @Test("The overview says what the status says, and to each role what it may see")
    func overview() throws {
        let page = browser.get(OperatingPageTests.home).text
        let needs = try desk.service.send("GET", "/v1/status", key: desk.admin).json["needs"]
        for need in needs?.array ?? [] {
            let code = try #require(need["code"]?.string)
            #expect(page.contains("<h3>\(code.replacing("_", with: " ")) "), "\(code)")
        }
        if needs?.array?.isEmpty ?? true { #expect(page.contains("All is well")) }
        #expect(page.shown.contains("0 purchases that no customer claimed in production"))
        #expect(page.contains("<a href=\"\(OperatingPageTests.home)/webhooks\">Webhooks</a>"))
        let bob = try desk.visitor("bob@example.com", .reader)
        let readers = bob.get(OperatingPageTests.home).text
        #expect(readers.contains("Find a customer") && readers.contains("requested refunds"))
        for word in ["What needs attention", "no customer claimed", "/webhooks\"", "/settings\""] {
            #expect(!readers.contains(word), "\(word)")
        }
    }

    @Test("Purchases without a customer are listed in their environment")
    func unclaimed() throws {
        #expect(desk.leave("40").status == 200)
        let page = browser.get("\(OperatingPageTests.home)/unclaimed").text
        #expect(page.contains("<code>apple:40</code>") && page.contains("6f0a4f0e-8a0e-4b43"))
        let sandbox = browser.get("\(OperatingPageTests.home)/unclaimed?environment=sandbox").text
        #expect(sandbox.contains("This is the sandbox") && !sandbox.contains("apple:40"))
        #expect(
            browser.get(OperatingPageTests.home).text.shown
                .contains("1 purchases that no customer claimed in production"))
        #expect(browser.get("\(OperatingPageTests.home)/unclaimed?after=x").status == 400)
    }

    @Test("A requested refund leads to its customer")
    func refunds() throws {
        let sale = Sale("41", "level2", .nonConsumable, at: desk.daysAgo(1))
        #expect(desk.submit(sale).status == 200)
        let body = desk.store.notification(
            "CONSUMPTION_REQUEST", id: "n-41", at: desk.daysAgo(0),
            transaction: desk.store.transaction(sale), reason: "UNINTENDED_PURCHASE")
        let sent = desk.service.send("POST", "/v1/stores/apple/notifications", body: body)
        #expect(sent.status == 200, "\(sent.text)")
        let page = browser.get("\(OperatingPageTests.home)/refunds").text
        #expect(page.contains("<a href=\"\(OperatingPageTests.home)/customers/u1\">u1</a>"))
        #expect(page.contains("unintended purchase"))
    }

    @Test("A webhook is paused and resumed by buttons that only its own page can press")
    func webhooks() throws {
        let id = try webhook()
        let place = "\(OperatingPageTests.home)/webhooks/\(id)"
        let list = browser.get("\(OperatingPageTests.home)/webhooks").text
        #expect(list.contains("<a href=\"\(place)\">\(id)</a>"))
        #expect(list.contains("https://example.com/hook"))
        let page = browser.get(place).text
        #expect(page.contains("Pause it") && !page.contains("Resume it"))
        let before = try desk.service.eventCount()
        browser.site = "cross-site"
        #expect(browser.post("\(place)/pause").status == 403)
        browser.site = "same-origin"
        #expect(browser.post("\(place)/pause", token: "x").status == 403)
        #expect(browser.get("\(place)/pause").status == 405)
        #expect(try desk.service.eventCount() == before)
        let bob = try desk.visitor("bob@example.com", .support)
        _ = bob.get(OperatingPageTests.home)
        #expect(bob.post("\(place)/pause").status == 403)
        #expect(try state(of: id) == "active")
        _ = browser.get(place)
        let paused = browser.post("\(place)/pause")
        #expect(paused.header("Location") == "\(place)?done=pause", "\(paused.text)")
        #expect(try state(of: id) == "paused")
        let after = browser.get("\(place)?done=pause").text
        #expect(after.contains("The webhook is paused.") && after.contains("Resume it"))
        #expect(browser.post("\(place)/resume").status == 303)
        #expect(try state(of: id) == "active")
        let unknown = browser.post("\(place)/replay", ["event": "nothing"])
        #expect((400..<500).contains(unknown.status), "\(unknown.text)")
        // The trail shows both acts, with the person as the actor.
        let trail = browser.get("\(OperatingPageTests.home)/trail").text
        #expect(trail.contains("webhook"), "\(trail)")
    }

    @Test("The catalog and the settings are tables of what the calls answer")
    func tables() throws {
        let catalog = browser.get("\(OperatingPageTests.home)/catalog").text
        for id in ["coins.100", "level2", "pro.month"] {
            #expect(catalog.contains("<code>\(id)</code>"), "\(id)")
        }
        #expect(catalog.contains("100 coins") && catalog.contains("auto renewable"))
        let settings = browser.get("\(OperatingPageTests.home)/settings").text
        #expect(settings.contains("<code>\(Payload.bundleID)</code>"))
        #expect(settings.contains("pro: P30D"), "\(settings)")
        let keys = try desk.service.send("GET", "/v1/keys", key: desk.admin).json["keys"]
        for key in keys?.array ?? [] {
            let id = try #require(key["id"]?.string)
            #expect(settings.contains("<code>\(id)</code>"))
        }
        for key in [desk.admin, desk.backend] { #expect(!settings.contains(key.text)) }
    }

    @Test("What others wrote shows as text", arguments: MarkupTests.texts)
    func hostile(_ text: String, _ shown: String) throws {
        // Names and descriptions may not contain invisible formatting characters.
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .format }) {
            return
        }
        let id = try webhook(text)
        _ = try desk.service.key(.reader, name: text)
        for target in ["webhooks/\(id)", "settings"] {
            let page = browser.get("\(OperatingPageTests.home)/\(target)")
            #expect(page.status == 200 && page.text.contains(shown), "\(page.text)")
            #expect(!page.text.contains("<script>alert") && !page.text.contains("<img"))
        }
    }
}
