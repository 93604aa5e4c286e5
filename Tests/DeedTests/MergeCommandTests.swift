import JSON
import TestSupport
import Testing

@Suite("Merging customers on the command line")
final class MergeCommandTests {
    private let owned: OwnedPurchase
    private var deed: Installation { owned.deed }

    init() throws {
        owned = try OwnedPurchase(of: "anon")
    }

    private func merge(_ arguments: String...) throws -> Finished {
        try deed.run(["customer", "merge", "--reason", "r"] + arguments)
    }

    @Test("Two customers become one, and are two again")
    func merged() throws {
        let look = try merge("--from", "anon", "--into", "ann", "--dry-run")
        #expect(look.code == 0 && look.output.hasPrefix("Nothing was done."))
        #expect(try owned.types(of: "anon") == ["purchase.made"])
        let done = try merge(
            "--from", "anon", "--into", "ann", "--ticket", "T-8", "--if-version", "1,0")
        #expect(done.output == "anon is now part of ann.\n")
        #expect(
            try deed.run("customer", "show", "anon").output
                == "anon is now part of ann; see: deed customer show ann\n")
        #expect(try deed.run("customer", "show", "anon", "--json").json["merged_into"] == "ann")
        #expect(try owned.types(of: "ann") == ["customer.joined", "purchase.attached"])
        let back = try merge("--from", "anon", "--undo", "--json")
        #expect(try back.json["parted_from"] == "ann")
        #expect(try owned.types(of: "anon").last == "purchase.attached")
        #expect(try deed.run("audit", "--projections").code == 0)
    }

    @Test("An impossible merge is refused with 1, and wrong usage ends with 2")
    func refused() throws {
        let itself = try merge("--from", "anon", "--into", "anon", "--json")
        #expect(itself.code == 1)
        #expect(try JSON.read(itself.errors)["error"]?["code"] == "merge_into_itself")
        let unmerged = try merge("--from", "anon", "--undo", "--json")
        #expect(
            try unmerged.code == 1 && JSON.read(unmerged.errors)["error"]?["code"] == "not_merged")
        let unknown = try merge("--from", "carl", "--into", "ann", "--json")
        #expect(
            try unknown.code == 1
                && JSON.read(unknown.errors)["error"]?["code"] == "customer_unknown")
        for arguments in [
            ["--from", "anon"], ["--from", "anon", "--into", "ann", "--undo"],
            ["--into", "ann"], ["--from", "anon", "--into", "$unclaimed/apple:1"],
            ["--from", "anon", "--into", "ann", "--if-version", "1"],
        ] {
            #expect(
                try deed.run(["customer", "merge", "--reason", "r"] + arguments).code == 2,
                "\(arguments)")
        }
        #expect(try owned.types(of: "anon") == ["purchase.made"])
    }

    @Test("A project lets back ends merge, and says so")
    func setting() throws {
        let set = try deed.run("project", "set", "--merge", "backend")
        #expect(set.code == 0 && set.output.contains("merge            backend"))
        #expect(try deed.run("project", "set", "--merge", "anyone").code == 2)
    }
}
