import Core
import JSON
import Minting
import Service
import TestSupport
import Testing
import Threading

@Suite("Claims of many purchases, and by many customers at once")
struct LargeClaimTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func register(_ customer: String, _ token: String) -> Reply {
        front.send("PUT", "/v1/customers/\(customer)/account_token", #"{"token":"\#(token)"}"#)
    }

    @Test("The largest number of purchases under one token comes in one call")
    func atTheLimit() throws {
        let ledger = front.service.ledger
        let now = front.service.clock.now
        let lanes = 20
        inParallel(lanes) { lane in
            for number in stride(from: lane, to: Situation.claimLimit, by: lanes) {
                do {
                    var fact = try TransactionFact.bought(
                        "coins.100", .consumable, transaction: "\(number)", at: now)
                    fact.accountToken = Self.token
                    _ = try ledger.append(
                        .record(
                            [fact], for: .test("$unclaimed/apple:\(number)"),
                            key: "buy \(number)"))
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        let reply = register("u1", Self.token)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try front.coins() == Int64(Situation.claimLimit) * 100)
        let left = try front.service.database.number("select count(*) from deed.unclaimed_tokens")
        #expect(left == 0)
    }

    @Test("A command that is overtaken repeatedly does not delay others in its batch")
    func overtaken() throws {
        try front.service.database.run(
            """
            create function deed.overtake() returns trigger language plpgsql as $$
            begin
                raise exception 'overtaken' using errcode = 'DD006';
            end $$;
            create trigger overtake before insert on deed.tokens for each row
            when (new.customer like 'slow%') execute function deed.overtake()
            """)
        // All of these calls wait for the locked shards, and therefore share batches.
        inParallel(17) { lane in
            if lane == 0 {
                try? front.service.database.run(
                    "select count(*) from (select from deed.shards for update) as s; "
                        + "select pg_sleep(0.7)")
                return
            }
            pause(milliseconds: 200)
            let token = AccountToken(random: [UInt8](repeating: UInt8(lane), count: 16)).text
            let isSlow = lane % 4 == 0
            let reply = register(isSlow ? "slow\(lane)" : "u\(lane)", token)
            #expect(reply.status == (isSlow ? 503 : 200), "\(lane): \(reply.text)")
        }
    }
}
