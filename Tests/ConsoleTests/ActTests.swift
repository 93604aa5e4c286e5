import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Tests what people do to customers in the console.
@Suite("Acting in the console", .timeLimit(.minutes(20)))
struct ActTests {
    private static let place = "/console/p/default/customers/u1"
    private static let gift = [
        "entitlement": "pro", "for": "P7D", "start": "now", "reason": "an outage", "ticket": "T-7",
    ]

    private let desk: Desk
    private let browser: Browser
    private let person: Person

    init() throws {
        desk = try Desk()
        person = try desk.person("ann@example.com", .admin)
        browser = try desk.browser("ann@example.com")
    }

    private func events(of customer: String = "u1") throws -> [JSON] {
        let reply = desk.service.send(
            "GET", "/v1/customers/\(customer)/events", key: desk.admin)
        return try reply.json["events"]?.array ?? []
    }

    private func grantID() throws -> String {
        try #require(try events().last { $0["type"] == "grant.given" }?["data"]?["grant"]?.string)
    }

    /// Sends the form of a page with these fields.
    private func send(_ page: Reply, to target: String, _ fields: [String: String]) -> Reply {
        browser.post(target, Browser.hidden(in: page.text).merging(fields) { $1 })
    }

    @Test("A note is written under the person's name, shown with its lines, and removed")
    func note() throws {
        let target = "\(ActTests.place)/note"
        let form = browser.get(target)
        #expect(form.status == 200 && !form.text.contains("name=\"reason\""))
        let done = send(form, to: target, ["text": "two phones", "ticket": "T-7"])
        #expect(done.status == 303, "\(done.text)")
        let page = browser.get(ActTests.place)
        #expect(page.text.shown.contains("two phones"))
        let added = try #require(try events().last)
        #expect(added["type"] == "note.added")
        #expect(added["actor"]?.string == "person:\(person.id)")
        let id = try #require(added["data"]?["note"]?.string)
        let removal = "\(ActTests.place)/notes/\(id)/remove"
        let removed = send(browser.get(removal), to: removal, ["reason": "old"])
        #expect(removed.status == 303, "\(removed.text)")
        #expect(try events().last?["type"] == "note.removed")
    }

    @Test("A refusal links to the page that helps, instead of naming a command")
    func remedy() {
        let target = "\(ActTests.place)/grant"
        let misspelt = ActTests.gift.merging(["step": "show", "entitlement": "prp"]) { $1 }
        let form = send(browser.get(target), to: target, misspelt)
        #expect(form.status == 400)
        #expect(form.text.shown.contains("the nearest name is \"pro\". Look at the catalog"))
        let link = #"<a href="/console/p/default/catalog">Look at the catalog</a>"#
        #expect(form.text.contains(link))
        #expect(!form.text.contains("--allow-unknown"), "\(form.text)")
        let absent = browser.get("/console/p/default/webhooks/wh_1")
        #expect(absent.status == 404 && absent.text.contains("/webhooks\">All webhooks</a>"))
        #expect(!absent.text.contains("deed webhook list"), "\(absent.text)")
    }

    @Test("A grant is shown before it is given, given once, and revoked by its undo")
    func grant() throws {
        let target = "\(ActTests.place)/grant"
        #expect(browser.get(target).status == 200)
        let shown = browser.post(target, ActTests.gift.merging(["step": "show"]) { $1 })
        #expect(shown.status == 200)
        let words = shown.text.shown
        #expect(words.contains("pro never held active since 2026-11-20 19:21:00 UTC"), "\(words)")
        #expect(words.contains("until 2026-11-27 19:21:00 UTC"), "\(words)")
        #expect(try events().isEmpty)
        let done = browser.press(shown, at: target)
        #expect(done.status == 303, "\(done.text)")
        let location = try #require(done.header("Location"))
        #expect(location == "\(ActTests.place)?done=0")
        // Pressing the button twice makes only one grant.
        let again = browser.press(shown, at: target)
        #expect([303, 409].contains(again.status))
        let given = try events().filter { $0["type"] == "grant.given" }
        #expect(given.count == 1)
        #expect(given.first?["actor"]?.string == "person:\(person.id)")
        #expect(given.first?["data"]?["ticket"] == "T-7")
        let page = browser.get(location)
        #expect(
            page.text.shown.contains(
                "Done. pro was given until 2026-11-27 19:21:00 UTC : an outage (T-7). Undo")
                || page.text.shown.contains("Done. pro was given until 2026-11-27 19:21:00 UTC"),
            "\(page.text.shown)")
        let undo = "\(ActTests.place)/grants/\(try grantID())/revoke"
        #expect(page.text.contains("<a href=\"\(undo)\">Undo</a>"))
        #expect(browser.act(undo, ["reason": "a mistake", "ticket": "T-7"]).status == 303)
        #expect(try events().last { $0["type"] == "grant.revoked" } != nil)
        // The trail shows both acts, with the person as the actor.
        let trail = browser.get("/console/p/default/trail?ticket=T-7").text.shown
        for word in ["grant.given", "grant.revoked", "person:\(person.id)", "a mistake"] {
            #expect(trail.contains(word), "\(trail)")
        }
    }

    @Test("A grant without a length is refused, and is not one for ever")
    func lengthless() throws {
        for length in [nil, "", "for ever"] as [String?] {
            var fields = ActTests.gift.merging(["step": "show"]) { $1 }
            fields["for"] = length
            _ = browser.get("\(ActTests.place)/grant")
            let shown = browser.post("\(ActTests.place)/grant", fields)
            #expect(shown.status >= 400, "\(shown.text.shown)")
        }
        #expect(try events().isEmpty)
    }

    @Test("A done line shows nothing of others, whatever the address says")
    func doneLine() throws {
        #expect(browser.act("\(ActTests.place)/grant", ActTests.gift).status == 303)
        let other = try desk.visitor("bob@example.com", .reader)
        #expect(!other.get("\(ActTests.place)?done=0").text.contains("Done."))
        #expect(!browser.get("\(ActTests.place)?done=99").text.contains("Done."))
        #expect(!browser.get(ActTests.place).text.contains("Done."))
    }

    @Test("What changed since the look is not overwritten")
    func meanwhile() throws {
        let target = "\(ActTests.place)/grant"
        _ = browser.get(target)
        let shown = browser.post(target, ActTests.gift.merging(["step": "show"]) { $1 })
        let body = #"{"amount":5,"reason":"r"}"#
        let moved = desk.service.send(
            "POST", "/v1/customers/u1/balances/coins/adjust", key: desk.admin, body: body)
        #expect(moved.status == 200)
        let late = browser.press(shown, at: target)
        #expect(late.status == 409 && late.text.contains("has changed since you looked"))
        #expect(try events().allSatisfy { $0["type"] != "grant.given" })
    }

    @Test(
        "A grant gets another end, a balance is adjusted, a purchase is blocked, each with its undo"
    )
    func others() throws {
        #expect(browser.act("\(ActTests.place)/grant", ActTests.gift).status == 303)
        let grant = try grantID()
        let reasons = ["reason": "why", "ticket": "T-8"]
        func act(_ rest: String, _ fields: [String: String] = [:]) throws -> String {
            let done = browser.act(
                "\(ActTests.place)/\(rest)", reasons.merging(fields) { $1 })
            #expect(done.status == 303, "\(rest): \(done.text.shown)")
            return browser.get(try #require(done.header("Location"))).text
        }
        #expect(try act("grants/\(grant)/change", ["for": "P30D"]).contains("The end of the grant"))
        #expect(try act("grants/\(grant)/change", ["for": "forever"]).contains("with no end"))
        let adjusted = try act("balances/coins/adjust", ["amount": "40"])
        #expect(adjusted.contains("balances/coins/adjust?amount=-40\">Undo"))
        #expect(try act("balances/coins/adjust", ["amount": "-40"]).contains("by -40 coins"))
        #expect(desk.submit(Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1))).status == 200)
        let blocked = try act("purchases/apple%3A1/block")
        #expect(blocked.contains("apple:1 was blocked"))
        #expect(blocked.contains("purchases/apple%3A1/unblock\">Undo"))
        #expect(try act("purchases/apple%3A1/unblock").contains("was removed"))
        let acts = try events().filter { $0["actor"]?.string == "person:\(person.id)" }
        #expect(acts.count == 7)
    }

    @Test("A purchase moves to another customer and back, and an unclaimed one is attached")
    func moves() throws {
        #expect(desk.submit(Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1))).status == 200)
        func isActive(_ customer: String) throws -> Bool? {
            let path = "/v1/customers/\(customer)/entitlements/level2"
            return try desk.service.send("GET", path, key: desk.admin).json["active"]?.bool
        }
        let other = "/console/p/default/customers/u2"
        func act(_ target: String, _ fields: [String: String]) throws -> String {
            let reasons = ["reason": "another account", "ticket": "T-9"]
            let done = browser.act(target, reasons.merging(fields) { $1 })
            #expect(done.status == 303, "\(target): \(done.text.shown)")
            return browser.get(try #require(done.header("Location"))).text
        }
        let moved = try act("\(ActTests.place)/purchases/apple%3A1/transfer", ["to": "u2"])
        #expect(moved.contains("Done."), "\(moved.shown)")
        #expect(moved.contains("<a href=\"\(other)/purchases/apple%3A1/undo_transfer\">Undo</a>"))
        #expect(try isActive("u1") == false && isActive("u2") == true)
        let back = try act("\(other)/purchases/apple%3A1/undo_transfer", [:])
        #expect(back.contains("Done.") && !back.contains(">Undo</a>"), "\(back.shown)")
        #expect(try isActive("u1") == true && isActive("u2") == false)
        #expect(desk.leave("40").status == 200)
        let attached = try act("\(other)/attach", ["purchase": "apple:40"])
        #expect(attached.contains("Done."), "\(attached.shown)")
        #expect(attached.contains("\(other)/purchases/apple%3A40/undo_transfer\">Undo</a>"))
        #expect(try isActive("u2") == true)
    }

    @Test("Support needs a ticket, stays within its limits, and is told in words")
    func support() throws {
        let bob = try desk.visitor("bob@example.com", .support)
        let target = "\(ActTests.place)/grant"
        #expect(bob.get(target).text.contains("Your role needs a ticket."))
        let untold = bob.act(target, ActTests.gift.filter { $0.key != "ticket" })
        #expect(untold.status == 400 && untold.text.contains("role=\"alert\""))
        let long = bob.act(target, ActTests.gift.merging(["for": "P90D"]) { $1 })
        #expect(long.status == 403 && long.text.contains("an outage"), "\(long.text)")
        #expect(bob.act(target, ActTests.gift).status == 303)
        // The trail shows the refusal, with the person as the actor.
        try desk.service.keys.refusals.write()
        let trail = browser.get("/console/p/default/trail?ticket=T-7").text.shown
        #expect(trail.contains("refused: support_limit"), "\(trail)")
        let people = try desk.service.useCases.people.list()
        let id = try #require(people.first { $0.email.text == "bob@example.com" }?.id)
        let own = browser.get("/console/p/default/trail?actor=person%3A\(id)").text.shown
        #expect(own.contains("support_limit") && own.contains("grant.given"), "\(own)")
    }

    @Test("The sandbox is apart, and a form stays in its environment")
    func sandbox() throws {
        let target = "\(ActTests.place)/grant?environment=sandbox"
        let done = browser.act(target, ActTests.gift)
        #expect(done.status == 303)
        #expect(done.header("Location") == "\(ActTests.place)?environment=sandbox&done=0")
        #expect(try events().isEmpty)
        let page = browser.get(try #require(done.header("Location"))).text
        #expect(page.contains("This is the sandbox") && page.contains("Done."))
        #expect(browser.get("\(ActTests.place)?environment=xx").status == 400)
    }
}
