import Core
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Reports on refunds next to what cannot be recorded")
struct BlockedRefundTests {
    /// A store that accepts reports.
    private final class Asked: Sendable {
        private let state = Mutex<[String]>([])

        var transactions: [String] { state.withLock { $0 } }

        func take(_ call: StoreCall) -> StoreAnswer {
            if case .consumption(_, of: let transaction) = call {
                state.withLock { $0.append(transaction.text) }
            }
            return StoreAnswer(environment: .production)
        }
    }

    private let front: Storefront
    private let asked = Asked()

    init() throws {
        front = try Storefront(
            settings: #"{"refund_reports":{"customers_consented":true,"preference":"decline"}}"#)
        front.service.store.answerCalls { [asked] call, _ throws(StoreTrouble) in
            asked.take(call)
        }
    }

    private func ask(_ id: String, of sale: Sale) {
        let reply = front.notify(
            front.store.notification(
                "CONSUMPTION_REQUEST", id: id, at: front.daysAgo(0),
                transaction: front.store.transaction(sale), reason: "UNINTENDED_PURCHASE"))
        #expect(reply.status == 200)
    }

    @Test("A request whose shard is blocked prevents no report about another customer")
    func blocked() throws {
        let sales = (1...9).map { number in
            Sale("1\(number)", "coins.100", .consumable, at: front.daysAgo(2))
        }
        for (number, sale) in zip(1..., sales) { _ = front.submit(sale, for: "u\(number)") }
        let database = front.service.database
        let number = try database.number(
            """
            select max(substr(customer, 2)::bigint) from deed.customers
            where customer ~ '^u[2-9]$'
                and shard <> (select shard from deed.customers where customer = 'u1')
            """)
        // The deadline of the first request is earlier, so Deed tries that report first.
        ask("n1", of: sales[Int(number) - 1])
        front.service.clock.advance(byMilliseconds: 60_000)
        ask("n2", of: sales[0])
        try database.run(
            """
            insert into deed.events select e.shard, s.head + 1, project, environment, 'stray',
                version, type, payload, digest, e.chain, occurred_at, e.recorded_at, actor, cause,
                cause_index, cause_digest, catalog_version, evidence, format
            from deed.events as e join deed.shards as s using (shard)
            where e.shard = (select shard from deed.customers where customer = 'u\(number)')
            order by seq desc limit 1
            """)
        let told = Mutex<[String]>([])
        #expect(throws: CommandError.fault(.logBlocked)) {
            try front.service.refundReports().report(
                while: { true },
                tell: { news in told.withLock { $0.append(news.request.id.text) } })
        }
        #expect(told.withLock { $0 } == ["n2"])
        #expect(asked.transactions == ["11"])
        #expect(try front.events().last == "refund.reported")
    }

    @Test("Once a clock that was ahead is right again, an app's pause after trouble is over")
    func clockSetBack() throws {
        let sale = Sale("7", "coins.100", .consumable, at: front.daysAgo(2))
        _ = front.submit(sale)
        ask("n1", of: sale)
        let reports = front.service.refundReports()
        let step: Int64 = 3_600_000
        front.service.clock.advance(byMilliseconds: step)
        front.service.store.answerCalls { _, _ throws(StoreTrouble) in
            throw .unavailable("it answered 500")
        }
        try reports.report(while: { true }, tell: { _ in })
        front.service.clock.advance(byMilliseconds: -step)
        front.service.store.answerCalls { [asked] call, _ throws(StoreTrouble) in
            asked.take(call)
        }
        try reports.report(while: { true }, tell: { _ in })
        #expect(asked.transactions == ["7"])
    }
}
