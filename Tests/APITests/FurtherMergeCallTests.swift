import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

extension MergeCallTests {
    @Test("A chain ends at the last customer, and a circle is refused")
    func chains() throws {
        try buy()
        #expect(merge().status == 200)
        let circle = merge("ann", into: "anon")
        #expect(circle.status == 409 && circle.code == "merge_circle")
        #expect(try circle.json["member"] == "into")
        #expect(merge("ann", into: "cleo").status == 200)
        #expect(try front.entitlement("pro", of: "anon")["merged_into"] == "cleo")
        #expect(try coins(of: "cleo") == 100)
        let nested = undo()
        #expect(nested.code == "merge_not_last")
        #expect(try nested.json["customer"] == "ann")
        #expect(front.submit(sale("40"), for: "dora").status == 200)
        let merged = merge("dora", into: "ann")
        #expect(merged.code == "merge_into_merged")
        #expect(try merged.json["merged_into"] == "cleo")
        try proveAll()
        #expect(undo("ann").status == 200)
        #expect(undo().status == 200)
        #expect(try coins(of: "anon") == 100)
        try proveAll()
    }

    @Test(
        "Erasing the other customer erases the first one along, and neither can be merged any more")
    func erased() throws {
        try buy()
        #expect(merge().status == 200)
        let look = admin(
            "POST", "/v1/customers/ann/erase", #"{"purchases":"forget","reason":"asked"}"#)
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let along = try look.json["environments"]?.array?.compactMap { $0["customer"]?.string }
        #expect(along == ["anon", "anon"])
        let erased = admin(
            "POST", "/v1/customers/ann/erase",
            #"{"purchases":"forget","reason":"asked","intent":"\#(intent)"}"#)
        #expect(erased.status == 200, "\(erased.text)")
        #expect(try erased.json["emptied"] == true)
        let full = """
            select count(*) from deed.events where type <> 'customer.erased' and payload <> ''
                and customer in ('anon', 'ann')
            """
        #expect(try front.service.database.number(full) == 0)
        #expect(front.submit(sale("50"), for: "ben").status == 200)
        let ofErased = merge("ann", into: "ben")
        #expect(ofErased.code == "merge_of_erased")
        let intoErased = merge("ben", into: "anon")
        #expect(intoErased.code == "merge_into_erased")
        #expect(try intoErased.json["member"] == "into")
        try proveAll()
    }

    @Test("A back end merges where the project allows it, and no purchase of another account")
    func backEnds() throws {
        try buy()
        let refused = merge(as: front.backend)
        #expect(refused.status == 403 && refused.code == "merge_not_allowed")
        #expect(admin("PATCH", "/v1/settings", #"{"merge":"anyone"}"#).status == 400)
        let settings = admin("PATCH", "/v1/settings", #"{"merge":"backend"}"#)
        #expect(try settings.json["settings"]?["merge"] == "backend")
        #expect(front.submit(sale("60"), for: "cleo").status == 200)
        #expect(
            admin(
                "POST", "/v1/customers/cleo/purchases/apple:60/transfer",
                #"{"to":"anon","reason":"r"}"#
            ).status == 200)
        let other = merge(as: front.backend)
        #expect(other.status == 409 && other.code == "merge_of_another_account")
        #expect(try other.json["purchase"] == "apple:60")
        #expect(
            admin(
                "POST", "/v1/customers/anon/purchases/apple:60/undo_transfer", #"{"reason":"r"}"#
            ).status == 200)
        #expect(merge(as: front.backend).status == 200)
        let support = try front.service.key(.support)
        let named = front.send(
            "POST", "/v1/customers/anon/merge/undo", #"{"reason":"r","ticket":"T-9"}"#, key: support
        )
        #expect(named.status == 200, "\(named.text)")
    }

    @Test("Evidence that waited for the first customer is recorded with the other one")
    func queued() throws {
        try buy()
        #expect(
            front.send(
                "PUT", "/v1/apps/\(Payload.bundleID)", #"{"receipts":"store"}"#, key: front.admin
            ).status == 200)
        let receipt: JSON = [
            "receipt": .string(front.store.receipt([sale("70")], at: front.daysAgo(0)))
        ]
        let reply = front.submit(receipt, for: "anon")
        #expect(reply.status == 202, "\(reply.text)")
        #expect(
            front.send(
                "PUT", "/v1/apps/\(Payload.bundleID)", #"{"receipts":"local"}"#, key: front.admin
            ).status == 200)
        #expect(merge().status == 200)
        let work = try #require(try front.work())
        #expect(work.item.state.word.rawValue == "believed", "\(work.item)")
        #expect(try front.isActive("level2", for: "ann") == true)
        try proveAll()
    }

    @Test("The history of a balance tells what came with the other customer, and what went back")
    func history() throws {
        try buy()
        #expect(merge().status == 200)
        #expect(undo().status == 200)
        func moves(_ customer: String) throws -> [String] {
            let reply = front.send("GET", "/v1/customers/\(customer)/balances/coins/history")
            return try (reply.json["movements"]?.array ?? []).map {
                "\($0["type"]?.string ?? "") \($0["amount"]?.text ?? "") \($0["balance"]?.text ?? "")"
            }
        }
        #expect(
            try moves("anon") == [
                "balance.credited 100 100", "customer.merged -100 0", "customer.unmerged 100 100",
            ])
        #expect(
            try moves("ann") == ["customer.joined 100 100", "customer.parted -100 0"])
    }
}
