import API
import Core
import Histories
import JSON
import Minting
import Service
import TestSupport
import Testing

/// The figures, each compared with a plain count.
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

    /// Histories that begin around the service's present, so that all of it is in their middle.
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
    }

    private func number(_ sql: String) throws -> Int64 {
        let text = try desk.service.database.text("select (\(sql))::text")
        return Int64(text) ?? -1
    }

    /// A question about every customer of the log, one after the other.
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
            let row = figures.entitlements.first { $0.name == id.text }
            for (at, found) in [(now, row?.now), (earlier, row?.earlier)] {
                let expected = try customers(
                    "deed.entitled('default', c.customer, '\(id)', '\(at)')")
                #expect(found ?? 0 == expected, "\(told): \(id) at \(at)")
            }
        }
        let products = Set(figures.products.map(\.name)).union(["plus", "pro", "level2", "solo"])
        for id in products {
            let row = figures.products.first { $0.name == id }
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
        let ending = try number(
            """
            select count(*) from deed.entitlements where project = 'default' and environment = 'production'
                and starts_at <= '\(now)' and ends_at > '\(now)' and ends_at <= '\(later)'
            """)
        #expect(figures.ending.count == ending, "\(told): ending")
        #expect(figures.ending.items.count == Int(min(ending, 1000)), "\(told)")
        let refunds = try number(
            """
            select count(*) from deed.refunds where project = 'default' and environment = 'production'
                and refunded_at > '\(earlier)' and refunded_at <= '\(now)'
            """)
        #expect(figures.refunds.count == refunds, "\(told): refunds")
    }

    @Test("For random lives each figure is what a plain count says, at several instants")
    func same() throws {
        let seed = printedSeed(of: "figures")
        try live(400, seed)
        var (refunds, ending, active) = (Int64(0), Int64(0), Int64(0))
        for day in stride(from: Int64(1), through: 36, by: 5) {
            let figures = try desk.service.useCases.ports.figures.figures(
                of: project, .production, at: at(day, 43_200_000), limit: 1000)
            try compare(figures, "seed \(seed), day \(day)")
            refunds += figures.refunds.count
            ending += figures.ending.count
            active += figures.entitlements.reduce(0) { $0 + $1.now }
        }
        #expect(refunds > 0 && ending > 0 && active > 0)
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
        #expect(browser.get(FigureTests.home).text.contains("\(FigureTests.home)/figures"))
        let bob = try desk.visitor("bob@example.com", .reader)
        #expect(bob.get("\(FigureTests.home)/figures/unclaimed").status == 403)
        #expect(!bob.get("\(FigureTests.home)/figures").text.contains("Unclaimed purchases"))
    }
}
