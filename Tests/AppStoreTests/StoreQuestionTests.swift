import AppStore
import Core
import Crypto
import Evidence
import HTTPServer
import JSON
import Minting
import Practice
import Service
import StoreAccess
import Telemetry
import TestSupport
import Testing

@Suite("Recording the store's answers", .timeLimit(.minutes(20)))
struct StoreQuestionTests {
    private let service: TestService
    private let project: ProjectID
    private let app: AppKey

    init() throws {
        service = try TestService()
        project = try ProjectID("default")
        app = AppKey(store: .apple, id: try AppID(Shop.example.app.bundleID))
        let wish = service.useCases.apps.setting(
            app, AppChange(appleID: nil, sandboxAccess: nil, receipts: nil), of: project,
            as: .operator, by: Sender(actor: try Actor("test"), idempotencyKey: nil))
        _ = try service.ledger.perform(wish)
    }

    private func questions(_ asking: Asking) -> StoreQuestions {
        var intake = service.intake
        intake.stores[.apple] = StoreAdapter(
            AppStoreProfile(), prover: asking.prover, client: asking.client)
        return StoreQuestions(Submissions(intake))
    }

    private func ask(_ call: StoreCall, _ asking: Asking) throws -> StoreReport {
        try questions(asking).ask(call, about: app, of: project, in: nil)
    }

    /// Returns the code of the error that a question gets, or `nil` if it gets an answer.
    private func code(_ call: StoreCall, _ asking: Asking) -> String? {
        do throws(StoreQuestionError) {
            _ = try questions(asking).ask(call, about: app, of: project, in: nil)
            return nil
        } catch {
            if case .trouble(let trouble) = error { return trouble.code }
            return "\(error)"
        }
    }

    private func results(_ report: StoreReport) -> [String] {
        report.items.compactMap { item in
            if case .purchase(let result) = item { result.outcome } else { nil }
        }
    }

    @Test("A history of many pages is recorded completely, and once")
    func history() throws {
        let served = try ServedPractice()
        let asking = try Asking(served.url)
        var last = ""
        for _ in 0..<45 { last = try served.buy("coins.100").transaction ?? "" }
        let call = StoreCall.history(of: try TransactionID(last))
        #expect(results(try ask(call, asking)) == Array(repeating: "recorded", count: 45))
        let events = try service.eventCount()
        #expect(results(try ask(call, asking)).allSatisfy { $0 == "already_known" })
        #expect(try service.eventCount() == events)
        // The purchases stay unclaimed until a customer proves to be the buyer.
        #expect(try service.database.number("select count(*) from deed.unclaimed") == 45)
    }

    @Test("Refunds are read from as many pages as there are")
    func refunds() throws {
        let served = try ServedPractice()
        var last = ""
        for _ in 0..<25 {
            last = try served.buy("coins.100").transaction ?? ""
            let step = Step(.refund, customer: "u1").changed { $0.transaction = last }
            _ = try served.store.perform(step)
        }
        let report = try ask(.refunds(of: try TransactionID(last)), try Asking(served.url))
        #expect(results(report) == Array(repeating: "recorded", count: 25))
        #expect(
            try service.database.number(
                "select count(*) from deed.events where type = 'purchase.made'") == 25)
    }

    @Test("A status includes the renewal next to its transaction")
    func statuses() throws {
        let served = try ServedPractice()
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let report = try ask(.standings(of: id), try Asking(served.url))
        #expect(results(report) == ["recorded", "recorded"])
        #expect(
            try service.database.number(
                "select count(*) from deed.events where type = 'renewal.changed'") == 1)
        _ = try served.store.perform(Step(.cancel, customer: "u1"))
        _ = try ask(.standings(of: id), try Asking(served.url))
        #expect(
            try service.database.number(
                "select count(*) from deed.events where type = 'renewal.changed'") == 2)
    }

    @Test("Lost notifications are recorded from the store's history")
    func notifications() throws {
        let served = try ServedPractice { $0.app.notificationURL = "http://127.0.0.1:1/" }
        let asking = try Asking(served.url)
        for number in 0..<25 { _ = try served.buy("coins.100", "u\(number)") }
        let end = opening.advanced(byMilliseconds: 86_400_000)
        let filter = NotificationFilter(start: opening, end: end)
        let report = try ask(.notifications(filter), asking)
        let kept = report.items.filter { item in
            if case .notification(.kept(_, .sandbox, isNew: true)) = item { true } else { false }
        }
        #expect(kept.count == 25)
        #expect(try service.database.number("select count(*) from deed.unclaimed") == 25)
    }

    @Test(
        "Any trouble of the store has a named outcome, changes nothing, and ends with its cause",
        arguments: [
            (#"{"internal_error":1}"#, "store_unavailable"), (#"{"reset":1}"#, "store_unavailable"),
            (#"{"truncate":1}"#, "store_unavailable"), (#"{"endless":1}"#, "store_unavailable"),
            (#"{"slow":1,"slow_ms":2000}"#, "store_unavailable"),
            (#"{"limit":1}"#, "store_limited"),
        ])
    func troubles(_ trouble: String, _ expected: String) throws {
        let served = try ServedPractice()
        let well = try ServedPractice()
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        _ = try well.buy("level2", "u3")
        let other = try TransactionID(try well.buy("pro.month", "u2").transaction ?? "")
        try served.suffer(trouble)
        let patience = StorePatience(firstByte: 300, whole: 600)
        let asking = try Asking(served.url, patience: patience)
        let events = try service.eventCount()
        for call: StoreCall in [.history(of: id), .standings(of: id), .refunds(of: id)] {
            #expect(code(call, asking) == expected, "\(call)")
        }
        #expect(try service.eventCount() == events)
        // Meanwhile, a different store answers. This one answers once its faults end.
        #expect(results(try ask(.history(of: other), try Asking(well.url))) == ["recorded"])
        try served.suffer("{}")
        #expect(results(try ask(.history(of: id), try Asking(served.url))) == ["recorded"])
    }

    @Test("An answer with one wrong signature is refused completely, and the next is recorded")
    func wrongSignature() throws {
        let served = try ServedPractice { $0.app.notificationURL = "http://127.0.0.1:1/" }
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let coins = try served.buy("coins.100").transaction
        _ = try served.store.perform(
            Step(.refund, customer: "u1").changed { $0.transaction = coins })
        let end = opening.advanced(byMilliseconds: 86_400_000)
        let calls: [StoreCall] = [
            .transaction(id), .history(of: id), .standings(of: id), .refunds(of: id),
            .notifications(NotificationFilter(start: opening, end: end)),
        ]
        let asking = try Asking(served.url)
        func kept() throws -> [Int64] {
            try ["events", "evidence", "intake", "unclaimed"].map {
                try service.database.number("select count(*) from deed.\($0)")
            }
        }
        let before = try kept()
        try served.suffer(#"{"wrong_signature":1,"seed":3}"#)
        for call in calls {
            // The store spoils a different statement in each answer.
            for _ in 0..<5 { #expect(code(call, asking) == "store_answer_foreign", "\(call)") }
        }
        #expect(try kept() == before)
        try served.suffer("{}")
        for call in calls { #expect(try !ask(call, asking).items.isEmpty, "\(call)") }
        #expect(try kept() != before)
    }

    @Test("Wrong signatures occur at their rate, and depend only on the seed")
    func rateOfWrongSignatures() throws {
        func codes() throws -> [String?] {
            let served = try ServedPractice()
            let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
            try served.suffer(#"{"wrong_signature":0.5,"seed":8}"#)
            let asking = try Asking(served.url)
            return (0..<24).map { _ in code(.transaction(id), asking) }
        }
        let first = try codes()
        #expect(try codes() == first)
        #expect((5...19).contains(first.count { $0 == "store_answer_foreign" }))
        #expect(Set(first) == [nil, "store_answer_foreign"])
    }

    @Test("A signature of another authority changes nothing")
    func foreignSignature() throws {
        let served = try ServedPractice()
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let genuine = try signed(id, served)
        let forged = Authority().sign(try payload(genuine))
        let forger = try CannedStore { _, _ in
            let body: JSON = [
                "signedTransactionInfo": .string(forged), "hasMore": false, "revision": "r",
                "signedTransactions": [.string(genuine), .string(forged)],
            ]
            return Response(status: 200, body: body.bytes)
        }
        let events = try service.eventCount()
        let asking = try Asking(forger.url)
        #expect(code(.transaction(id), asking) == "store_answer_foreign")
        // Deed records nothing from the answer, not even its genuine statements.
        #expect(code(.history(of: id), asking) == "store_answer_foreign")
        #expect(try service.eventCount() == events)
    }

    /// Returns a transaction as the store signs it.
    private func signed(_ id: TransactionID, _ served: ServedPractice) throws -> String {
        let answer = try Asking(served.url).ask(.transaction(id))
        return String(decoding: answer.evidence[0].bytes, as: UTF8.self)
    }

    @Test("An answer about another app, or another transaction, changes nothing")
    func foreignSubject() throws {
        let served = try ServedPractice()
        let elsewhere = try ServedPractice { $0.app.bundleID = "com.example.other" }
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let other = try TransactionID(try elsewhere.buy("pro.month").transaction ?? "")
        let mine = try signed(id, served)
        let bundle = "com.example.other"
        let foreign = try Asking(
            hosts: StoreHosts(api: [.sandbox: elsewhere.url], receipts: [:], order: [.sandbox]),
            bundle: bundle
        ).ask(.transaction(other)).evidence[0]
        let texts = [mine, String(decoding: foreign.bytes, as: UTF8.self)]
        let events = try service.eventCount()
        for text in texts {
            let liar = try CannedStore { _, _ in
                let body: JSON = ["signedTransactionInfo": .string(text)]
                return Response(status: 200, body: body.bytes)
            }
            let asked = try TransactionID("77")
            #expect(code(.transaction(asked), try Asking(liar.url)) == "store_answer_foreign")
        }
        #expect(try service.eventCount() == events)
    }

    @Test("Another customer's history changes nothing")
    func foreignHistory() throws {
        let served = try ServedPractice()
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let text = try signed(id, served)
        let other = try CannedStore { _, _ in
            Response(
                status: 200,
                body: Array(
                    #"{"hasMore":false,"revision":"r","signedTransactions":["\#(text)"]}"#.utf8))
        }
        let events = try service.eventCount()
        let asked = try TransactionID("2000000099999999")
        #expect(code(.history(of: asked), try Asking(other.url)) == "store_answer_foreign")
        #expect(try service.eventCount() == events)
    }

    private func payload(_ signed: String) throws -> JSON {
        let part = signed.split(separator: ".")[1]
        return try JSON.read(try #require(Base64.url.decode(Array(part.utf8))))
    }

    @Test("Under any name, another customer's purchases change nothing")
    func foreignCustomer() throws {
        let served = try ServedPractice()
        let id = try TransactionID(try served.buy("coins.100", "u1").transaction ?? "")
        let other = try TransactionID(try served.buy("pro.month", "u2").transaction ?? "")
        let genuine = try Asking(served.url)
        let texts = try genuine.ask(.standings(of: other)).evidence.map {
            JSON.string(String(decoding: $0.bytes, as: UTF8.self))
        }
        let mine = JSON.string(try signed(id, served))
        let item: JSON = [
            "originalTransactionId": .string(other.text), "status": 1,
            "signedTransactionInfo": texts[0], "signedRenewalInfo": texts[1],
        ]
        let bodies: [String: JSON] = [
            "subscriptions": ["data": [["lastTransactions": [item]]]],
            "history": ["hasMore": false, "revision": "r", "signedTransactions": [texts[0]]],
            "refund": ["hasMore": false, "revision": "r", "signedTransactions": [mine, texts[0]]],
            "transactions": ["signedTransactionInfo": mine],
        ]
        let liar = try CannedStore { _, path in
            let parts = path.split(separator: "/").map(String.init)
            let body = parts.lazy.compactMap { bodies[$0] }.first ?? [:]
            return Response(status: 200, body: body.bytes)
        }
        let events = try service.eventCount()
        var part = HistoryFilter()
        part.product = try ProductID("pro.month")
        let asking = try Asking(liar.url)
        for call: StoreCall in [.standings(of: id), .history(of: id, part), .refunds(of: id)] {
            #expect(code(call, asking) == "store_answer_foreign", "\(call)")
        }
        #expect(try service.eventCount() == events)
    }

    @Test("A customer's own purchases are recorded, under any name")
    func ownPurchases() throws {
        let served = try ServedPractice()
        let coins = try TransactionID(try served.buy("coins.100").transaction ?? "")
        _ = try served.buy("pro.month")
        let asking = try Asking(served.url)
        // Neither answer states anything about the coins.
        #expect(results(try ask(.standings(of: coins), asking)) == ["recorded", "recorded"])
        var part = HistoryFilter()
        part.product = try ProductID("pro.month")
        #expect(results(try ask(.history(of: coins, part), asking)) == ["already_known"])
        let account = try #require(try payload(signed(coins, served))["appTransactionId"]?.string)
        let all = try ask(.history(of: try TransactionID(account)), asking)
        #expect(results(all).sorted() == ["already_known", "recorded"])
    }

    @Test("Pages that are too large or too slow in total are abandoned")
    func bounded() throws {
        let blank = String(repeating: " ", count: 4_000_000)
        let large = try CannedStore { count, _ in
            let page = #"{"hasMore":true,"revision":"r\#(count)","signedTransactions":[]}"#
            return Response(status: 200, body: Array((page + blank).utf8))
        }
        let id = try TransactionID("7")
        #expect(code(.refunds(of: id), try Asking(large.url)) == "store_pages_endless")
        #expect((16...18).contains(large.count), "\(large.count)")
        let slow = try CannedStore { count, _ in
            Response(
                status: 200,
                body: Array(
                    #"{"hasMore":true,"revision":"r\#(count)","signedTransactions":[]}"#.utf8))
        }
        let asking = try Asking(slow.url)
        let clock = service.clock
        var intake = service.intake
        intake.stores[.apple]?.client = asking.client
        intake.detour { _, _ in
            clock.advance(byMilliseconds: 60_000)
            return nil
        }
        let questions = StoreQuestions(Submissions(intake))
        // The time limit starts with the first page.
        #expect(throws: StoreQuestionError.trouble(.endlessPages(limit: 11))) {
            try questions.ask(.refunds(of: id), about: app, of: project, in: nil)
        }
        #expect(slow.count == 11)
    }

    @Test("Endless or repeating pages are abandoned, and change nothing", arguments: [true, false])
    func endless(_ repeats: Bool) throws {
        let served = try ServedPractice()
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let text = try signed(id, served)
        let other = try CannedStore { count, _ in
            let revision = repeats ? "same" : "r\(count)"
            return Response(
                status: 200,
                body: Array(
                    #"{"hasMore":true,"revision":"\#(revision)","signedTransactions":["\#(text)"]}"#
                        .utf8))
        }
        let events = try service.eventCount()
        #expect(code(.history(of: id), try Asking(other.url)) == "store_pages_endless")
        #expect(try service.eventCount() == events)
        #expect(other.count <= StoreQuestions.pageLimit + 1)
    }

    @Test("An app that the project does not have is not asked about")
    func unknownApp() throws {
        let served = try ServedPractice()
        let asking = try Asking(served.url)
        #expect(throws: StoreQuestionError.command(.refused(.appUnknown(try AppID("none"))))) {
            try questions(asking).ask(
                .test, about: AppKey(store: .apple, id: try AppID("none")), of: project, in: nil)
        }
    }
}
