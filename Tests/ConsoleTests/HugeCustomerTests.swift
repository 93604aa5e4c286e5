import API
import Core
import HTTPServer
import JSON
import Minting
import Service
import Telemetry
import TestSupport
import Testing

@testable import Console

@Suite("A huge customer's page", .timeLimit(.minutes(10)))
struct HugeCustomerTests {
    private static let place = "/console/p/default/customers/u1"
    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
    }

    @Test("Purchases come newest first, some at a time, each with what was said about it")
    func purchases() throws {
        for number in 1...60 {
            let sale = Sale(
                "\(number)", "coins.100", .consumable, at: desk.daysAgo(Int64(100 - number)))
            #expect(desk.submit(sale).status == 200)
        }
        let first = browser.get(HugeCustomerTests.place).text
        #expect(first.contains("<code>apple:60</code>") && first.contains("<code>apple:36</code>"))
        #expect(!first.contains("<code>apple:35</code>"))
        #expect(first.shown.contains("1 to 25 of 60"), "\(first.shown)")
        #expect(first.utf8.count < 200_000, "\(first.utf8.count)")
        let second = browser.get("\(HugeCustomerTests.place)?purchases=25").text
        #expect(second.contains("<code>apple:35</code>") && second.contains("?purchases=50\">"))
        let last = browser.get("\(HugeCustomerTests.place)?purchases=50").text
        #expect(last.contains("<code>apple:1</code>") && !last.contains("?purchases=75"))
        #expect(last.shown.contains("transaction from the app, signed by Apple"))
        for odd in ["-1", "x", "9999999999999999999", "60"] {
            #expect(browser.get("\(HugeCustomerTests.place)?purchases=\(odd)").status == 200)
        }
    }

    @Test("Of many events the newest are read, and what was just done is among them")
    func events() throws {
        let stream = Stream(
            project: try ProjectID("default"), environment: .production,
            customer: try CustomerID("u1"))
        let key = desk.admin
        for number in 1...1060 {
            let body = #"{"amount":1,"reason":"r\#(number)."}"#
            let path = "/v1/customers/\(stream.customer)/balances/coins/adjust"
            let reply = desk.service.sendUnchecked("POST", path, key: key, body: body)
            #expect(reply.status == 200)
        }
        let page = browser.get(HugeCustomerTests.place).text
        #expect(page.contains("coins: r1060.") && page.contains("?before=1011\">Older events"))
        let old = browser.get("\(HugeCustomerTests.place)?before=21").text
        #expect(old.contains("coins: r20.") && old.contains("coins: r1."))
        #expect(!old.contains("coins: r21.") && !old.contains("Older events"))
        let gift = ["entitlement": "pro", "for": "P7D", "reason": "an outage", "ticket": "T-7"]
        let done = browser.act("\(HugeCustomerTests.place)/grant", gift)
        let after = browser.get(try #require(done.header("Location"))).text
        #expect(after.contains("Done.") && after.contains(">Undo</a>"))
        // The message disappears after some time, even at the same address.
        desk.service.clock.advance(byMilliseconds: 11 * 60_000)
        #expect(!browser.get(try #require(done.header("Location"))).text.contains("Done."))
    }

    @Test("At most two heavy pages are made at once; others are asked to wait a second")
    func crowd() throws {
        let pages = HeavyPages()
        try pages.make { () throws(Turned) in
            try pages.make { () throws(Turned) in
                do throws(Turned) {
                    try pages.make { () throws(Turned) -> Void in
                        Issue.record("a third page was made")
                    }
                } catch {
                    guard case .notice(let status, _, _, headers: let headers) = error else {
                        Issue.record("\(error)")
                        return
                    }
                    #expect(status == 503)
                    #expect(headers.contains { $0.name == "Retry-After" && $0.value == "1" })
                }
            }
        }
        #expect(try pages.make { () throws(Turned) in 1 } == 1)
    }

    @Test("After an answer that does not tell, the same button counts once")
    func unclear() throws {
        let target = "\(HugeCustomerTests.place)/balances/coins/adjust"
        let wish = ["amount": "40", "reason": "why", "ticket": "T-1", "step": "show"]
        _ = browser.get(target)
        let shown = browser.post(target, wish)
        let database = desk.service.database
        try database.run(
            """
            create function public.break_off() returns trigger language plpgsql
                as 'begin raise exception ''broken off''; end';
            create trigger broken_off before insert on deed.events
                execute function public.break_off();
            """)
        let unclear = browser.press(shown, at: target)
        #expect(unclear.status >= 500 && unclear.text.contains("cannot tell whether this was done"))
        let (before, after) = (Browser.hidden(in: shown.text), Browser.hidden(in: unclear.text))
        #expect(before["mark"]?.isEmpty == false && before == after)
        try database.run(
            "drop trigger broken_off on deed.events; drop function public.break_off()")
        for _ in 0..<2 {
            #expect([303, 409].contains(browser.press(unclear, at: target).status))
        }
        let balance = try desk.service.send("GET", "/v1/customers/u1/balances", key: desk.admin)
            .json
        #expect(balance["balances"]?["coins"]?.integer == 40)
    }

    @Test("Plain HTTP from another machine is refused; a proxy leads to a secure cookie")
    func ways() throws {
        let desk = try Desk(isSecure: false)
        try desk.person("ann@example.com", .admin)
        let browser = Browser(desk.service)
        browser.way = .network
        for target in ["/console", "/console/sign-in", "/console/style.css"] {
            let reply = browser.get(target)
            #expect(reply.status == 403 && reply.text.contains("Not over plain HTTP"), "\(target)")
        }
        #expect(browser.signIn("ann@example.com", Desk.password).status == 403)
        #expect(browser.cookie == nil)
        browser.way = .proxy
        let set = browser.signIn("ann@example.com", Desk.password).header("Set-Cookie")
        #expect(set?.hasPrefix("__Host-deed=") == true && set?.hasSuffix("; Secure") == true)
        browser.way = .thisMachine
        let plain = browser.signIn("ann@example.com", Desk.password).header("Set-Cookie")
        #expect(plain?.hasPrefix("deed-console=") == true)
    }

    @Test("Attempts to sign in are counted, and failed ones are logged by address, within limits")
    func noted() throws {
        let (lines, metrics) = (LoggedLines(), Metrics())
        let clock = TestClock()
        let refused = RefusedSignIns(
            Operations(obstacles: { [] }, metrics: metrics, log: lines.log), now: clock.reading)
        let client = try #require(ClientAddress("198.51.100.7"))
        for _ in 0..<5 { refused.note(.wrong, from: client) }
        refused.note(.signedIn, from: client)
        #expect(lines.all.count == 1)
        #expect(lines.all[0].contains(#""event":"sign_in_refused","address":"198.51.100.7""#))
        clock.advance(byMilliseconds: 60_000)
        refused.note(.tooManyTries, from: client)
        #expect(lines.all.count == 2 && lines.all[1].contains(#""count":5"#), "\(lines.all)")
        let text = metrics.text()
        #expect(text.contains(#"deed_sign_ins_total{outcome="wrong"} 5"#), "\(text)")
        #expect(text.contains(#"deed_sign_ins_total{outcome="signed_in"} 1"#))
        // The console counts each attempt.
        _ = Browser(desk.service).signIn("ann@example.com", "wrong")
        #expect(desk.service.metrics.text().contains(#"deed_sign_ins_total{outcome="wrong"} 1"#))
    }
}
