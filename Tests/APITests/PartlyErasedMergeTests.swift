import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

/// Merges of customers who were erased in only one environment.
extension MergeCallTests {
    private func erase(_ customer: String, in environment: String) throws {
        let body =
            #"{"purchases":"forget","reason":"asked","environment":"\#(environment)""#
        let look = admin("POST", "/v1/customers/\(customer)/erase", body + "}")
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let erased = admin(
            "POST", "/v1/customers/\(customer)/erase", body + #","intent":"\#(intent)"}"#)
        #expect(erased.status == 200, "\(erased.text)")
    }

    private func mergedInto(_ customer: String, in environment: String) throws -> String? {
        try front.send(
            "GET", "/v1/customers/\(customer)/entitlements?environment=\(environment)"
        ).json["merged_into"]?.string
    }

    @Test("A customer erased in one environment is merged with what is left, and gets it back")
    func firstErased() throws {
        for (environment, other) in [("production", "sandbox"), ("sandbox", "production")] {
            let customer = "half-\(environment)"
            let tested: JSON = [
                "signed_transactions": [
                    .string(front.sandbox.transaction(sale("71\(environment)", "coins.100"))),
                    .string(front.store.transaction(sale("72\(environment)", "coins.100"))),
                ]
            ]
            #expect(front.submit(tested, for: customer).status == 200)
            try erase(customer, in: environment)
            let whole = "whole-\(environment)"
            #expect(merge(customer, into: whole).status == 200)
            for world in [environment, other] {
                #expect(try mergedInto(customer, in: world) == whole, "\(environment) \(world)")
            }
            #expect(try coins(of: whole, in: other) == 100)
            #expect(try coins(of: whole, in: environment) ?? 0 == 0)
            let write = admin(
                "POST", "/v1/customers/\(customer)/balances/coins/adjust",
                #"{"amount":1,"reason":"r","environment":"\#(environment)"}"#)
            #expect(write.code == "customer_merged", "\(write.text)")
            let back = undo(customer)
            #expect(back.status == 200, "\(back.text)")
            #expect(try coins(of: customer, in: other) == 100)
            for world in [environment, other] {
                #expect(try mergedInto(customer, in: world) == nil, "\(environment) \(world)")
            }
            #expect(merge(customer, into: whole).status == 200)
            #expect(try coins(of: whole, in: other) == 100)
        }
        try proveAll()
    }

    @Test("After an erasure of both in one environment, the other one is merged further and undone")
    func chainErased() throws {
        try buy()
        #expect(merge().status == 200)
        try erase("ann", in: "production")
        #expect(try mergedInto("anon", in: "sandbox") == "ann")
        let again = merge()
        #expect(again.code == "customer_merged", "\(again.text)")
        let circle = merge("ann", into: "anon")
        #expect(circle.code == "merge_circle", "\(circle.text)")
        #expect(merge("ann", into: "cleo").status == 200)
        #expect(try mergedInto("anon", in: "sandbox") == "cleo")
        #expect(try mergedInto("ann", in: "production") == "cleo")
        #expect(try coins(of: "cleo", in: "sandbox") == 100)
        let nested = undo()
        #expect(nested.code == "merge_not_last", "\(nested.text)")
        #expect(undo("ann").status == 200)
        #expect(try mergedInto("ann", in: "production") == nil)
        #expect(try coins(of: "ann", in: "sandbox") == 100)
        let last = undo()
        #expect(last.status == 200, "\(last.text)")
        #expect(try coins(of: "anon", in: "sandbox") == 100)
        #expect(undo().code == "not_merged")
        try proveAll()
    }

    @Test("An undone merge that was left only in the sandbox is undone once under one key")
    func undoneInSandbox() throws {
        try buy()
        #expect(merge().status == 200)
        try erase("ann", in: "production")
        let first = undo(key: "k")
        #expect(first.status == 200, "\(first.text)")
        let again = undo(key: "k")
        #expect(again.status == 200, "\(again.text)")
        #expect(try again.json["parted_from"] == "ann")
        #expect(try again.json["at"] == first.json["at"])
        #expect(merge().status == 200)
        #expect(undo(key: "k").status == 200)
        #expect(try mergedInto("anon", in: "sandbox") == "ann")
        #expect(undo(key: "l").status == 200)
        try proveAll()
    }

    @Test("A key that undid an earlier merge does not undo the one that is left in the sandbox")
    func undoneBefore() throws {
        try buy()
        #expect(merge().status == 200)
        #expect(undo(key: "k").status == 200)
        #expect(merge().status == 200)
        try erase("ann", in: "production")
        #expect(undo(key: "k").code == "done_before_erasure")
        #expect(try mergedInto("anon", in: "sandbox") == "ann")
        #expect(undo(key: "l").status == 200)
        try proveAll()
    }

    @Test("What the first customer does where both were erased stays its own")
    func newLife() throws {
        try buy()
        #expect(merge().status == 200)
        try erase("ann", in: "production")
        let write = admin(
            "POST", "/v1/customers/anon/balances/coins/adjust", #"{"amount":7,"reason":"r"}"#)
        // Both environments share the merge, so Deed may refuse the write and name the other customer.
        #expect(write.status == 200 || write.code == "customer_merged", "\(write.text)")
        let own = write.status == 200 ? 7 : 0 as Int64
        #expect(merge("ann", into: "cleo").status == 200)
        #expect(undo("ann").status == 200)
        #expect(undo().status == 200)
        #expect(try coins(of: "anon") ?? 0 == own)
        #expect(try coins(of: "anon", in: "sandbox") == 100)
        #expect(merge().status == 200)
        #expect(try coins(of: "ann") ?? 0 == own && coins(of: "ann", in: "sandbox") == 100)
        try proveAll()
    }

    @Test("A target erased in one environment gets everything, and gives it back")
    func targetErased() throws {
        try buy("ann")
        try erase("ann", in: "production")
        #expect(front.submit(sale("81", "coins.100"), for: "anon").status == 200)
        #expect(merge().status == 200)
        #expect(try coins(of: "ann") == 100 && coins(of: "ann", in: "sandbox") == 100)
        #expect(undo().status == 200)
        #expect(try coins(of: "anon") == 100 && coins(of: "ann", in: "sandbox") == 100)
        #expect(try coins(of: "ann") == 0)
        #expect(merge().status == 200)
        try erase("ann", in: "sandbox")
        #expect(undo().status == 200)
        #expect(try coins(of: "anon") == 100)
        try proveAll()
    }

    private func buy(_ customer: String) throws { try buy(as: customer) }

    @Test(
        "An undone transfer to a merged customer takes the versions of the two whom it moves between"
    )
    func movedBack() throws {
        #expect(front.submit(sale("90"), for: "anon").status == 200)
        let path = "/v1/customers/ben/purchases/apple:90/undo_transfer"
        #expect(
            admin(
                "POST", "/v1/customers/anon/purchases/apple:90/transfer",
                #"{"to":"ben","reason":"r"}"#
            ).status == 200)
        #expect(merge("anon", into: "cleo").status == 200)
        let look = admin("POST", path + "?dry_run=1", #"{"reason":"r"}"#)
        let sides = try #require(try look.json["customers"]?.array, "\(look.text)")
        #expect(sides.compactMap { $0["customer"]?.string } == ["ben", "cleo"], "\(look.text)")
        let versions = sides.compactMap { $0["version"]?.integer }.map { "\($0)" }
        let text = versions.joined(separator: ",")
        for wrong in ["99,\(versions.last ?? "")", "\(versions.first ?? ""),99"] {
            let stale = admin("POST", "\(path)?if_version=\(wrong)", #"{"reason":"r"}"#)
            #expect(stale.code == "customer_changed_meanwhile", "\(stale.text)")
        }
        let done = admin("POST", "\(path)?if_version=\(text)", #"{"reason":"r"}"#)
        #expect(done.status == 200, "\(done.text)")
        #expect(try done.json["to"] == "cleo")
        try proveAll()
    }
}
