import JSON
import TestSupport
import Testing

@Suite("Balances and orders on the command line")
final class BalanceCommandTests {
    private let database: ScratchDatabase
    private let deed: Installation

    init() throws {
        database = try ScratchDatabase()
        deed = try Installation(database)
    }

    @Test("A balance is adjusted up and down, shown, and lists its movements")
    func balances() throws {
        #expect(
            try deed.run(
                "adjust", "--customer", "u1", "--currency", "c", "--amount", "1",
                "--reason", "r"
            ).code == 1)
        _ = try deed.run("project", "create", "default")
        #expect(
            try deed.run("customer", "balances", "u1").output
                == "The customer \"u1\" has no balance in production.\n")
        let up = ["adjust", "--customer", "u1", "--currency", "coins", "--reason", "sorry"]
        #expect(try deed.run(up + ["--amount", "100"]).output == "u1 now has 100 coins.\n")
        let down = try deed.run(up + ["--amount", "-130", "--ticket", "T-1", "--json"])
        #expect(try down.json["amount"]?.integer == -130)
        #expect(try down.json["balance"]?.integer == -30)
        #expect(try down.json["ticket"]?.string == "T-1")
        #expect(try deed.run("customer", "balances", "u1").output == "coins   -30\n")
        #expect(
            try deed.run("customer", "balances", "u1", "--json").json["balances"]?["coins"]?.integer
                == -30)
        let history = try deed.run("customer", "balances", "u1", "--currency", "coins")
        let lines = history.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasSuffix("balance.adjusted   +100   leaves 100   sorry") == true)
        #expect(lines.last?.hasSuffix("balance.adjusted   -130   leaves -30   sorry") == true)
        let page = try deed.run(
            "customer", "balances", "u1", "--currency", "coins", "--limit", "1", "--json")
        #expect(try page.json["next"]?.integer == 1)
        #expect(try page.json["movements"]?.array?.count == 1)
    }

    @Test("Repeated with one idempotency key, an adjustment counts once")
    func repetition() throws {
        _ = try deed.run("project", "create", "default")
        let adjust = [
            "adjust", "--customer", "u1", "--currency", "coins", "--amount", "5", "--reason", "r",
            "--idempotency-key", "k",
        ]
        for _ in 0..<2 { #expect(try deed.run(adjust).output == "u1 now has 5 coins.\n") }
    }

    @Test("Orders that a back end opened are listed, shown and closed")
    func orders() throws {
        let service = try deed.serve()
        let key = try deed.makeKey("backend")
        #expect(
            try deed.run("customer", "orders", "u1").output
                == "The customer \"u1\" has no orders in production.\n")
        var client = try APIClient(key: key)
        for order in ["o1", "o2"] {
            let opened = try client.send(
                "POST", "\(service.url)/v1/customers/u1/orders",
                body: #"{"order":"\#(order)","product":"coins"}"#)
            #expect(opened.status == 201)
        }
        let closed = try deed.run(
            "order", "close", "--customer", "u1", "--order", "o1", "--because", "settled",
            "--reason", "gave coins")
        #expect(closed.output.hasPrefix("u1   o1 of coins   settled   opened "))
        let listed = try deed.run("customer", "orders", "u1").output.split(separator: "\n")
        #expect(listed.count == 2)
        #expect(listed.first?.hasPrefix("o1 of coins   settled   opened ") == true)
        #expect(listed.last?.hasPrefix("o2 of coins   open   opened ") == true)
        let shown = try deed.run("order", "show", "o2", "--json")
        #expect(try shown.json["customer"]?.string == "u1")
        #expect(try shown.json["order"]?["state"]?.string == "open")
        let unknown = try deed.run("order", "show", "o3", "--json")
        #expect(unknown.code == 1)
        #expect(try JSON.read(unknown.errors)["error"]?["code"]?.string == "order_unknown")
    }

    @Test(
        "Wrong usage ends with 2 and says what is wrong",
        arguments: [
            ["adjust"], ["adjust", "--customer", "u1", "--currency", "c", "--amount", "1"],
            ["adjust", "--customer", "u1", "--currency", "c", "--amount", "x", "--reason", "r"],
            ["customer", "balances"], ["customer", "balances", "u1", "--limit", "5"],
            ["customer", "orders", "u1", "--limit", "0"], ["order"], ["order", "show"],
            ["order", "show", "o1", "--environment", "test"],
            [
                "order", "close", "--customer", "u1", "--order", "o", "--because", "stale",
                "--reason", "r",
            ],
            ["order", "close", "--customer", "u1", "--order", "o", "--because", "settled"],
        ])
    func usage(_ arguments: [String]) throws {
        try deed.expectUsage(of: arguments)
    }

    @Test(
        "Each command explains itself",
        arguments: ["adjust", "customer balances", "customer orders", "order show", "order close"])
    func help(_ command: String) throws {
        try deed.expectHelp(of: command)
    }
}
