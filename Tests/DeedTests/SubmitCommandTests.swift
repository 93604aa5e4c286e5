import Core
import JSON
import Minting
import TestSupport
import Testing

@Suite("deed submit")
final class SubmitCommandTests {
    private let database: ScratchDatabase
    private let deed: Installation
    private let folder: EvidenceFolder
    private let store = MintedStore(environment: "Sandbox")

    init() throws {
        database = try ScratchDatabase()
        deed = try Installation(database)
        folder = try EvidenceFolder()
        try deed.sell(in: folder)
    }

    private var level: Sale { Sale("1", "level2", .nonConsumable, at: Payload.signedAt) }
    private var coins: Sale { Sale("2", "coins.100", .consumable, at: Payload.signedAt) }

    private func submit(_ arguments: String...) throws -> Finished {
        try deed.run(
            ["submit"] + arguments
                + ["--environment", "sandbox", "--extra-roots", "\(folder.path)/roots"])
    }

    @Test("Files of any kind are recorded for the customer, each with its own result")
    func recorded() throws {
        let receipt = try folder.write(
            Array((store.receipt([level], at: Payload.signedAt) + "\n").utf8), "receipt")
        let signed = try folder.write(Array((store.transaction(coins) + "\n").utf8), "signed")
        let first = try submit(receipt, signed, "--customer", "u1")
        #expect(first.code == 0)
        #expect(
            first.output
                == "\(receipt)   recorded   apple:1   transaction 1\n"
                + "\(signed)   recorded   apple:2   transaction 2\n")
        let second = try submit(receipt, signed, "--customer", "u1", "--json")
        #expect(second.code == 0)
        #expect(
            try second.json["items"]?.array?.map { $0["outcome"]?.string }
                == ["already_known", "already_known"])
        #expect(try second.json["balances"]?["coins"]?.integer == 100)
        #expect(try second.json["entitlements"]?["level2"]?["active"]?.bool == true)
    }

    @Test("Another customer's purchase is refused with exit code 1, and so is refused evidence")
    func refused() throws {
        let signed = try folder.write(Array(store.transaction(level).utf8), "signed")
        #expect(try submit(signed, "--customer", "u1").code == 0)
        let other = try submit(signed, "--customer", "u2", "--json")
        #expect(other.code == 1)
        #expect(try other.json["items"]?.array?.first?["outcome"]?.string == "held_by_another")
        _ = try deed.run("project", "set", "--restore", "transfer")
        #expect(try submit(signed, "--customer", "u2", "--restore").code == 0)
        let strange = try folder.write(Array("<html>".utf8), "strange")
        let unrecognized = try submit(strange, "--customer", "u1")
        #expect(
            unrecognized.code == 1 && unrecognized.errors.contains("is a web page, not evidence"))
        // Without the extra roots, Deed does not trust the minted evidence.
        let untrusted = try deed.run("submit", signed, "--customer", "u1")
        #expect(untrusted.code == 1 && untrusted.output.contains("refused"))
    }

    @Test("A call without a file or customer, or with a missing file, explains itself")
    func usage() throws {
        #expect(try deed.run("submit", "--customer", "u1").code == 2)
        #expect(try deed.run("submit", "file").code == 2)
        #expect(try deed.run("submit", "/no/such/file", "--customer", "u1").code == 3)
        let help = try deed.run("submit", "--help")
        #expect(help.code == 0 && help.output.contains("usage: deed submit [FILE]... [--flags]"))
    }
}

extension Installation {
    /// Creates the project `default` with the app of the minted evidence and a catalog.
    func sell(in folder: EvidenceFolder) throws {
        let catalog = """
            {"products":[
              {"id":"coins.100","kind":"consumable","credits":{"coins":100}},
              {"id":"level2","kind":"non_consumable","entitlements":["level2"]},
              {"id":"pro.month","kind":"auto_renewable","group":"pro","level":1,
               "entitlements":["pro"]}]}
            """
        let file = try folder.write(Array(catalog.utf8), "catalog.json")
        let steps = [
            ["project", "create", "default", "--if-missing"], ["catalog", "apply", file],
            ["app", "set", "--bundle-id", Payload.bundleID, "--sandbox-access", "all"],
        ]
        for step in steps {
            let finished = try run(step)
            if finished.code != 0 { throw Failed(description: finished.errors) }
        }
    }
}
