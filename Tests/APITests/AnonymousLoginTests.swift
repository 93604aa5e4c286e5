import Core
import Foundation
import JSON
import Minting
import Synchronization
import TestSupport
import Testing

/// Runs the steps of `docs/identity.md`, "Anonymous first, then known", row by row.
@Suite("A player who is anonymous first and known later", .timeLimit(.minutes(10)))
struct AnonymousLoginTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private let front: Storefront

    init() throws {
        front = try Storefront()
        let allowed = front.send(
            "PATCH", "/v1/settings", #"{"merge":"backend"}"#, key: front.admin)
        #expect(allowed.status == 200, "\(allowed.text)")
    }

    /// Performs step 1 of the page.
    private func start(_ customer: String = "anon-7", token: String = Self.token) {
        let reply = front.send(
            "PUT", "/v1/customers/\(customer)/account_token", #"{"token":"\#(token)"}"#)
        #expect(reply.status == 200, "\(reply.text)")
    }

    /// Performs step 3 of the page.
    private func login(
        _ customer: String = "anon-7", as known: String = "player-1", key: String? = nil
    ) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/merge", #"{"into":"\#(known)","reason":"login"}"#,
            idempotencyKey: key ?? "login-\(customer)-\(known)")
    }

    private func coins(_ transaction: String) -> Sale {
        Sale(transaction, "coins.100", .consumable, at: front.daysAgo(1)).with {
            $0.token = Self.token
        }
    }

    private func report(_ sale: Sale) {
        let reply = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n-\(sale.transaction)", at: front.daysAgo(0),
                transaction: front.store.transaction(sale)))
        #expect(reply.status == 200, "\(reply.text)")
    }

    private func balance(of customer: String) throws -> Int64? {
        try front.send("GET", "/v1/customers/\(customer)/balances").json["balances"]?["coins"]?
            .integer
    }

    private func isMerged(_ reply: Reply) throws -> Bool {
        let other = try reply.json["merged_into"]
        return reply.status == 409 && reply.code == "customer_merged" && other == "player-1"
    }

    /// The page's claims, by the first column of its table.
    private static let rows: [String: @Sendable (AnonymousLoginTests) throws -> Void] = [
        "the call comes twice, with the same key": { (test: AnonymousLoginTests) throws in
            test.start()
            let first = test.login()
            #expect(first.status == 200, "\(first.text)")
            let count = try test.front.service.eventCount()
            #expect(test.login().text == first.text)
            #expect(try test.front.service.eventCount() == count)
        },
        "the call comes twice, with another key": { (test: AnonymousLoginTests) throws in
            test.start()
            #expect(test.login().status == 200)
            #expect(try test.isMerged(test.login(key: "another")))
        },
        "`anon-7` has done nothing yet, not even step 1": { (test: AnonymousLoginTests) throws in
            let reply = test.login()
            #expect(reply.status == 404 && reply.code == "customer_unknown", "\(reply.text)")
        },
        "`player-1` is new": { (test: AnonymousLoginTests) throws in
            test.start()
            #expect(test.front.submit(test.coins("1"), for: "anon-7").status == 200)
            #expect(test.login().status == 200)
            #expect(try test.balance(of: "player-1") == 100)
        },
        "the login comes late, and `anon-7` bought in between": {
            (test: AnonymousLoginTests) throws in
            test.start()
            #expect(test.front.submit(test.coins("1"), for: "player-1").status == 200)
            #expect(test.front.submit(test.coins("2"), for: "anon-7").status == 200)
            test.front.service.clock.advance(byMilliseconds: 400 * 86_400_000)
            #expect(test.login().status == 200)
            #expect(try test.balance(of: "player-1") == 200)
        },
        "evidence for `anon-7` is sent after the login": { (test: AnonymousLoginTests) throws in
            test.start()
            #expect(test.login().status == 200)
            #expect(try test.isMerged(test.front.submit(test.coins("1"), for: "anon-7")))
            #expect(test.front.submit(test.coins("1"), for: "player-1").status == 200)
            test.report(test.coins("2"))
            #expect(try test.balance(of: "player-1") == 200)
        },
        "`anon-7` buys before the login, and the store reports the purchase afterwards": {
            (test: AnonymousLoginTests) throws in
            test.start()
            #expect(test.login().status == 200)
            test.report(test.coins("1"))
            #expect(try test.balance(of: "player-1") == 100)
        },
        "another player logs in on the same phone": { (test: AnonymousLoginTests) throws in
            test.start()
            #expect(test.login().status == 200)
            #expect(try test.isMerged(test.login(as: "player-2")))
        },
        "`player-1` logs in on a second phone with `anon-8`": {
            (test: AnonymousLoginTests) throws in
            test.start()
            test.start("anon-8", token: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12")
            #expect(test.front.submit(test.coins("1"), for: "anon-7").status == 200)
            for customer in ["anon-7", "anon-8"] { #expect(test.login(customer).status == 200) }
            #expect(try test.balance(of: "player-1") == 100)
            #expect(
                try test.front.send("GET", "/v1/customers/anon-8").json["merged_into"] == "player-1"
            )
        },
        "two logins at the same moment": { (test: AnonymousLoginTests) throws in
            test.start()
            let replies = Mutex<[Reply]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let reply = test.login(key: "login-\(number)")
                replies.withLock { $0.append(reply) }
            }
            let all = replies.withLock { $0 }
            #expect(all.filter { $0.status == 200 }.count == 1, "\(all.map(\.text))")
            let refused = try all.filter(test.isMerged)
            #expect(refused.count == 7, "\(all.map(\.text))")
        },
    ]

    /// The table's first column.
    private static let told: [String] = {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/identity.md")
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        let section = text.components(separatedBy: "### Anonymous first, then known\n").last ?? ""
        let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
        return section[..<end].split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            .compactMap { row in
                row.dropFirst(2).components(separatedBy: " | ").first
            }
    }()

    @Test("The page's table has the rows that are played here, and no other ones")
    func complete() {
        #expect(Set(Self.told) == Set(Self.rows.keys))
        #expect(Self.told.count == Self.rows.count)
    }

    @Test("Each row of the page's table holds", arguments: rows.keys.sorted())
    func row(_ name: String) throws {
        let play = try #require(Self.rows[name])
        try play(self)
    }
}
