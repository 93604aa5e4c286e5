import Core
import JSON
import Ledger
import Minting
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Reports to the store about requested refunds")
struct RefundReportTests {
    private let front: Storefront
    private let sent = Sent()

    init() throws {
        front = try Storefront(
            settings: #"{"refund_reports":{"customers_consented":true,"preference":"decline"}}"#)
        front.service.store.answerCalls { [sent] call, _ throws(StoreTrouble) in
            try sent.take(call)
        }
    }

    /// A store that accepts reports, or answers with an error.
    private final class Sent: Sendable {
        private let state = Mutex<(calls: [StoreCall], trouble: StoreTrouble?)>(([], nil))

        var calls: [StoreCall] { state.withLock { $0.calls } }

        func fail(_ trouble: StoreTrouble?) { state.withLock { $0.trouble = trouble } }

        func take(_ call: StoreCall) throws(StoreTrouble) -> StoreAnswer {
            let trouble = state.withLock { state in
                state.calls.append(call)
                return state.trouble
            }
            if let trouble { throw trouble }
            return StoreAnswer(environment: .production)
        }
    }

    private var coins: Sale { Sale("7", "coins.100", .consumable, at: front.daysAgo(2)) }

    private func ask(_ id: String = "n1", of sale: Sale) {
        let reply = front.notify(
            front.store.notification(
                "CONSUMPTION_REQUEST", id: id, at: front.daysAgo(0),
                transaction: front.store.transaction(sale), reason: "UNINTENDED_PURCHASE"))
        #expect(reply.status == 200)
    }

    private func spend(_ amount: Int) {
        let reply = front.send(
            "POST", "/v1/customers/u1/balances/coins/spend", #"{"amount":\#(amount)}"#)
        #expect(reply.status == 200)
    }

    private func report(_ reports: RefundReports? = nil) throws -> [String] {
        let told = Mutex<[String]>([])
        try (reports ?? front.service.refundReports()).report(while: { true }) { news in
            let word =
                switch news.outcome {
                case .reported: "reported"
                case .unreported(let event): "\(event.why.rawValue): \(event.detail ?? "")"
                case .waits(let trouble): trouble.code
                }
            told.withLock { $0.append(word) }
        }
        return told.withLock { $0 }
    }

    private func listed() throws -> Int? {
        try front.send("GET", "/v1/refund_requests").json["requests"]?.array?.count
    }

    private func told(used: Int64, of id: String = "7") throws -> StoreCall {
        .consumption(
            ConsumptionReport(
                delivery: .delivered, hasSample: false, used: used, preference: .decline),
            of: try TransactionID(id))
    }

    @Test("The store gets one report from the log, and the request leaves the list")
    func once() throws {
        _ = front.submit(coins)
        spend(40)
        ask(of: coins)
        ask(of: coins)
        #expect(try listed() == 1)
        #expect(try report() == ["reported"])
        #expect(sent.calls == [try told(used: 40_000)])
        #expect(try front.events().suffix(2) == ["refund.report_prepared", "refund.reported"])
        #expect(try listed() == 0)
        ask(of: coins)
        #expect(try report() == [] && sent.calls.count == 1)
        // Another refund request about the same purchase needs its own report.
        ask("n2", of: coins)
        #expect(try report() == ["reported"] && sent.calls.count == 2)
    }

    @Test("An unreadable customer is counted, and does not block reports about others")
    func unread() throws {
        let damaged = Sale("8", "coins.100", .consumable, at: front.daysAgo(2))
        _ = front.submit(coins)
        _ = front.submit(damaged, for: "u2")
        ask(of: coins)
        ask("n2", of: damaged)
        #expect(try front.send("GET", "/v1/refund_requests").json["unread"] == nil)
        try front.service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer = 'u2'
            """)
        // This instance has not read either customer.
        let other = try TestService(beside: front.service)
        let list = try front.send("GET", "/v1/refund_requests", through: other).json
        #expect(list["requests"]?.array?.map { $0["customer"]?.string } == ["u1"])
        #expect(list["unread"] == 1)
        other.store.answerCalls { [sent] call, _ throws(StoreTrouble) in try sent.take(call) }
        var unread = 0
        try other.refundReports().report(
            while: { true }, tell: { _ in }, unread: { unread = $0 })
        #expect(unread == 1)
        #expect(sent.calls.count == 1)
    }

    @Test("No report is sent unless the project says that its customers agreed")
    func off() throws {
        let plain = #"{"refund_reports":{"preference":"decline"}}"#
        let refused = front.send("PATCH", "/v1/settings", plain, key: front.admin)
        #expect(refused.status == 400 && refused.code == "invalid_member")
        let none = front.send(
            "PATCH", "/v1/settings", #"{"refund_reports":null}"#, key: front.admin)
        #expect(none.status == 200)
        _ = front.submit(coins)
        ask(of: coins)
        #expect(try report() == [] && sent.calls == [])
        #expect(try listed() == 1)
        front.service.clock.advance(byMilliseconds: 13 * 3_600_000)
        #expect(try report() == [])
        #expect(try !front.events().contains("refund.unreported"))
    }

    @Test("After a crash following the store's answer, the report is sent again word for word")
    func crash() throws {
        _ = front.submit(coins)
        spend(40)
        ask(of: coins)
        var intake = front.service.intake
        let ledger = intake.ledger
        intake.ledger = TappedLog(ledger) { [sent] command throws(CommandError) in
            if !sent.calls.isEmpty { throw .fault(.unavailable) }
            return try ledger.append(command)
        }
        #expect(throws: CommandError.fault(.unavailable)) {
            try report(front.service.refundReports(intake))
        }
        spend(50)
        #expect(try report() == ["reported"])
        let same = try told(used: 40_000)
        #expect(sent.calls == [same, same])
        #expect(try front.events().filter { $0 == "refund.reported" }.count == 1)
    }

    @Test("A missed deadline is recorded once, and nothing is sent")
    func tooLate() throws {
        _ = front.submit(coins)
        ask(of: coins)
        let reports = front.service.refundReports()
        sent.fail(.unavailable("it answered 500"))
        #expect(try report(reports) == ["store_unavailable"])
        // Deed first pauses for this app, and then tries again.
        #expect(try report(reports) == [] && sent.calls.count == 1)
        front.service.clock.advance(byMilliseconds: 5 * 60_000)
        #expect(try report(reports) == [] && sent.calls.count == 2)
        front.service.clock.advance(byMilliseconds: 12 * 3_600_000)
        sent.fail(nil)
        #expect(
            try report(reports)
                == ["too_late: The store cannot be reached now: it answered 500"])
        #expect(try report(reports) == [] && sent.calls.count == 2)
        #expect(try front.events().last == "refund.unreported")
    }

    @Test("Under a test clock, the deadline is what comes next")
    func due() throws {
        _ = front.submit(coins)
        let clock = TestClockTable(
            front.service.database.settings(role: LedgerSettings.serviceRole))
        let now = front.service.clock.now
        #expect(try clock.nextDue(after: now) == nil)
        ask(of: coins)
        #expect(try clock.nextDue(after: now) == now.advanced(byMilliseconds: 12 * 3_600_000))
        #expect(try report() == ["reported"])
        #expect(try clock.nextDue(after: now) == nil)
    }

    @Test("A report that the store refuses is recorded as refused, and not sent again")
    func refused() throws {
        _ = front.submit(coins)
        ask(of: coins)
        sent.fail(.refused(code: 4_000_036, message: "Invalid delivery status."))
        #expect(
            try report()
                == ["refused: The store refuses the request: Invalid delivery status. (4000036)"])
        #expect(try report() == [] && sent.calls.count == 1)
        #expect(try listed() == 0)
    }

    @Test("A report about an unclaimed purchase is sent once a customer claims it, or never")
    func unclaimed() throws {
        ask(of: coins)
        #expect(try report() == [] && sent.calls == [])
        _ = front.submit(coins)
        #expect(try report() == ["reported"])
        let other = Sale("8", "coins.100", .consumable, at: front.daysAgo(2))
        ask("n2", of: other)
        front.service.clock.advance(byMilliseconds: 12 * 3_600_000)
        #expect(try report() == ["too_late: No customer claimed the purchase."])
        #expect(sent.calls.count == 1)
    }

    @Test("A report about an unknown product waits until the catalog has it")
    func unknownProduct() throws {
        let skin = Sale("9", "skin.gold", .consumable, at: front.daysAgo(2))
        _ = front.submit(skin)
        ask(of: skin)
        #expect(try report() == [] && sent.calls == [])
        // The list contains the request, so that people can answer it by hand.
        let listed = try front.send("GET", "/v1/refund_requests").json["requests"]?.array
        #expect(listed?.map { $0["delivered"] ?? true } == [.null])
        front.service.clock.advance(byMilliseconds: 12 * 3_600_000)
        #expect(
            try report() == [
                "too_late: The catalog gives nothing for the product, so the log cannot tell whether it "
                    + "was delivered."
            ])
        #expect(sent.calls == [])
    }

    @Test("No report is sent after the project has withdrawn its customers' consent")
    func takenBack() throws {
        _ = front.submit(coins)
        ask(of: coins)
        let reports = front.service.refundReports()
        sent.fail(.unavailable("it answered 500"))
        #expect(try report(reports) == ["store_unavailable"])
        front.service.clock.advance(byMilliseconds: 5 * 60_000)
        // Support withdraws the consent while a run still uses the earlier setting.
        var intake = front.service.intake
        let ledger = intake.ledger
        intake.ledger = TappedLog(
            ledger,
            project: { [front] project throws(Fault) in
                let state = try ledger.project(project)
                let none = front.send(
                    "PATCH", "/v1/settings", #"{"refund_reports":null}"#, key: front.admin)
                #expect(none.status == 200)
                return state
            })
        #expect(try report(front.service.refundReports(intake)) == [])
        #expect(sent.calls.count == 1)
    }

    @Test("While an app is left alone, the right to report for it is neither taken nor kept")
    func resting() throws {
        _ = front.submit(coins)
        for number in 1...3 { ask("n\(number)", of: coins) }
        let leases = CountedLeases(front.service.leases)
        let reports = front.service.refundReports(nil, leases)
        sent.fail(.unauthorized)
        for _ in 0..<3 { _ = try report(reports) }
        // Deed sent only one of the three requests, and sent it once.
        #expect(sent.calls.count == 1)
        #expect(leases.taken == 1 && leases.kept == 1)
    }

    @Test("No report is sent about a refund that the store has decided")
    func decided() throws {
        _ = front.submit(coins)
        ask(of: coins)
        let declined = front.store.notification(
            "REFUND_DECLINED", id: "n2", at: front.daysAgo(0),
            transaction: front.store.transaction(coins))
        #expect(front.notify(declined).status == 200)
        #expect(try report() == [] && sent.calls == [])
    }

    @Test("A decision during the report does not hide that the report was sent")
    func decidedMeanwhile() throws {
        _ = front.submit(coins)
        ask(of: coins)
        let declined = front.store.notification(
            "REFUND_DECLINED", id: "n2", at: front.daysAgo(0),
            transaction: front.store.transaction(coins))
        front.service.store.answerCalls { [sent, front] call, _ throws(StoreTrouble) in
            _ = front.notify(declined)
            return try sent.take(call)
        }
        #expect(try report() == ["reported"])
        #expect(
            try front.events().suffix(3)
                == ["refund.report_prepared", "refund.declined", "refund.reported"])
    }

    @Test("A report moves with its purchase")
    func moved() throws {
        let season = Sale("9", "season", .nonRenewing, at: front.daysAgo(2))
        _ = front.submit(season)
        ask(of: season)
        #expect(try report() == ["reported"])
        let move = front.send(
            "POST", "/v1/customers/u1/purchases/apple:9/transfer",
            #"{"to":"u2","reason":"a new account"}"#, key: front.admin)
        #expect(move.status == 200, "\(move.text)")
        #expect(try report() == [] && sent.calls.count == 1)
        #expect(try listed() == 0)
    }

    @Test("A store that hangs or fails for one app does not delay other apps' reports")
    func otherApp() throws {
        var other = MintedStore()
        other.bundleID = "org.example.zebra"
        let set = front.send("PUT", "/v1/apps/org.example.zebra", "{}", key: front.admin)
        #expect(set.status == 200)
        let held = Monitor((began: 0, goOn: false))
        front.service.store.answerCalls { [sent] call, app throws(StoreTrouble) in
            if app.key.id.text == Payload.bundleID {
                held.change { $0.began += 1 }
                _ = held.wait(milliseconds: 20_000) { $0.goOn ? true : nil }
                throw .unavailable("it hung")
            }
            return try sent.take(call)
        }
        _ = front.submit(coins)
        ask(of: coins)
        let foreign = Sale("8", "coins.100", .consumable, at: front.daysAgo(2))
        _ = front.submit(["signed_transactions": [.string(other.transaction(foreign))]], for: "u2")
        let asked = other.notification(
            "CONSUMPTION_REQUEST", id: "n8", at: front.daysAgo(0),
            transaction: other.transaction(foreign), reason: "UNSATISFIED")
        #expect(front.notify(asked).status == 200)
        // Works like the job's two threads: one hangs, and the other continues.
        let reports = front.service.refundReports()
        let news = Monitor<[String]?>(nil)
        startThread("reports", .usual) {
            let told = (try? report(reports)) ?? []
            news.change { $0 = told }
        }
        _ = eventually(within: 20_000) {
            held.change(wake: .none) { $0.began } == 1 || !sent.calls.isEmpty
        }
        let second = try report(reports)
        #expect(eventually(within: 20_000) { sent.calls.count == 1 })
        held.change { $0.goOn = true }
        let first = news.wait(milliseconds: 20_000) { $0 } ?? []
        #expect((first + second).sorted() == ["reported", "store_unavailable"])
        #expect(try listed() == 1)
    }

    @Test("Two instances at once send one report")
    func twoInstances() throws {
        _ = front.submit(coins)
        ask(of: coins)
        let held = Monitor((began: 0, goOn: false))
        front.service.store.answerCalls { [sent] call, _ throws(StoreTrouble) in
            held.change { $0.began += 1 }
            _ = held.wait(milliseconds: 20_000) { $0.goOn ? true : nil }
            return try sent.take(call)
        }
        let first = front.service.refundReports()
        let news = Monitor<[String]?>(nil)
        startThread("reports", .usual) {
            let told = (try? report(first)) ?? []
            news.change { $0 = told }
        }
        _ = held.wait(milliseconds: 20_000) { $0.began == 1 ? true : nil }
        #expect(try report(front.service.refundReports()) == [])
        held.change { $0.goOn = true }
        #expect(news.wait(milliseconds: 20_000) { $0 } == ["reported"])
        #expect(sent.calls.count == 1)
    }
}
