import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Tests acts that take at most two presses, and acts on several things at once.
@Suite("Acting in two steps", .timeLimit(.minutes(20)))
struct TwoStepTests {
    private static let home = "/console/p/default"
    private static let place = "\(home)/customers/u1"
    private static let reasons = ["reason": "why", "ticket": "T-9"]

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

    private func isActive(_ customer: String, _ entitlement: String) throws -> Bool? {
        let path = "/v1/customers/\(customer)/entitlements/\(entitlement)"
        return try desk.service.send("GET", path, key: desk.admin).json["active"]?.bool
    }

    /// Opens the page that a short form leads to, and presses its button. Returns the customer's page.
    private func press(_ target: String, _ fields: [String: String] = reasons) throws -> String {
        let shown = browser.get(target)
        #expect(
            shown.status == 200 && shown.text.contains("Nothing has been done yet"), "\(shown.text)"
        )
        let place = String(target.split(separator: "?")[0])
        let sent = Browser.hidden(in: shown.text).merging(fields) { $1 }
        let done = browser.post(place, sent)
        #expect(done.status == 303, "\(target): \(done.text.shown)")
        return browser.get(try #require(done.header("Location"))).text
    }

    @Test("The customer's page has the form for a grant, and the next page the button")
    func grant() throws {
        let page = browser.get(TwoStepTests.place).text
        #expect(page.contains("action=\"\(TwoStepTests.place)/grant\""))
        #expect(
            page.contains("<option value=\"level2\">") && page.contains("<option value=\"pro\">"))
        let before = try desk.service.eventCount()
        let target = "\(TwoStepTests.place)/grant?entitlement=pro&for=P7D&start=now"
        let shown = browser.get(target)
        #expect(shown.text.shown.contains("pro never held active since"), "\(shown.text.shown)")
        #expect(try desk.service.eventCount() == before)
        #expect(try press(target).contains("Done. pro was given"))
        let given = try events().filter { $0["type"] == "grant.given" }
        #expect(given.count == 1 && given[0]["data"]?["reason"] == "why")
        #expect(given.first?["actor"]?.string == "person:\(person.id)")
        #expect(given.first?["data"]?["ticket"] == "T-9")
        // Without a reason, nothing happens, and the form comes back.
        let empty = browser.post(
            "\(TwoStepTests.place)/grant",
            Browser.hidden(in: browser.get(target).text).merging(["reason": " "]) { $1 })
        #expect(empty.status == 400 && empty.text.contains("role=\"alert\""), "\(empty.text)")
        #expect(try events().count == 1)
    }

    @Test("A dry run that is refused says why, and offers the form")
    func refused() {
        let reply = browser.get("\(TwoStepTests.place)/grant?entitlement=gold&for=P7D&start=now")
        #expect(reply.status >= 400 && reply.status < 500)
        #expect(reply.text.contains("role=\"alert\"") && reply.text.contains("name=\"reason\""))
    }

    @Test("Two customers become one, and the merge is taken back")
    func merge() throws {
        #expect(desk.submit(Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1))).status == 200)
        #expect(
            desk.submit(Sale("2", "coins.100", .consumable, at: desk.daysAgo(1)), for: "u2").status
                == 200)
        let merged = try press("\(TwoStepTests.place)/merge?into=u2")
        #expect(merged.contains("Done. The customer became part of u2"), "\(merged.shown)")
        #expect(merged.contains("<a href=\"\(TwoStepTests.place)/unmerge\">Undo</a>"))
        #expect(try isActive("u2", "level2") == true)
        let back = try press("\(TwoStepTests.place)/unmerge")
        #expect(back.contains("Done. The customer is no longer part of u2"), "\(back.shown)")
        #expect(try isActive("u2", "level2") == false && isActive("u1", "level2") == true)
        let own = try events().filter { $0["actor"]?.string == "person:\(person.id)" }
        #expect(own.contains { $0["type"] == "customer.merged" }, "\(own)")
    }

    @Test("A merge is of both environments: what stands against it in the other one is told first")
    func otherEnvironment() {
        let most = #"{"amount":\#(Balances.limit),"reason":"r"}"#
        for customer in ["u1", "u2"] {
            let path = "/v1/customers/\(customer)/balances/coins/adjust?environment=sandbox"
            let reply = desk.service.send("POST", path, key: desk.admin, body: most)
            #expect(reply.status == 200, "\(reply.text)")
        }
        let page = browser.get("\(TwoStepTests.place)/merge?into=u2")
        #expect(page.status == 409 && page.text.contains("role=\"alert\""), "\(page.text.shown)")
        #expect(page.text.shown.contains("u1 in both environments, production and sandbox"))
    }

    @Test("An order is closed once, and the page says so")
    func close() throws {
        let opened = desk.service.send(
            "POST", "/v1/customers/u1/orders", key: desk.backend,
            body: #"{"order":"o1","product":"pro.month"}"#)
        #expect(opened.status == 201, "\(opened.text)")
        let page = browser.get(TwoStepTests.place).text
        let target = "\(TwoStepTests.place)/orders/o1/close"
        #expect(page.contains("<a href=\"\(target)?version=1\">Close an order</a>"), "\(page)")
        let form = browser.get("\(target)?version=1")
        #expect(form.text.contains("no longer waits for its purchase"))
        var fields = Browser.hidden(in: form.text).merging(TwoStepTests.reasons) { $1 }
        fields["because"] = "settled"
        let done = browser.post(target, fields)
        #expect(done.status == 303, "\(done.text.shown)")
        let after = browser.get(try #require(done.header("Location"))).text
        #expect(after.contains("Done. The order o1 was closed"), "\(after.shown)")
        #expect(!after.contains("Close an order"))
        #expect(browser.post(target, fields).status == 303)
        #expect(try events().count { $0["type"] == "order.closed" } == 1)
    }

    @Test("A person is erased only with the id written out, and by the intent that was looked at")
    func erase() throws {
        #expect(desk.submit(Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1))).status == 200)
        let target = "\(TwoStepTests.place)/erase"
        let shown = browser.get(target)
        #expect(shown.status == 200 && shown.text.shown.contains("Access that ends level2"))
        #expect(browser.get("\(target)?purchases=free").text.contains("will belong to the next"))
        let hidden = Browser.hidden(in: shown.text)
        let wrong = browser.post(
            target, hidden.merging(["id": "u2", "reason": "asked for it"]) { $1 })
        #expect(wrong.status == 400 && wrong.text.contains("Nothing was erased"))
        #expect(try events().allSatisfy { $0["erased"] == nil })
        let done = browser.post(
            target, hidden.merging(["id": "u1", "reason": "asked for it"]) { $1 })
        #expect(done.status == 303, "\(done.text.shown)")
        let page = browser.get(try #require(done.header("Location"))).text
        #expect(page.contains("Done. The customer was erased"), "\(page.shown)")
        let erased = try #require(try events().last)
        #expect(erased["type"] == "customer.erased")
        #expect(erased["actor"]?.string == "person:\(person.id)")
    }

    @Test("A purchase that no customer claimed is found, and given to one")
    func attach() throws {
        #expect(desk.leave("40").status == 200)
        let found = browser.get("\(TwoStepTests.home)/find?q=apple%3A40")
        #expect(found.status == 200 && found.text.contains("No customer has claimed it."))
        #expect(found.text.contains("action=\"\(TwoStepTests.home)/attach\""), "\(found.text)")
        let led = browser.get("\(TwoStepTests.home)/attach?purchase=apple%3A40&customer=u1")
        #expect(led.header("Location") == "\(TwoStepTests.place)/attach?purchase=apple%3A40")
        #expect(browser.get("\(TwoStepTests.home)/attach?purchase=x").status == 400)
        let done = try press("\(TwoStepTests.place)/attach?purchase=apple%3A40")
        #expect(done.contains("Done. apple:40 came to this customer"), "\(done.shown)")
        #expect(done.contains("purchases/apple%3A40/undo_transfer\">Undo</a>"))
        #expect(try isActive("u1", "level2") == true)
    }
}
