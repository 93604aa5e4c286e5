import Core
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@testable import API

/// Tests simultaneous merges, and what Deed tells other readers about a merge.
extension MergeCallTests {
    @Test(
        "Of merges of one customer at the same moment one is done, and the others name its target")
    func twoAtOnce() throws {
        try buy()
        let replies = Mutex<[Reply]>([])
        let targets = ["ann", "ben", "cleo"]
        inParallel(12) { index in
            let reply = merge(into: targets[index % targets.count])
            replies.withLock { $0.append(reply) }
        }
        let all = replies.withLock { $0 }
        let done = all.filter { $0.status == 200 }
        #expect(done.count == 1)
        let whole = try done.first?.json["merged_into"]
        for reply in all where reply.status != 200 {
            #expect(reply.status == 409 && reply.code == "customer_merged", "\(reply.text)")
            #expect(try reply.json["merged_into"] == whole)
        }
        #expect(try targets.reduce(0) { $0 + (try coins(of: $1) ?? 0) } == 100)
        try proveAll()
    }

    @Test("Two who are merged into each other at the same moment are one, whichever came first")
    func eachOther() throws {
        try buy()
        #expect(front.submit(sale("60"), for: "ben").status == 200)
        let replies = Mutex<[Reply]>([])
        inParallel(8) { index in
            let reply = index % 2 == 0 ? merge("anon", into: "ben") : merge("ben", into: "anon")
            replies.withLock { $0.append(reply) }
        }
        let all = replies.withLock { $0 }
        #expect(all.count { $0.status == 200 } == 1)
        for reply in all where reply.status != 200 {
            #expect(reply.status == 409, "\(reply.text)")
            #expect(["merge_circle", "customer_merged"].contains(reply.code), "\(reply.text)")
        }
        let parts = try ["anon", "ben"].filter {
            try front.send("GET", "/v1/customers/\($0)").json["merged_into"] != nil
        }
        #expect(parts.count == 1)
        try proveAll()
    }

    @Test("The feed tells what a merge and its undoing changed with the last event of each")
    func fed() throws {
        try buy()
        #expect(merge().status == 200)
        #expect(undo().status == 200)
        for limit in [1, 1000] {
            let items = try front.service.wholeFeed("limit=\(limit)", key: front.backend)
            for (customer, types) in [
                ("anon", ["customer.merged", "customer.unmerged"]),
                ("ann", ["customer.joined", "customer.parted"]),
            ] {
                let own = items.filter { $0.customer == customer }
                for (type, change) in zip(
                    types, customer == "anon" ? ["ended", "started"] : ["started", "ended"])
                {
                    let place = try #require(own.firstIndex { $0.type == type })
                    let following = Int(try #require(own[place]["data"]?["following"]?.integer))
                    #expect(following == 2, "\(own[place].text)")
                    let events = own[place...(place + following)]
                    #expect(events.dropLast().allSatisfy { $0.changes.isEmpty })
                    #expect(events.last?.changes == ["pro \(change)", "season \(change)"])
                }
            }
        }
    }
}
