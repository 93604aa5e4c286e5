import Core
import Ledger
import Service
import Synchronization
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
        for name in ["u1", "u2"] { try ask(name, at: service.clock.now, through: ledger) }
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

    /// Records a purchase and a request to refund it.
    private func ask(
        _ name: String, of project: String = "default", at now: Instant, through ledger: Ledger
    ) throws {
        var sold = TransactionFact(
            store: .apple, environment: .production, app: try AppID("com.example.game"),
            transaction: try TransactionID(name), original: try TransactionID(name),
            product: try ProductID("coins"), purchased: now, signedAt: now, rank: .notification)
        sold.kind = .consumable
        var facts = Facts()
        facts.transactions = [sold]
        facts.refunds = [
            RefundFact(
                try NewsID("ask-\(name)"), .requested(.other), of: sold, signedAt: now,
                rank: .notification)
        ]
        _ = try ledger.append(.record(facts, for: .test(name, project: project), key: name))
    }

    @Test(
        "A project that cannot be read and a request that is refused delay no other, and fail the job"
    )
    func faultOfOne() throws {
        let service = try TestService()
        try service.createProject("another")
        let set = service.send(
            "PATCH", "/v1/settings", key: try service.key(.admin),
            body: #"{"refund_reports":{"customers_consented":true}}"#)
        #expect(set.status == 200, "\(set.text)")
        let ledger = service.database.ledger(clock: service.clock.reading)
        defer { ledger.close() }
        // Deed comes to this project first, and then to the customer with the earlier deadline.
        try ask("u0", of: "another", at: service.clock.now, through: ledger)
        for name in ["u1", "u2"] {
            try ask(name, at: service.clock.now, through: ledger)
            service.clock.advance(byMilliseconds: 1000)
        }
        let handled = Mutex<[String]>([])
        let isDamaged = Mutex(true)
        var intake = service.intake
        let whole = intake.ledger
        intake.ledger = TappedLog(
            whole,
            append: { command throws(CommandError) in
                handled.withLock { $0.append(command.stream.customer.text) }
                if command.stream.customer.text == "u1" { throw .refused(.reconciliationRunning) }
                return try whole.append(command)
            },
            project: { project throws(Fault) in
                if project.text == "another", isDamaged.withLock({ $0 }) { throw .logBlocked }
                return try whole.project(project)
            })
        let job = Job.reportingRefunds(
            service.refundReports(intake), log: service.logged.log, metrics: service.metrics)
        func run() throws(Fault) {
            _ = try job.work(Run(startedAt: service.clock.now, lease: nil) { true })
        }
        #expect(throws: Fault.logBlocked) { try run() }
        #expect(handled.withLock { $0 } == ["u1", "u2"])
        // Nothing else would say that the store waits in vain.
        isDamaged.withLock { $0 = false }
        #expect {
            try run()
        } throws: {
            if case .broken(let reason) = $0 as? Fault {
                reason.contains("reconciliation")
            } else {
                false
            }
        }
        #expect(handled.withLock { $0 } == ["u1", "u2", "u1", "u2"])
    }
}
