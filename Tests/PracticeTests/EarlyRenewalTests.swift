import Core
import JSON
import Practice
import Testing

@Suite("Renewals that are charged before the period ends", .timeLimit(.minutes(20)))
struct EarlyRenewalTests {
    private func bought(
        _ product: String, pace: Pace = .calendar, isEarly: Bool? = nil
    ) throws -> PracticeStore {
        var shop = Shop.example
        shop.app.renewsEarly = isEarly
        let store = PractisedStore(PracticeWorld(shop, from: opening, pace: pace, seed: 4)).store
        _ = try store.perform(Step(.buy, customer: "ada", product: product))
        return store
    }

    private func newest(_ store: PracticeStore) throws -> Sale {
        try #require(store.read { $0.sales(of: "ada").last })
    }

    private func told(_ store: PracticeStore) -> [String] {
        store.read { world in
            world.postings.map { [$0.type, $0.subtype].compactMap(\.self).joined(separator: " ") }
        }
    }

    @Test(
        "The store charges a day before the end, or a tenth of the period",
        arguments: [
            ("pro.month", Pace.calendar, day), ("pro.year", .calendar, day),
            ("pro.month", .sandbox, 30_000), ("pro.year", .sandbox, 360_000),
        ])
    func early(product: String, pace: Pace, lead: Int64) throws {
        let store = try bought(product, pace: pace)
        let first = try newest(store)
        let end = try #require(first.expires)
        try store.advance(to: end.advanced(byMilliseconds: -lead - 1))
        #expect(try newest(store).id == first.id)
        try store.advance(to: end.advanced(byMilliseconds: -lead))
        let next = try newest(store)
        #expect(next.id != first.id && next.purchased == end)
        #expect(told(store).last == "DID_RENEW")
        // A newly installed app submits both periods.
        let standing = try #require(store.read { $0.standings(of: "ada").first })
        #expect(standing.isActive && standing.until == next.expires)
    }

    @Test("A change of product that is charged early takes effect when the period ends")
    func changed() throws {
        let store = try bought("pro.month")
        let end = try #require(try newest(store).expires)
        _ = try store.perform(Step(.change, customer: "ada", product: "basic.month"))
        try store.advance(to: end.advanced(byMilliseconds: -hour))
        #expect(try newest(store).product == "basic.month")
        #expect(store.read { $0.standings(of: "ada") }.map(\.product) == ["pro.month"])
        try store.advance(to: end)
        #expect(store.read { $0.standings(of: "ada") }.map(\.product) == ["basic.month"])
    }

    @Test("A setting keeps the gap: the store renews when the period ends")
    func gap() throws {
        let store = try bought("pro.month", isEarly: false)
        let first = try newest(store)
        let end = try #require(first.expires)
        try store.advance(to: end.advanced(byMilliseconds: -1))
        #expect(try newest(store).id == first.id)
        try store.advance(to: end)
        #expect(try newest(store).purchased == end)
    }

    @Test("A payment that fails a day before the end is tried again at the end")
    func failing() throws {
        let store = try bought("pro.month")
        let first = try newest(store)
        let end = try #require(first.expires)
        _ = try store.perform(Step(.failBilling, customer: "ada"))
        try store.advance(to: end.advanced(byMilliseconds: -1))
        #expect(!told(store).contains { $0.hasPrefix("DID_") })
        try store.advance(to: end)
        #expect(told(store).last == "DID_FAIL_TO_RENEW GRACE_PERIOD")
    }

    @Test("A customer who cancels after the charge keeps the paid period")
    func cancelled() throws {
        let store = try bought("pro.month")
        let end = try #require(try newest(store).expires)
        try store.advance(to: end.advanced(byMilliseconds: -hour))
        _ = try store.perform(Step(.cancel, customer: "ada"))
        let next = try newest(store)
        try store.advance(to: try #require(next.expires))
        #expect(try newest(store).id == next.id)
        #expect(told(store).last == "EXPIRED VOLUNTARY")
    }

    @Test(
        "An upgrade after the charge replaces both periods, and the second is refunded")
    func upgraded() throws {
        let store = try bought("pro.month")
        let end = try #require(try newest(store).expires)
        try store.advance(to: end.advanced(byMilliseconds: -hour))
        _ = try store.perform(Step(.change, customer: "ada", product: "premium.month"))
        let sales = store.read { $0.sales(of: "ada") }
        #expect(sales.map(\.isUpgraded) == [true, true, false])
        #expect(sales.map { $0.revocation != nil } == [false, true, false])
        #expect(sales[2].purchased < end && sales[2].product == "premium.month")
        let standings = store.read { $0.standings(of: "ada") }
        #expect(standings.map(\.product) == ["premium.month"])
    }

    @Test(
        "A refund after the charge ends access and refunds the next period, for good"
    )
    func refunded() throws {
        let store = try bought("pro.month")
        let first = try newest(store)
        let end = try #require(first.expires)
        try store.advance(to: end.advanced(byMilliseconds: -hour))
        let handOver = try store.perform(Step(.refund, customer: "ada"))
        #expect(handOver.transaction == first.id)
        #expect(store.read { $0.sales(of: "ada") }.allSatisfy { $0.revocation != nil })
        #expect(store.read { $0.standings(of: "ada") }.map(\.word) == ["revoked"])
        _ = try store.perform(Step(.reverse, customer: "ada"))
        #expect(store.read { $0.standings(of: "ada") }.map(\.word) == ["active"])
        try store.advance(to: end)
        #expect(store.read { $0.standings(of: "ada") }.map(\.word) == ["ended"])
    }

    @Test(
        "A refund after the charge removes the shares: of the next period, or of both",
        arguments: [true, false])
    func sharedRefund(isOfNext: Bool) throws {
        let store = try bought("pro.month")
        let first = try newest(store)
        _ = try store.perform(
            Step(.share, customer: "ada", product: "pro.month").changed { $0.with = "bob" })
        let end = try #require(first.expires)
        try store.advance(to: end.advanced(byMilliseconds: -hour))
        let charged = try newest(store)
        #expect(store.read { $0.sales(of: "bob").count } == 2)
        let before = told(store).count
        _ = try store.perform(
            Step(.refund, customer: "ada").changed {
                $0.transaction = isOfNext ? charged.id : first.id
            })
        let copies = store.read { $0.sales(of: "bob") }
        #expect(copies.map { $0.revocation?.extent == .family } == [!isOfNext, true])
        #expect(
            told(store).dropFirst(before)
                == (isOfNext ? ["REFUND", "REVOKE"] : ["REFUND", "REVOKE", "REFUND", "REVOKE"]))
        for customer in ["ada", "bob"] {
            let standing = try #require(store.read { $0.standings(of: customer).first })
            #expect(standing.isActive == isOfNext && standing.renews == false, "\(customer)")
            #expect(standing.until == (isOfNext ? end : nil), "\(customer)")
        }
        if isOfNext { return }
        _ = try store.perform(Step(.reverse, customer: "ada"))
        let after = store.read { $0.sales(of: "bob") }
        #expect(after.map { $0.revocation == nil } == [true, false])
    }

    @Test("The last month of a cancelled commitment does not renew, and names its month")
    func commitment() throws {
        let store = try bought("pro.commitment")
        _ = try store.perform(Step(.cancel, customer: "ada"))
        func standing() throws -> PracticeWorld.Standing {
            try #require(store.read { $0.standings(of: "ada").first })
        }
        #expect(try standing().renews == true)
        #expect(try standing().commitment == "month 1 of 12, cancelled")
        try store.advance(to: opening.days(350))
        #expect(try standing().renews == false)
        #expect(try standing().commitment == "month 12 of 12, cancelled")
        try store.advance(to: opening.days(400))
        #expect(try standing().word == "ended")
    }

    @Test("A transaction of another product, another customer or no subscription is refused")
    func otherTransactions() throws {
        let store = try bought("pro.month")
        let period = try newest(store).id
        _ = try store.perform(Step(.buy, customer: "ada", product: "coins.100"))
        let coins = try newest(store).id
        let cases: [(Step.Act, product: String?, transaction: String, sentence: String)] = [
            (
                .refund, "pro.month", coins,
                "\(coins) is a transaction for coins.100, not for pro.month"
            ),
            (.refund, nil, "17", "ada has no transaction 17; see: deed-practice show"),
            (
                .cancel, "pro.year", period,
                "\(period) is a transaction for pro.month, not for pro.year"
            ),
            (
                .cancel, nil, coins,
                "\(coins) is a transaction for coins.100, which is not a subscription"
            ),
            (.cancel, nil, "17", "ada has no transaction 17; see: deed-practice show"),
        ]
        for (act, product, transaction, sentence) in cases {
            let step = Step(act, customer: "ada", product: product)
                .changed { $0.transaction = transaction }
            #expect(throws: PracticeError.refused(sentence)) { try store.perform(step) }
        }
        _ = try store.perform(Step(.cancel, customer: "ada").changed { $0.transaction = period })
        #expect(store.read { $0.subscriptions(of: "ada").map(\.willRenew) } == [false])
    }

    @Test(
        "A scenario that goes past the year 9999, and an invalid address, are refused by name"
    )
    func names() throws {
        let scenario = try Scenario(
            Array(#"{"title":"t","lives":[],"until":"9000y"}"#.utf8))
        var world = PracticeWorld(.example, from: opening, seed: 4)
        #expect(
            throws: PracticeError.invalid(
                "until is \"9000y\", which is after the year 9999, the last that Deed supports")
        ) { try world.plan(scenario) }
        var shop = Shop.example
        shop.app.notificationURL = "deed:8080"
        #expect(throws: PracticeError.self) { try Shop(Array(shop.text.utf8)) }
    }
}

private let hour: Int64 = 3_600_000
