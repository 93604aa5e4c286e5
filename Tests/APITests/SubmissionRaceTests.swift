import Core
import JSON
import Minting
import Synchronization
import TestSupport
import Testing

@Suite("Simultaneous submissions")
struct SubmissionRaceTests {
    private final class Replies: Sendable {
        private let state = Mutex<[Reply]>([])

        func add(_ reply: Reply) { state.withLock { $0.append(reply) } }
        var all: [Reply] { state.withLock { $0 } }
    }

    @Test("If 64 clients submit one customer's consumable, it is credited once")
    func oneCredit() throws {
        let front = try Storefront()
        let other = try TestService(beside: front.service)
        let evidence = front.signed([
            Sale("1", "coins.100", .consumable, at: front.daysAgo(0))
        ])
        let replies = Replies()
        inParallel(64) { index in
            replies.add(front.submit(evidence, through: index % 2 == 0 ? nil : other))
        }
        let outcomes = try replies.all.flatMap { try $0.outcomes }
        #expect(outcomes.count { $0 == "recorded" } == 1)
        #expect(outcomes.count { $0 == "already_known" } == 63)
        #expect(try front.coins() == 100)
        #expect(try front.events() == ["purchase.made", "balance.credited"])
    }

    @Test("If two customers submit a purchase at once, one holds it and one is refused")
    func oneHolder() throws {
        let front = try Storefront()
        let other = try TestService(beside: front.service)
        for round in 0..<20 {
            let evidence = front.signed([
                Sale("\(round)", "level2", .nonConsumable, at: front.daysAgo(0))
            ])
            let replies = Replies()
            inParallel(2) { index in
                let service = index == 0 ? front.service : other
                let customer = "c\(round)-\(index)"
                replies.add(front.submit(evidence, for: customer, through: service))
            }
            let outcomes = try replies.all.flatMap { try $0.outcomes }.sorted()
            #expect(outcomes == ["held_by_another", "recorded"])
            let active = try [0, 1].filter {
                try front.isActive("level2", for: "c\(round)-\($0)") == true
            }
            #expect(active.count == 1)
        }
        #expect(
            try front.service.database.number("select count(*) from deed.holders") == 20)
    }

    @Test("If a client and the store report a purchase at once, the client ends up holding it")
    func claim() throws {
        let front = try Storefront()
        let other = try TestService(beside: front.service)
        for round in 0..<20 {
            let sale = Sale("\(round)", "coins.100", .consumable, at: front.daysAgo(0))
            let signed = front.store.transaction(sale)
            let told = front.store.notification(
                "ONE_TIME_CHARGE", id: "n\(round)", at: front.daysAgo(0), transaction: signed)
            let evidence: JSON = ["signed_transactions": [.string(signed)]]
            inParallel(3) { index in
                if index == 0 {
                    _ = front.submit(evidence, for: "c\(round)")
                } else {
                    _ = front.notify(told, through: index == 1 ? other : nil)
                }
            }
            #expect(try front.coins(of: "c\(round)") == 100)
        }
        #expect(
            try front.service.database.number(
                "select count(*) from deed.holders where customer like '$%'") == 0)
    }

    @Test("Many simultaneous transfers leave one holder and every credit in place")
    func transfers() throws {
        let front = try Storefront(settings: #"{"transfer":"transfer","cool_down":"PT1S"}"#)
        let evidence = front.signed([
            Sale("1", "level2", .nonConsumable, at: front.daysAgo(0)),
            Sale("2", "coins.100", .consumable, at: front.daysAgo(0)),
        ])
        inParallel(8) { index in
            for round in 0..<10 {
                front.service.clock.advance(byMilliseconds: 1000)
                _ = front.submit(evidence, for: "c\((index + round) % 3)")
            }
        }
        let held = try (0..<3).map { try front.isActive("level2", for: "c\($0)") == true }
        #expect(held.count { $0 } == 1)
        let coins = try (0..<3).compactMap { try front.coins(of: "c\($0)") }
        #expect(coins == [100])
        let moves = try (0..<3).flatMap { try front.events(of: "c\($0)") }
        #expect(
            moves.count { $0 == "purchase.attached" } == moves.count { $0 == "purchase.detached" })
        #expect(moves.contains("purchase.attached"))
    }
}
