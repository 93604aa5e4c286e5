import API
import Core
import Histories
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Compares each figure with a plain SQL count.
@Suite("Figures", .timeLimit(.minutes(20)))
struct FigureTests {
    private static let home = "/console/p/default"
    private static let day: Int64 = 86_400_000

    private let desk: Desk
    private let project: ProjectID

    init() throws {
        desk = try Desk()
        project = try ProjectID("default")
    }

    private func openBazaar() throws {
        let command = Command.project(
            project, actor: try Actor("test"),
            cause: Cause(text: "bazaar", digest: [UInt8](repeating: 0, count: 32))
        ) { [project] state, _ throws(Refusal) in
            try state.change(to: bazaar, of: project)
        }
        _ = try desk.service.ledger.append(command)
    }

    /// Creates histories around the service's current time.
    private func live(_ count: Int, _ seed: UInt64) throws {
        try openBazaar()
        for life in 0..<count {
            let stream = Stream(
                project: project, environment: .production,
                customer: try CustomerID("life-\(life)"))
            let facts = RandomHistory(seed: seed &+ UInt64(life), prefix: "\(life)-").facts
            _ = try desk.service.ledger.append(
                .record(AnyFact.facts(facts), for: stream, key: "life"))
        }
        // Gives PostgreSQL statistics for the plain counts.
        try desk.service.database.run("analyze")
    }

    private func number(_ sql: String) throws -> Int64 {
        let text = try desk.service.database.text("select (\(sql))::text")
        return Int64(text) ?? -1
    }

    /// Counts the customers in the log who meet the condition, one by one.
    private func customers(_ condition: String) throws -> Int64 {
        try number(
            """
            select count(*) from (
                select distinct customer from deed.events
                where project = 'default' and environment = 'production' and not starts_with(customer, '$')
            ) as c where \(condition)
            """)
    }

    private func compare(_ figures: ProjectFigures, _ told: String) throws {
        let (now, earlier) = (figures.at.text, figures.weekAgo.text)
        let later = figures.at.advanced(byMilliseconds: ProjectFigures.week).text
        for id in bazaar.entitlements {
            let row = figures.entitlements[id.text]
            for (at, found) in [(now, row?.now), (earlier, row?.earlier)] {
                let expected = try customers(
                    "deed.entitled('default', c.customer, '\(id)', '\(at)')")
                #expect(found ?? 0 == expected, "\(told): \(id) at \(at)")
            }
        }
        let products = Set(figures.products.keys).union(["plus", "pro", "level2", "solo"])
        for id in products {
            let row = figures.products[id]
            for (at, found) in [(now, row?.now), (earlier, row?.earlier)] {
                let expected = try customers(
                    """
                    exists (select from deed.transactions as t
                        left join deed.subscriptions as s using (project, environment, customer, purchase)
                        where t.customer = c.customer and t.product = '\(id)' and not t.is_upgraded
                            and t.kind in ('auto_renewable', 'non_consumable') and t.purchased_at <= '\(at)'
                            and coalesce(t.expires_at > '\(at)', true)
                            and coalesce(t.revoked_at > '\(at)', true)
                            and coalesce(s.blocked_at > '\(at)', true))
                    """)
                #expect(found ?? 0 == expected, "\(told): \(id) at \(at)")
            }
        }
        let ending = """
            from deed.entitlements where project = 'default' and environment = 'production'
                and starts_at <= '\(now)' and ends_at > '\(now)' and ends_at <= '\(later)'
            """
        try compare(
            figures.ending, ending, item: "customer || ' ' || entitlement", told
        ) { "\($0.customer) \($0.entitlement)" }
        let refunds = """
            from deed.refunds where project = 'default' and environment = 'production'
                and refunded_at > '\(earlier)' and refunded_at <= '\(now)'
            """
        try compare(
            figures.refunds, refunds, item: "coalesce(customer, '') || ' ' || transaction", told
        ) { "\($0.owner ?? "") \($0.transaction)" }
        let unclaimed = try number(
            """
            select count(*) from deed.unclaimed where project = 'default' and environment = 'production'
            """)
        #expect(figures.unclaimed == unclaimed, "\(told): unclaimed")
    }

    /// Compares a list and its length with all rows. If there are more rows than the list may have,
    /// compares only the length.
    private func compare<Item: Hashable & Comparable & Sendable>(
        _ top: ProjectFigures.Top<Item>, _ rows: String, item: String, _ told: String,
        words: (Item) -> String
    ) throws {
        let count = try number("select count(*) \(rows)")
        #expect(top.count == count, "\(told): \(rows)")
        #expect(top.items.count == min(Int(count), ProjectFigures.Top<Item>.limit), "\(told)")
        if count > top.items.count { return }
        let all = try desk.service.database.text(
            "select coalesce(string_agg(\(item), E'\\n' order by \(item)), '') \(rows)")
        let expected = all.split(separator: "\n").map(String.init)
        #expect(top.items.map(words).sorted() == expected.sorted(), "\(told): \(rows)")
    }

    private func counted(asOf instant: Instant) throws -> ProjectFigures {
        try desk.service.countFigures(asOf: instant)
        return try #require(
            try desk.service.useCases.figures.figures(of: project, in: .production))
    }

    @Test("For random lives each figure is what a plain count says, at several instants")
    func same() throws {
        let seed = printedSeed(of: "figures")
        for number in 901...903 { #expect(desk.leave("\(number)").status == 200) }
        try live(givenCount("DEED_LIVES", or: 400), seed)
        var (refunds, ending, active) = (Int64(0), Int64(0), Int64(0))
        for day in stride(from: Int64(1), through: 36, by: 5) {
            let figures = try counted(asOf: at(day, 43_200_000))
            try compare(figures, "seed \(seed), day \(day)")
            refunds += figures.refunds.count
            ending += figures.ending.count
            active += figures.entitlements.values.reduce(0) { $0 + $1.now }
        }
        #expect(refunds > 0 && ending > 0 && active > 0)
    }

    @Test("Beyond a thousand, a list has what comes first, in order")
    func top() {
        var top = ProjectFigures.Top<Int>()
        for number in (1...1500).map({ $0 * 7919 % 1501 }) { top.add(number) }
        #expect(top.count == 1500 && top.items == Array(1...1000))
    }

    @Test(
        "Sandbox and production, and each project, have figures of their own, with and without customers"
    )
    func apart() throws {
        try desk.service.createProject("other")
        let gift = #"{"entitlement":"pro","for":"P3D","reason":"r"}"#
        let path = "/v1/customers/u1/grants?environment=sandbox"
        let given = desk.service.send("POST", path, key: desk.admin, body: gift)
        #expect(given.status == 201, "\(given.text)")
        let figures = desk.service.useCases.figures
        #expect(try figures.figures(of: project, in: .sandbox) == nil)
        try desk.service.countFigures()
        let now = desk.service.clock.now
        let sandbox = try #require(try figures.figures(of: project, in: .sandbox))
        #expect(sandbox.entitlements == ["pro": .init(now: 1)] && sandbox.ending.count == 1)
        #expect(
            sandbox.at == now
                && sandbox.ending.items[0].ends == now.advanced(byMilliseconds: 3 * Self.day))
        let other = try ProjectID("other")
        for (project, environment) in [
            (project, Environment.production), (other, .sandbox), (other, .production),
        ] {
            #expect(try figures.figures(of: project, in: environment) == ProjectFigures(at: now))
        }
    }

    @Test("An erased customer leaves the lists, also when erased while they were being counted")
    func erased() throws {
        let gift = #"{"entitlement":"pro","for":"P3D","reason":"r"}"#
        for customer in ["u1", "u2", "u3"] {
            let path = "/v1/customers/\(customer)/grants"
            let given = desk.service.send("POST", path, key: desk.admin, body: gift)
            #expect(given.status == 201, "\(given.text)")
        }
        let kept = "select items::text from deed.figures where environment = 'production'"
        try desk.service.countFigures()
        #expect(try desk.service.database.text(kept).contains(#""u1""#))
        try erase("u1")
        #expect(try !desk.service.database.text(kept).contains(#""u1""#))
        try desk.service.countFigures { try erase("u2") }
        let items = try desk.service.useCases.figures.figures(of: project, in: .production)?
            .ending.items
        #expect(items?.map(\.customer) == ["u3"])
        // New data of the erased customer counts.
        let again = desk.service.send(
            "POST", "/v1/customers/u1/grants", key: desk.admin, body: gift)
        #expect(again.status == 201, "\(again.text)")
        try desk.service.countFigures()
        #expect(try desk.service.database.text(kept).contains(#""u1""#))
        // A damaged row does not prevent an erasure.
        try desk.service.database.run("update deed.figures set items = '{}'")
        try erase("u1")
    }

    private func erase(_ customer: String) throws {
        let path = "/v1/customers/\(customer)/erase"
        let body: JSON = ["purchases": "forget", "reason": "asked for it"]
        let look = desk.service.send("POST", path, key: desk.admin, body: body.text)
        let done = desk.service.send(
            "POST", path, key: desk.admin, body: body.with("intent", try look.json["intent"]).text)
        #expect(done.status == 200, "\(done.text)")
    }

    @Test("Each figure has its table, its file and its sentence, and says as of when")
    func page() throws {
        let gift = #"{"entitlement":"pro","for":"P3D","reason":"r"}"#
        for customer in ["u1", "=1+1"] {
            let path = "/v1/customers/\(Browser.escaped(customer))/grants"
            let given = desk.service.send("POST", path, key: desk.admin, body: gift)
            #expect(given.status == 201, "\(given.text)")
        }
        #expect(desk.leave("40").status == 200)
        var sale = Sale("41", "level2", .nonConsumable, at: desk.daysAgo(2))
        sale.refunded = desk.daysAgo(1)
        #expect(desk.submit(sale, for: "u2").status == 200)
        let browser = try desk.visitor("ann@example.com", .admin)
        let early = browser.get("\(FigureTests.home)/figures").text.shown
        #expect(early.contains("has not counted these customers yet"), "\(early)")
        #expect(browser.get("\(FigureTests.home)/figures/ending").status == 404)
        try desk.service.countFigures()
        let page = browser.get("\(FigureTests.home)/figures").text
        let words = page.shown
        #expect(words.contains("As of 2026-11-20 19:21:00 UTC"), "\(words)")
        #expect(words.contains("pro 2 0"), "\(words)")
        #expect(words.contains("level2 0 0") == false, "\(words)")
        #expect(page.contains("<a href=\"\(FigureTests.home)/customers/u2\">u2</a>"))
        #expect(page.contains("<a href=\"\(FigureTests.home)/customers/u1\">u1</a>"))
        #expect(words.contains("no customer has claimed yet. 1 "), "\(words)")
        let file = browser.get("\(FigureTests.home)/figures/ending")
        #expect(file.header("Content-Type") == "text/csv; charset=utf-8")
        let disposition = "attachment; filename=\"ending.csv\""
        #expect(file.header("Content-Disposition") == disposition)
        #expect(file.text.hasPrefix("\"Customer\",\"Entitlement\",\"Ends\"\r\n"), "\(file.text)")
        #expect(file.text.contains("\"'=1+1\",\"pro\",\"2026-11-23T19:21:00.000Z\"\r\n"))
        for name in ["entitlements", "products", "refunds", "unclaimed"] {
            let reply = browser.get("\(FigureTests.home)/figures/\(name)")
            #expect(reply.status == 200 && reply.text.hasPrefix("\""), "\(name)")
        }
        #expect(browser.get("\(FigureTests.home)/figures/unclaimed").text.contains("apple:40"))
        #expect(browser.get("\(FigureTests.home)/figures/none").status == 404)
        let sandbox = browser.get("\(FigureTests.home)/figures?environment=sandbox").text.shown
        #expect(sandbox.contains("This is the sandbox") && !sandbox.contains("pro 2 0"))
        let overview = browser.get(FigureTests.home).text.shown
        for words in [
            "As of 2026-11-20 19:21:00 UTC", "pro 2 0", "Ending soon: 2", "the last seven days: 1",
        ] {
            #expect(overview.contains(words), "\(words): \(overview)")
        }
        let bob = try desk.visitor("bob@example.com", .reader)
        #expect(bob.get("\(FigureTests.home)/figures/unclaimed").status == 403)
        #expect(!bob.get("\(FigureTests.home)/figures").text.contains("Unclaimed purchases"))
    }
}
