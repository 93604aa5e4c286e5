import Core
import Histories
import Testing

/// Tests blocked purchases. Days count from 1 January 2026.
@Suite("Blocked purchases")
struct BlockTests {
    private static let month = transaction("m1", "pro", .autoRenewable, at(0), to: at(30))
    private static let next = transaction("m2", of: "m1", "pro", .autoRenewable, at(30), to: at(60))

    @Test(
        "From the block on it gives nothing, whatever the store says, and before it did",
        arguments: [
            (at(10, -1), "yes active 5.0"), (at(10), "no revoked -8.0"),
            (at(29), "no revoked -8.0"), (at(45), "no revoked -8.0"), (at(90), "no revoked -8.0"),
        ])
    func blocked(_ instant: Instant, _ expected: String) throws {
        var state = CustomerState()
        state.record(facts([Self.month]))
        try block(&state, "m1", at: 10)
        state.record(facts([Self.next]))
        let answer = state.entitlements(at: instant, catalog: shop)[id("pro")]
        #expect(WorkedExample.text(answer) == expected)
        let isBlocked = instant >= at(10)
        #expect(answer?.expirationReason == (isBlocked ? .blocked : nil))
        if isBlocked { #expect(answer?.willRenew == false) }
        #expect(answer?.run == Interval(start: at(0), end: at(10)))
        let status = try #require(state.subscriptions(at: instant, catalog: shop).first)
        #expect(status.isActive == !isBlocked)
        #expect(status.expirationReason == answer?.expirationReason)
    }

    @Test("The same facts give the same, told before the block or after it")
    func order() throws {
        var (one, other) = (CustomerState(), CustomerState())
        one.record(facts([Self.month, Self.next]))
        try block(&one, "m1", at: 10)
        other.record(facts([Self.next]))
        try block(&other, "m1", at: 10)
        other.record(facts([Self.month]))
        #expect(one.purchases == other.purchases)
        #expect(
            one.entitlements(at: at(40), catalog: shop)
                == other.entitlements(at: at(40), catalog: shop))
    }

    @Test("Once the block is taken back all is as the store says, and the gap stays in history")
    func unblocked() throws {
        var state = CustomerState()
        state.record(facts([Self.month, Self.next]))
        try block(&state, "m1", at: 10)
        try block(&state, "m1", at: 40, isToHold: false)
        for (instant, expected, run) in [
            (at(5), "yes active 5.0", Interval(start: at(0), end: at(10))),
            (at(20), "no revoked -8.0", Interval(start: at(40), end: at(60))),
            (at(40), "yes active 5.0", Interval(start: at(40), end: at(60))),
            (at(60), "no expired 0.0", Interval(start: at(40), end: at(60))),
        ] {
            let answer = state.entitlements(at: instant, catalog: shop)[id("pro")]
            #expect(WorkedExample.text(answer) == expected, "\(instant.text)")
            #expect(answer?.run == run, "\(instant.text)")
        }
        #expect(state.entitlements(at: at(5), catalog: shop).nextChange == at(10))
        #expect(state.entitlements(at: at(20), catalog: shop).nextChange == at(40))
    }

    @Test("A non-consumable and a season are blocked in the same way")
    func otherKinds() throws {
        var state = CustomerState()
        state.record(
            facts([
                transaction("1", "level2", .nonConsumable, at(0)),
                transaction("2", "season", .nonRenewing, at(0)),
                transaction("3", "season", .nonRenewing, at(1)),
            ]))
        try block(&state, "1", at: 10)
        try block(&state, "2", at: 10)
        func text(_ name: String, _ day: Int64) -> String {
            WorkedExample.text(state.entitlements(at: at(day), catalog: shop)[id(name)])
        }
        #expect(text("level2", 11) == "no revoked -8.0")
        // The block does not move the second season, which begins when the first would have ended.
        #expect(text("season", 29) == "no upcoming 0.0")
        #expect(text("season", 30) == "yes active 3.0")
    }

    @Test("Coins are taken as by a refund, also below zero, and come back with the block's end")
    func coins() throws {
        var state = CustomerState()
        state.record(facts([transaction("c1", "coins", .consumable, at(0))]))
        state.apply(
            .balanceSpent(BalanceSpent(currency: id("coins"), amount: 70, reason: nil)))
        try block(&state, "c1", at: 10)
        #expect(state.balance("coins") == -70)
        // Statements and refunds that arrive during the block do not change balances twice.
        state.record(facts([transaction("c1", "coins", .consumable, at(0), signed: at(11))]))
        #expect(state.balance("coins") == -70)
        try block(&state, "c1", at: 12, isToHold: false)
        #expect(state.balance("coins") == 30)
    }

    @Test("A refund during the block is not taken twice, and stays when the block ends")
    func refunded() throws {
        var state = CustomerState()
        state.record(facts([transaction("c1", "coins", .consumable, at(0))]))
        try block(&state, "c1", at: 10)
        state.record(
            facts([
                transaction("c1", "coins", .consumable, at(0), signed: at(11)) {
                    $0.revocation = refund(at: at(11))
                }
            ]))
        #expect(state.balance("coins") == 0)
        try block(&state, "c1", at: 12, isToHold: false)
        #expect(state.balance("coins") == 0)
    }

    @Test("It moves with its purchase, and counts with the next holder")
    func moved() throws {
        var holder = CustomerState()
        holder.record(facts([Self.month, Self.next]))
        try block(&holder, "m1", at: 10)
        let move = try MovePurchase(
            purchaseID("m1"), from: id("u1"), to: id("u2"),
            cause: .admin(id("asked"), ticket: nil), catalog: shop
        ).decide(from: holder, to: CustomerState(), now: at(12))
        var receiver = CustomerState()
        for event in move.arriving { receiver.apply(event) }
        let answer = receiver.entitlements(at: at(20), catalog: shop)[id("pro")]
        #expect(WorkedExample.text(answer) == "no revoked -8.0")
        #expect(answer?.expirationReason == .blocked)
        try block(&receiver, "m1", at: 25, isToHold: false)
        #expect(receiver.entitlements(at: at(26), catalog: shop)[id("pro")]?.isActive == true)
    }

    @Test("What waits for the present access begins when that is blocked")
    func waiting() throws {
        var state = CustomerState()
        state.record(facts([Self.month]))
        state.apply(
            .grantGiven(
                GrantGiven(
                    grant: id("g"), entitlement: id("pro"), start: at(5), end: nil,
                    afterCurrent: .days(3), reason: id("r"), ticket: nil)))
        try block(&state, "m1", at: 10)
        #expect(state.grantBounds(by: shop).first == GrantBounds(start: at(10), end: at(13)))
    }

    @Test("Twice is once, and what was never blocked cannot be unblocked")
    func refused() throws {
        var state = CustomerState()
        state.record(facts([Self.month]))
        let early = #expect(throws: Refusal.self) {
            try block(&state, "m1", at: 9, isToHold: false)
        }
        #expect(early?.code == "not_blocked")
        try block(&state, "m1", at: 10)
        #expect(try events(state, "m1", at: 11, isToHold: true) == [])
        try block(&state, "m1", at: 12, isToHold: false)
        #expect(try events(state, "m1", at: 13, isToHold: false) == [])
        let unknown = #expect(throws: Refusal.self) { try block(&state, "other", at: 14) }
        #expect(unknown?.code == "purchase_unknown")
    }

    private func block(
        _ state: inout CustomerState, _ original: String, at day: Int64, isToHold: Bool = true
    ) throws {
        for event in try events(state, original, at: day, isToHold: isToHold) {
            state.apply(event)
        }
    }

    private func events(
        _ state: CustomerState, _ original: String, at day: Int64, isToHold: Bool
    ) throws -> [Event] {
        let wish = BlockPurchase(
            purchaseID(original), isToHold: isToHold, reason: id("stolen card"), ticket: nil)
        return try state.decide(wish, by: shop, now: at(day))
    }
}
