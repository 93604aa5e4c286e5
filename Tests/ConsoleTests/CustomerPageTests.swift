import API
import Core
import Histories
import JSON
import Minting
import Service
import Telemetry
import TestSupport
import Testing

/// Compares a customer's page with the API's answers.
@Suite("The customer's page", .timeLimit(.minutes(20)))
struct CustomerPageTests {
    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
    }

    private static let place = "/console/p/default/customers"

    /// Returns the API's sentence as the page shows it.
    private func shown(_ sentence: String) -> String {
        let instant = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d{3})Z/
        return sentence.replacing(instant) { found in
            "\(found.1) \(found.2)\(found.3 == ".000" ? "" : String(found.3)) UTC"
        }
    }

    /// Returns the text without the spaces that tags leave before punctuation marks.
    private func joined(_ text: String) -> String {
        text.replacing(#/ ([.,;:])/#) { String($0.1) }
    }

    @Test("For random lives at random instants the page says what the API says")
    func same() throws {
        let seed = printedSeed(of: "the customer's page")
        var random = SeededGenerator(seed: seed)
        try openBazaar()
        let day: Int64 = 86_400_000
        var asked = 0
        for life in 0..<givenCount("DEED_LIVES", or: 24) {
            let customer = "life-\(life)"
            let facts = RandomHistory(seed: seed &+ UInt64(life), prefix: "\(life)-").facts
            let stream = Stream(
                project: try ProjectID("default"), environment: .production,
                customer: try CustomerID(customer))
            for (number, fact) in facts.enumerated() {
                _ = try desk.service.ledger.append(
                    .record(AnyFact.facts([fact]), for: stream, key: "\(number)"))
                desk.service.clock.advance(byMilliseconds: random.number(0...day))
            }
            // Signs in now, because days have passed.
            let browser = try desk.browser("ann@example.com")
            for _ in 0..<5 {
                let now = desk.service.clock.now
                let at = now.advanced(byMilliseconds: random.number(-800 * day...400 * day)).text
                let known = now.advanced(byMilliseconds: random.number(-8 * day...0)).text
                asked += try compare(
                    customer, "at=\(at)&known=\(known)", browser, "seed \(seed)")
            }
            asked += try compare(customer, "", browser, "seed \(seed)")
        }
        #expect(asked > 24)
    }

    private func openBazaar() throws {
        let project = try ProjectID("default")
        let command = Command.project(
            project, actor: try Actor("test"),
            cause: Cause(text: "bazaar", digest: [UInt8](repeating: 0, count: 32))
        ) { state, _ throws(Refusal) in
            try state.change(to: bazaar, of: project)
        }
        _ = try desk.service.ledger.append(command)
    }

    /// Compares entitlements. Returns how many were compared.
    private func compare(
        _ customer: String, _ query: String, _ browser: Browser, _ told: String
    ) throws -> Int {
        let page = browser.get("\(CustomerPageTests.place)/\(customer)?\(query)")
        #expect(page.status == 200, "\(told): \(page.text)")
        let text = joined(page.text.shown)
        let path = "/v1/customers/\(customer)"
        let whole = try desk.service.send("GET", "\(path)?\(query)", key: desk.admin).json
        let names = whole["entitlements"]?.object?.members.map(\.name) ?? []
        for name in names {
            let explained = try desk.service.send(
                "GET", "\(path)/explain?entitlement=\(name)&\(query)", key: desk.admin
            ).json
            for sentence in explained["words"]?.array?.compactMap(\.string) ?? [] {
                #expect(text.contains(joined(shown(sentence))), "\(told): \(sentence)\n\(text)")
            }
        }
        let at = try #require(whole["at"]?.string)
        for entitlement in whole["entitlements"]?.object?.members ?? [] {
            compare(entitlement.name, entitlement.value, at, page.text, told)
        }
        for purchase in whole["purchases"]?.array ?? [] {
            let id = try #require(purchase["purchase"]?.string)
            #expect(text.contains(id), "\(told)")
        }
        for balance in whole["balances"]?.object?.members ?? [] {
            #expect(text.contains("\(balance.name): \(balance.value.integer ?? 0)"), "\(told)")
        }
        return names.count
    }

    /// Expects a bar around an instant exactly if the API says that access is active.
    private func compare(
        _ name: String, _ answer: JSON, _ at: String, _ page: String, _ told: String
    ) {
        let bars = page.matches(of: /aria-label="([^" ]+) from (\S+) (?:until (\S+)|with no end)"/)
            .filter { $0.1 == name }
            .map { (start: String($0.2), end: $0.3.map(String.init)) }
        let around = bars.filter { bar in bar.start <= at && bar.end.map { at < $0 } ?? true }
        guard answer["active"]?.bool == true else {
            #expect(around.isEmpty, "\(told): \(name) has a bar at \(at)")
            return
        }
        #expect(around.count == 1, "\(told): \(name) at \(at) has \(bars)")
        #expect(around.first?.start == answer["since"]?.string, "\(told): \(name)")
        #expect(around.first?.end == answer["until"]?.string, "\(told): \(name)")
    }

    @Test("The drawing leads to other instants without script, and keeps what was known")
    func drawing() throws {
        var sale = Sale("1", "pro.month", .autoRenewable, at: desk.daysAgo(2))
        sale.expires = desk.daysAgo(-28)
        #expect(desk.submit(sale).status == 200)
        let place = "\(CustomerPageTests.place)/u1"
        let page = browser.get(place).text
        #expect(page.contains("<svg viewBox"), "\(page)")
        let before = Browser.escaped("2026-11-18T19:21:00.000Z")
        #expect(page.contains("<a href=\"\(place)?at=\(before)\" aria-label=\"pro from"))
        #expect(page.contains("\">at the next edge</a>") && page.contains("\">a day earlier</a>"))
        let earlier = page.firstMatch(of: /href="([^"]+)">a day earlier/).map { String($0.1) }
        let past = browser.get(try #require(earlier)).text
        #expect(
            past.contains("You are not looking at the present")
                && past.contains("2026-11-19 19:21:00 UTC"))
        let known = "2026-11-21T00:00:00.000Z"
        let kept = browser.get("\(place)?known=\(known)").text
        #expect(kept.contains("?at=\(before)&amp;known=\(Browser.escaped(known))"), "\(kept)")
        #expect(!browser.get("\(CustomerPageTests.place)/none").text.contains("<svg"))
    }

    @Test("Purchases show who said what and when; support sees no prices")
    func purchases() throws {
        var sale = Sale("1", "pro.month", .autoRenewable, at: desk.daysAgo(2))
        sale.expires = desk.daysAgo(-28)
        #expect(desk.submit(sale).status == 200)
        let place = "\(CustomerPageTests.place)/u1"
        let page = browser.get(place).text.shown
        #expect(page.contains("transaction from the app, signed by Apple"), "\(page)")
        #expect(page.contains("pro.month was bought, paid until 2026-12-18"), "\(page)")
        let bob = try desk.visitor("bob@example.com", .support)
        let events = desk.service.send("GET", "/v1/customers/u1/events", key: desk.admin).text
        let supports = bob.get(place).text
        #expect(!supports.contains("Price") && !supports.contains("milliunits"))
        if events.contains("milliunits") { #expect(browser.get(place).text.contains("Price")) }
        let sandbox = browser.get("\(place)?environment=sandbox").text.shown
        #expect(sandbox.contains("This is the sandbox") && sandbox.contains("Nothing now, and"))
    }

    @Test("The search box finds a customer by a name, and leads to the only one")
    func find() throws {
        #expect(
            desk.submit(Sale("77", "level2", .nonConsumable, at: desk.daysAgo(1))).status == 200)
        let found = browser.get("/console/p/default/find?q=77")
        #expect(found.header("Location") == "\(CustomerPageTests.place)/u1", "\(found.text)")
        let none = browser.get("/console/p/default/find?q=zz+top")
        #expect(none.status == 200 && none.text.contains("zz top"))
        #expect(browser.get("/console/p/default/find").status == 200)
        #expect(browser.get("/console/p/default/find?q=x").status == 400)
    }

    @Test("Events come in pages, newest first, each with its content")
    func events() throws {
        for number in 1...60 {
            let body = #"{"amount":\#(number),"reason":"r\#(number)"}"#
            let path = "/v1/customers/u1/balances/coins/adjust"
            let reply = desk.service.send("POST", path, key: desk.admin, body: body)
            #expect(reply.status == 200)
        }
        let first = browser.get("\(CustomerPageTests.place)/u1").text
        #expect(first.contains("adjusted by 60 coins: r60"))
        #expect(first.contains("by 11 coins: r11") && !first.contains("by 10 coins: r10."))
        #expect(first.contains("?before=11\">Older events"))
        let second = browser.get("\(CustomerPageTests.place)/u1?before=11").text
        #expect(second.contains("by 10 coins: r10") && second.contains("Newest events"))
        #expect(!second.contains("Older events"))
    }

    @Test("Every answer forbids the browser what it does not need, and pages are small")
    func guards() throws {
        let targets = [
            "/console/sign-in", "/console/style.css", "/console/script.js", "/console/nowhere",
            "/console/p/default", "\(CustomerPageTests.place)/u1", "/console/p/none",
        ]
        for target in targets {
            let reply = browser.get(target)
            let policy =
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
                + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
            #expect(reply.header("Content-Security-Policy") == policy, "\(target)")
            #expect(reply.header("X-Content-Type-Options") == "nosniff", "\(target)")
            #expect(reply.header("Referrer-Policy") == "no-referrer", "\(target)")
            #expect(reply.header("Cache-Control") == "no-store", "\(target)")
            #expect(reply.text.utf8.count < 100_000, "\(target)")
            #expect(!reply.text.contains("style=\"") && !reply.text.contains("<script>"))
        }
        #expect(browser.get("/console/nowhere").text.contains("There is no such page."))
        #expect(browser.get("/console/nowhere").status == 404)
    }

    @Test("An instant is taken as a browser sends it; anything else is refused in words")
    func instants() {
        let place = "\(CustomerPageTests.place)/u1"
        for at in ["2026-11-20T19:21", "2026-11-20T19:21:00", "2026-11-20T19:21:00.500"] {
            let reply = browser.get("\(place)?at=\(at)")
            #expect(
                reply.status == 200 && reply.text.contains("not looking at the present"), "\(at)")
        }
        for at in ["yesterday", "2026-11-20", "1"] {
            #expect(browser.get("\(place)?at=\(at)").status == 400, "\(at)")
        }
    }

    @Test("Passwords, links, codes, their secrets and cookies are in no log, event or metric")
    func secrets() throws {
        let people = desk.service.useCases.people
        let email = try #require(EmailAddress("cat@example.com"))
        let link = try #require(try people.create(email, .admin, in: ProjectID("default")))
        let cat = Browser(desk.service)
        let chosen = cat.post(
            "/console/link/\(link.secret)", ["password": Desk.password, "again": Desk.password])
        #expect(chosen.status == 303)
        #expect(cat.signIn("cat@example.com", Desk.password).status == 303)
        let (app, emergencyCodes) = try desk.setUpFactor(cat)
        desk.service.clock.advance(byMilliseconds: 60_000)
        #expect(cat.signIn("cat@example.com", Desk.password).status == 303)
        let begun = String(try #require(cat.begun).split(separator: "=")[1])
        let code = app.code(at: desk.service.clock.now)
        for wrong in ["000000", emergencyCodes[0] + "x"] {
            #expect(cat.post("/console/sign-in/code", ["code": wrong]).status == 403)
        }
        #expect(cat.post("/console/sign-in/code", ["code": code]).status == 303)
        let gift = ["entitlement": "pro", "for": "P1D", "reason": "r", "ticket": "T-1"]
        #expect(cat.act("\(CustomerPageTests.place)/u1/grant", gift).status == 303)
        let cookie = String(try #require(cat.cookie).split(separator: "=")[1])
        let events = desk.service.send("GET", "/v1/events", key: desk.admin).text
        var everything = [
            desk.service.logged.all.joined(separator: "\n"), desk.service.metrics.text(), events,
        ]
        for table in [
            "events", "sessions", "people", "person_links", "sign_in_tries", "second_factors",
            "emergency_codes", "begun_sign_ins",
        ] {
            everything.append(
                try desk.service.database.text(
                    "select coalesce(json_agg(t)::text, '') from deed.\(table) as t"))
        }
        for text in everything {
            for secret in [Desk.password, link.secret, cookie, begun, app.text, "otpauth"]
                + emergencyCodes
            {
                #expect(!text.contains(secret))
                #expect(!text.contains(secret.replacing("-", with: "")))
            }
        }
        #expect(!everything[0].contains(code) && !everything[2].contains(code))
        let set =
            #""event":"second_factor_changed","change":"set_up","person":"\#(link.person.id)""#
        #expect(everything[0].contains(set), "\(everything[0])")
        #expect(events.contains("person:\(link.person.id)"))
        #expect(!events.contains("cat@example.com"))
    }
}
