import JSON
import TestSupport
import Testing

@Suite("Moving purchases on the command line")
final class TransferCommandTests {
    private let owned: OwnedPurchase
    private var deed: Installation { owned.deed }

    init() throws {
        owned = try OwnedPurchase(of: "anna")
    }

    private func transfer(_ arguments: String...) throws -> Finished {
        try deed.run(["transfer", "--purchase", "apple:1", "--reason", "r"] + arguments)
    }

    @Test("A purchase is moved, and moved back")
    func moved() throws {
        let there = try transfer("--customer", "anna", "--to", "ben")
        #expect(there.output == "apple:1 moved from anna to ben.\n")
        #expect(try owned.types(of: "ben") == ["purchase.attached"])
        let back = try transfer("--customer", "ben", "--undo", "--ticket", "T-1", "--json")
        #expect(try back.json["to"]?.string == "anna")
        #expect(try back.json["ticket"]?.string == "T-1")
        #expect(try owned.types(of: "ben") == ["purchase.attached", "purchase.detached"])
        #expect(
            try owned.types(of: "anna") == [
                "purchase.made", "purchase.detached", "purchase.attached",
            ])
    }

    @Test("An impossible move is refused with 1, and wrong usage ends with 2")
    func refused() throws {
        let unknown = try transfer("--customer", "carl", "--to", "ben", "--json")
        #expect(unknown.code == 1)
        #expect(try JSON.read(unknown.errors)["error"]?["code"]?.string == "purchase_unknown")
        let first = try transfer("--customer", "anna", "--undo", "--json")
        #expect(first.code == 1)
        #expect(try JSON.read(first.errors)["error"]?["code"]?.string == "never_moved")
        for arguments in [
            ["--customer", "anna"], ["--customer", "anna", "--to", "ben", "--undo"],
            ["--customer", "anna", "--to", "$unclaimed/apple:1"], ["--to", "ben"],
        ] {
            let purchase = ["transfer", "--purchase", "apple:1", "--reason", "r"]
            #expect(try deed.run(purchase + arguments).code == 2)
        }
        #expect(
            try deed.run(
                "transfer", "--customer", "anna", "--purchase", "1", "--to", "ben", "--reason", "r"
            ).code == 2)
        #expect(try owned.types(of: "anna") == ["purchase.made"])
    }

    @Test("The command explains itself")
    func help() throws {
        #expect(try deed.run("transfer", "--help").output.contains("example: deed transfer "))
    }
}
