import Core
import Ledger
import Service
import TestSupport
import Testing

@testable import Jobs

@Suite("The job that reports refunds to stores", .timeLimit(.minutes(20)))
struct RefundJobTests {
    @Test("Unreadable customers are reported in the log, once while their number stays")
    func unread() throws {
        let service = try TestService()
        let set = service.send(
            "PATCH", "/v1/settings", key: try service.key(.admin),
            body: #"{"refund_reports":{"customers_consented":true}}"#)
        #expect(set.status == 200, "\(set.text)")
        let ledger = service.database.ledger(clock: service.clock.reading)
        defer { ledger.close() }
        for name in ["u1", "u2"] {
            var sold = TransactionFact(
                store: .apple, environment: .production, app: try AppID("com.example.game"),
                transaction: try TransactionID(name), original: try TransactionID(name),
                product: try ProductID("coins"), purchased: service.clock.now,
                signedAt: service.clock.now, rank: .notification)
            sold.kind = .consumable
            var facts = Facts()
            facts.transactions = [sold]
            facts.refunds = [
                RefundFact(
                    try NewsID("ask-\(name)"), .requested(.other), of: sold,
                    signedAt: service.clock.now, rank: .notification)
            ]
            _ = try ledger.append(.record(facts, for: .test(name), key: name))
        }
        try service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer in ('u1', 'u2')
            """)
        // This instance has not read these customers.
        let other = try TestService(beside: service)
        let job = Job.reportingRefunds(
            other.refundReports(), log: other.logged.log, metrics: other.metrics)
        for _ in 0..<2 {
            _ = try job.work(Run(startedAt: service.clock.now, lease: nil) { true })
        }
        let told = other.logged.all.filter { $0.contains(#""event":"refunds_unread""#) }
        #expect(told.count == 1)
        #expect(told.first?.contains(#""customers":2"#) == true, "\(told)")
    }
}
