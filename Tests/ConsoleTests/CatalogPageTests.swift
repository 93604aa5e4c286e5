import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Tests how a person edits, compares, applies and restores a catalog in the console.
@Suite("Editing the catalog in the console", .timeLimit(.minutes(5)))
struct CatalogPageTests {
    private static let place = "/console/p/default/catalog"
    private static let edit = "/console/p/default/catalog/edit"
    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
        let sale = Sale("1", "level2", .nonConsumable, at: desk.daysAgo(1))
        #expect(desk.submit(sale).status == 200)
    }

    /// A catalog in which the purchased level unlocks a different entitlement.
    private var other: String {
        Desk.catalog.replacing(#""entitlements":["level2"]"#, with: #""entitlements":["pro"]"#)
    }

    private func answer() throws -> JSON {
        try desk.service.send("GET", "/v1/catalog", key: desk.admin).json
    }

    private func version() throws -> Int64 { try answer()["version"]?.integer ?? 0 }

    /// Opens the form, writes the text, and asks for a preview of the changes.
    private func show(_ text: String, _ browser: Browser) -> Reply {
        _ = browser.get(CatalogPageTests.edit)
        return browser.post(CatalogPageTests.edit, ["step": "show", "text": text])
    }

    private func apply(_ shown: Reply, _ fields: [String: String]) -> Reply {
        browser.post(
            CatalogPageTests.edit, Browser.hidden(in: shown.text).merging(fields) { $1 })
    }

    @Test(
        "A change is shown with who gains and who loses, as the API's dry run says, and then done")
    func change() throws {
        let before = try version()
        let form = browser.get(CatalogPageTests.edit)
        #expect(form.status == 200 && form.text.unescaped.contains("\"coins.100\""))
        let shown = show(other, browser)
        let text = shown.text.shown
        #expect(shown.status == 200 && text.contains("Nothing has been done yet."), "\(text)")
        let dry = try desk.service.send(
            "PUT", "/v1/catalog?dry_run=1", key: desk.admin, body: other
        ).json
        #expect(dry["gains"]?["production"]?["customers"]?.integer == 1)
        #expect(text.contains("production 1 (pro 1) 1 (level2 1)"), "\(text)")
        #expect(text.contains("u1 production pro level2"), "\(text)")
        #expect(text.contains("product level2"))
        #expect(try version() == before)
        let done = apply(shown, ["reason": "one thing less", "ticket": "T-4"])
        #expect(
            done.header("Location") == "\(CatalogPageTests.place)?done=\(before + 1)",
            "\(done.text)")
        #expect(try version() == before + 1)
        #expect(
            browser.get("\(CatalogPageTests.place)?done=\(before + 1)").text.shown
                .contains("The catalog is now version \(before + 1)."))
        // Pressing the same button again changes nothing.
        #expect(apply(shown, ["reason": "one thing less", "ticket": "T-4"]).status == 303)
        #expect(try version() == before + 1)
        let trail = try desk.service.send(
            "GET", "/v1/trail?action=catalog.changed", key: desk.admin
        ).json["entries"]?.array?.first
        #expect(trail?["reason"]?.string == "one thing less" && trail?["ticket"]?.string == "T-4")
        #expect(trail?["actor"]?.string?.hasPrefix("person:pe_") ?? false)
    }

    @Test("Earlier catalogs are listed with their differences, and one leads back")
    func back() throws {
        let old = try answer()["catalog"]
        #expect(apply(show(other, browser), ["reason": "a try"]).status == 303)
        let list = browser.get("\(CatalogPageTests.place)/history").text
        #expect(list.shown.contains("a try"), "\(list.shown)")
        let links = list.matches(of: #/href="([^"]+/catalog/history/\d+)"/#).map { String($0.1) }
        #expect(links.count == 2)
        let newest = browser.get(links[0]).text
        #expect(newest.shown.contains("product level2") && newest.shown.contains("changed"))
        let first = browser.get(links[1]).text
        let link = try #require(first.firstMatch(of: #/href="([^"]+edit\?from=\d+)"/#), "\(first)")
        let form = browser.get(String(link.1)).text
        #expect(form.shown.contains("This is the catalog at version 1. Nothing has been done yet."))
        let area = try #require(form.firstMatch(of: #/<textarea[^>]*>([^<]*)</#)).1
        let shown = browser.post(
            CatalogPageTests.edit, ["step": "show", "text": String(area).unescaped])
        #expect(
            shown.text.shown.contains("production 1 (level2 1) 1 (pro 1)"), "\(shown.text.shown)")
        #expect(apply(shown, ["reason": "back again"]).status == 303)
        #expect(try answer()["catalog"] == old && version() == 3)
        #expect(browser.get("\(CatalogPageTests.place)/history/999").status == 400)
        #expect(browser.get("\(CatalogPageTests.edit)?from=x").status == 400)
    }

    @Test("What another person changed meanwhile is not overwritten")
    func meanwhile() throws {
        let shown = show(other, browser)
        let third = other.replacing("coins.100", with: "coins.500")
        #expect(desk.service.send("PUT", "/v1/catalog", key: desk.admin, body: third).status == 200)
        let kept = try answer()
        let late = apply(shown, ["reason": "late"])
        #expect(late.status == 409 && late.text.contains("role=\"alert\""), "\(late.status)")
        #expect(try answer() == kept)
    }

    @Test("A wrong text comes back with each error and its place, and nothing is done")
    func wrong() throws {
        let before = try desk.service.eventCount()
        let texts = [
            "", "{", "[]", #"{"products":[{"id":"x","kind":"odd"}]}"#,
            #"{"products":[],"<script>alert(1)</script>":1}"#,
        ]
        for text in texts {
            let page = show(text, browser)
            #expect((400..<500).contains(page.status), "\(text): \(page.status)")
            #expect(page.text.contains("role=\"alert\"") && !page.text.contains("<script>alert"))
            #expect(page.text.contains("<textarea"))
        }
        let odd = show(#"{"products":[{"id":"x","kind":"odd"}]}"#, browser).text.shown
        #expect(odd.contains("products[0].kind"), "\(odd)")
        let shown = show(other, browser)
        for reason in ["", "  "] {
            #expect(apply(shown, ["reason": reason]).status == 400)
        }
        #expect(show(Desk.catalog, browser).text.shown.contains("Nothing would change"))
        #expect(try desk.service.eventCount() == before)
    }

    @Test("A catalog of half a megabyte fits, and a larger form is refused")
    func large() throws {
        func catalog(_ count: Int) -> String {
            let products = (0..<count).map {
                #"{"id":"p.\#($0)","kind":"non_consumable","entitlements":["pro"]}"#
            }
            let list = products.joined(separator: ",\n")
            return #"{"products":[\#(list)],"entitlements":{"pro":{}},"currencies":{}}"#
        }
        let shown = show(catalog(5000), browser)
        #expect(shown.status == 200, "\(shown.text.shown.prefix(400))")
        let route = desk.service.router.outlines.first {
            $0.method == "POST" && $0.pattern.hasSuffix("/catalog/edit")
        }
        #expect(route?.bodyLimit == 1 << 20)
    }

    @Test("Nothing is done by a form from elsewhere, by GET, or by a lesser role")
    func refused() throws {
        let before = try version()
        let fields = Browser.hidden(in: show(other, browser).text)
            .merging(["reason": "why"]) { $1 }
        #expect(browser.post(CatalogPageTests.edit, fields, token: "x").status == 403)
        browser.site = "cross-site"
        #expect(browser.post(CatalogPageTests.edit, fields).status == 403)
        browser.site = "same-origin"
        #expect(
            browser.get(
                "\(CatalogPageTests.edit)?\(Browser.encoded(["step": "do", "version": "1"]))"
            ).status == 200)
        for role in [Role.reader, .support] {
            let bob = try desk.visitor("\(role.rawValue)@example.com", role)
            _ = bob.get("/console/p/default")
            #expect(bob.get(CatalogPageTests.edit).status == 403)
            #expect(bob.post(CatalogPageTests.edit, fields).status == 403)
            #expect(bob.get("\(CatalogPageTests.place)/history").status == 403)
        }
        #expect(try version() == before)
    }

    @Test("Characters that hide or turn others stay in the text, and do no harm on the page")
    func hidden() throws {
        let text = other.replacing(
            #""pro":{}"#, with: "\"pro\":{\"title\":\"</textarea><b>\u{202E}x &amp;\"}")
        let shown = show(text, browser)
        #expect(shown.status == 200 && !shown.text.contains("</textarea><b>"), "\(shown.text)")
        let sent = Browser.hidden(in: shown.text)["text"]
        #expect(sent == text)
    }
}
