import Core
import JSON
import Ledger
import TestSupport
import Testing

@Suite("Unclaimed purchases, limits and names, on the command line")
final class UnclaimedCommandTests {
    private let folder: ScratchFolder
    private let database: ScratchDatabase
    private let deed: Installation

    init() throws {
        folder = try ScratchFolder()
        database = try ScratchDatabase()
        deed = try Installation(database)
        _ = try deed.run("project", "create", "default")
        let ledger = database.ledger()
        defer { ledger.close() }
        for number in 1...2 {
            var fact = try TransactionFact.bought(
                "level2", .nonConsumable, transaction: "\(number)", at: Instant(milliseconds: 0))
            fact.accountToken = "6F0A4F0E-8a0e-4b43-9f5d-0d1b6c0f8a11"
            _ = try ledger.append(
                .record([fact], for: .test("$unclaimed/apple:\(number)"), key: "buy"))
        }
    }

    @Test("They are listed, shown and attached")
    func attached() throws {
        let listed = try deed.run("unclaimed", "list")
        #expect(
            listed.output
                == "apple:1   level2   since 2026-11-20T19:21:00.000Z   "
                + "token 6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11\n"
                + "apple:2   level2   since 2026-11-20T19:21:00.000Z   "
                + "token 6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11\n")
        let page = try deed.run("unclaimed", "list", "--limit", "1", "--json")
        #expect(try page.json["next"]?.string == "apple:1")
        let shown = try deed.run("unclaimed", "show", "apple:1")
        #expect(shown.output.hasSuffix("  transaction 1   level2   1970-01-01T00:00:00.000Z\n"))
        let attach = ["unclaimed", "attach", "apple:1", "--customer", "anna", "--reason", "r"]
        #expect(try deed.run(attach).output == "anna now holds apple:1.\n")
        let again = try deed.run(attach + ["--json"])
        #expect(again.code == 1)
        #expect(try JSON.read(again.errors)["error"]?["code"]?.string == "not_unclaimed")
        #expect(try deed.run("unclaimed", "show", "apple:1").code == 1)
        #expect(
            try deed.run("unclaimed", "list", "--after", "apple:1").output.hasPrefix("apple:2 "))
        #expect(
            try deed.run("unclaimed", "list", "--environment", "sandbox").output
                == "No purchase of default in sandbox is unclaimed.\n")
        #expect(try deed.run("unclaimed", "show", "nonsense").code == 2)
        #expect(try deed.run("unclaimed", "attach", "apple:2", "--reason", "r").code == 2)
    }

    @Test("Names that the catalog does not know need --allow-unknown")
    func names() throws {
        let grant = ["grant", "--customer", "u1", "--reason", "r", "--entitlement", "levle2"]
        #expect(try deed.run(grant).code == 0)
        let catalog = try folder.write(
            #"{"products":[{"id":"level2","kind":"non_consumable","entitlements":["level2"]}]}"#,
            to: "catalog")
        #expect(try deed.run("catalog", "apply", catalog).code == 0)
        let refused = try deed.run(grant)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("the nearest name is \"level2\""))
        #expect(try deed.run(grant + ["--allow-unknown"]).code == 0)
        let adjust = ["adjust", "--customer", "u1", "--currency", "coins", "--amount", "5"]
        #expect(try deed.run(adjust + ["--reason", "r"]).code == 1)
        #expect(try deed.run(adjust + ["--reason", "r", "--allow-unknown"]).code == 0)
        // The customer has coins now, so the currency is known.
        #expect(try deed.run(adjust + ["--reason", "r"]).code == 0)
    }

    @Test("Limits for back ends' credits are set, shown and removed")
    func limits() throws {
        let set = try deed.run("project", "set", "--credit-limit", "coins=100/1000,gems=1/2")
        #expect(set.output.contains("\ncredit limits    coins=100/1000, gems=1/2\n"))
        let taken = try deed.run("project", "set", "--credit-limit", "gems=none", "--json")
        #expect(
            try taken.json["settings"]?["credit_limits"]?.text
                == #"{"coins":{"per_call":100,"per_day":1000}}"#)
        for bad in ["coins", "coins=", "coins=1", "coins=0/1", "coins=2/1", "coins=1/x", "=1/2"] {
            #expect(try deed.run("project", "set", "--credit-limit", bad).code == 2, "\(bad)")
        }
    }

    @Test("A service reports how many purchases no customer claimed")
    func gauge() throws {
        let service = try deed.serve()
        var client = try APIClient(key: try deed.makeKey())
        var count: Int64?
        _ = try eventually(within: 20_000) {
            count = try client.metrics(of: service)["deed_unclaimed_purchases"]
            return count == 2
        }
        #expect(count == 2)
    }
}
