import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Puts texts that could act as markup into every field and on every page.
@Suite("Hostile texts", .timeLimit(.minutes(20)))
struct HostileTextTests {
    private static let home = "/console/p/default"
    private static let names = [
        "q", "reason", "text", "ticket", "entitlement", "for", "start", "amount", "to", "into",
        "purchase",
        "purchases", "customer", "because", "id", "act", "state", "actor", "after", "before",
        "done", "at", "known", "environment", "next", "event", "email", "mark", "version", "step",
    ]

    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
    }

    private func expectText(_ reply: Reply, _ told: String) {
        let text = reply.text
        if reply.header("Content-Type")?.hasPrefix("text/csv") == true {
            // With this header, browsers do not treat the download as a page.
            #expect(reply.header("X-Content-Type-Options") == "nosniff", "\(told)")
            #expect(reply.header("Content-Disposition")?.hasPrefix("attachment") == true)
            return
        }
        for raw in ["<script>alert", "<img", "onerror='"] {
            #expect(!text.contains(raw), "\(told) has \(raw): \(text)")
        }
        let odd = text.unicodeScalars.first {
            [0x202E, 0x2067, 0x2069, 0x200F].contains($0.value)
        }
        #expect(odd == nil, "\(told) reverses texts")
        #expect(reply.status < 500, "\(told): \(reply.status)")
    }

    /// Writes the text into every field that accepts it.
    private func fill(_ text: String) throws -> (customer: String, webhook: String) {
        let isImproper = text.unicodeScalars.contains { $0.properties.generalCategory == .format }
        let customer = isImproper ? "u1" : text
        let path = "/v1/customers/\(Browser.escaped(customer))"
        func send(_ method: String, _ target: String, _ body: JSON, _ key: NewKey) -> Reply {
            desk.service.sendUnchecked(method, target, key: key, body: body.text)
        }
        let said: JSON = ["reason": .string(text), "ticket": .string(text)]
        let given = send(
            "POST", "\(path)/grants",
            said.followed(by: [
                "entitlement": .string(text), "for": "P1D", "allow_unknown": true,
            ]), desk.admin)
        if given.status != 201 {
            _ = send(
                "POST", "\(path)/grants",
                ["entitlement": "pro", "for": "P1D", "reason": .string(text)], desk.admin)
        }
        _ = send(
            "POST", "\(path)/balances/coins/adjust", said.followed(by: ["amount": 5]), desk.admin)
        for order in [text, "o1"] {
            _ = send(
                "POST", "\(path)/orders",
                ["order": .string(order), "product": .string(text), "allow_unknown": true],
                desk.backend)
        }
        for sale in [
            Sale(text, "level2", .nonConsumable, at: desk.daysAgo(1)),
            Sale("77", text, .nonConsumable, at: desk.daysAgo(1)),
            Sale("78", text, .autoRenewable, at: desk.daysAgo(1), until: desk.daysAgo(-20)),
        ] { _ = desk.submit(sale, for: Browser.escaped(customer)) }
        _ = desk.leave(text)
        _ = desk.leave("79")
        let move: JSON = ["to": .string(isImproper ? "u2" : "\(text.prefix(8))2")]
        _ = send(
            "POST", "\(path)/purchases/apple:77/transfer", move.followed(by: said), desk.admin)
        _ = send("PUT", "/v1/apps/\(Browser.escaped(text))", [:], desk.admin)
        _ = try? desk.service.key(.reader, name: text)
        let hook = send(
            "POST", "/v1/webhooks",
            ["url": "https://example.com/h", "description": .string(isImproper ? "d" : text)],
            desk.admin)
        return (customer, try hook.json["id"]?.string ?? "wh_1")
    }

    @Test(
        "They show as text on every page, whatever field they come in", arguments: MarkupTests.texts
    )
    func everywhere(_ text: String, _ shown: String) throws {
        let (customer, webhook) = try fill(text)
        let events = desk.service.sendUnchecked(
            "GET", "/v1/customers/\(Browser.escaped(customer))/events", key: desk.admin)
        let grant =
            try events.json["events"]?.array?.last { $0["type"] == "grant.given" }?["data"]?[
                "grant"]?.string ?? "g"
        #expect(events.text.contains("grant.given"), "\(events.text)")
        try desk.service.countFigures()
        let hostile = Dictionary(uniqueKeysWithValues: HostileTextTests.names.map { ($0, text) })
        for route in desk.service.router.outlines where route.pattern.hasPrefix("/console") {
            if route.pattern.contains("sign-out") { continue }
            for subject in [text, "apple:77"] {
                let target = route.pattern.replacing("{project}", with: "default")
                    .replacing("{customer}", with: Browser.escaped(customer))
                    .replacing("{grant}", with: grant).replacing("{currency}", with: "coins")
                    .replacing("{purchase}", with: Browser.escaped(subject))
                    .replacing("{order}", with: Browser.escaped(subject))
                    .replacing("{webhook}", with: webhook)
                    .replacing("{secret}", with: Browser.escaped(subject))
                    .replacing("{id}", with: Browser.escaped(subject))
                    .replacing("{figure}", with: subject == text ? "ending" : "entitlements")
                let told = "\(route.method) \(target)"
                if route.method == "GET" {
                    expectText(browser.get(target), told)
                    expectText(browser.get("\(target)?\(Browser.encoded(hostile))"), told)
                    for name in HostileTextTests.names where target.contains("/p/") {
                        let one = browser.get("\(target)?\(Browser.encoded([name: text]))")
                        expectText(one, "\(told) \(name)")
                    }
                } else {
                    _ = browser.get(HostileTextTests.home)
                    var fields = hostile
                    fields["step"] = "show"
                    expectText(browser.post(target, fields), told)
                }
            }
        }
        let page = browser.get("\(HostileTextTests.home)/customers/\(Browser.escaped(customer))")
        #expect(page.text.contains(shown), "\(page.text)")
    }
}
