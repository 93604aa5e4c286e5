import Core
import Histories
import Testing

@Suite("Statements without news")
struct RepeatedEvidenceTests {
    private func receipt(
        signed: Instant, until end: Instant = at(30), rank: Rank = .offlineReceipt
    ) -> TransactionFact {
        transaction("1", "pro", .autoRenewable, at(0), to: end, signed: signed) { $0.rank = rank }
    }

    @Test("A receipt that repeats an older or newer one appends nothing")
    func receipts() {
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [2, 1, 3]] as [[Int64]] {
            var state = CustomerState()
            let events = order.flatMap { state.record(facts([receipt(signed: at($0))])) }
            #expect(events.map(\.type.name) == ["purchase.made"], "\(order)")
        }
    }

    @Test("A receipt with news is appended, even if it is the older one")
    func news() {
        var state = CustomerState()
        state.record(facts([receipt(signed: at(9))]))
        let older = state.record(facts([receipt(signed: at(5), until: at(60))]))
        #expect(older.map(\.type.name) == ["subscription.extended"])
        #expect(state.record(facts([receipt(signed: at(7))])).isEmpty)
    }

    @Test("The signing times of receipts make no difference between two states")
    func equality() {
        var (one, other) = (CustomerState(), CustomerState())
        for day in [4, 2] as [Int64] { one.record(facts([receipt(signed: at(day))])) }
        for day in [2, 4] as [Int64] { other.record(facts([receipt(signed: at(day))])) }
        #expect(one.purchases == other.purchases)
        #expect(one.purchases.hashValue == other.purchases.hashValue)
    }

    @Test("An older signed statement, and an earlier receipt next to it, append nothing")
    func signed() {
        let newest = transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(9))
        let older = transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(5))
        var state = CustomerState()
        state.record(facts([newest]))
        #expect(state.record(facts([older])).isEmpty)
        state.record(facts([receipt(signed: at(6))]))
        #expect(state.record(facts([receipt(signed: at(3))])).isEmpty)
        let renewed = renewal(of: "1", signed: at(8))
        state.record(facts(renewals: [renewed]))
        #expect(state.record(facts(renewals: [renewal(of: "1", signed: at(4))])).isEmpty)
        #expect(state.record(facts(renewals: [renewed])).isEmpty)
    }

    @Test(
        "A first receipt next to a signed statement is kept: a newer statement may end earlier"
    )
    func outlasting() {
        func signed(_ day: Int64, until end: Instant) -> TransactionFact {
            transaction("1", "pro", .autoRenewable, at(0), to: end, signed: at(day))
        }
        let weaker = receipt(signed: at(5), until: at(20))
        let first = signed(6, until: at(30))
        let last = signed(9, until: at(10))
        var state = CustomerState()
        state.record(facts([first]))
        #expect(state.record(facts([weaker])).map(\.type.name) == ["purchase.restated"])
        #expect(state.record(facts([weaker])).isEmpty)
        state.record(facts([last]))
        var other = CustomerState()
        for fact in [last, weaker, first] { other.record(facts([fact])) }
        #expect(state.purchases == other.purchases)
        #expect(state.purchases.first?.evidence.first?.effective.expires == at(20))
    }

    @Test("A newer signature on the same words is kept, so that an older refund cannot undo it")
    func newer() {
        func signed(_ day: Int64) -> TransactionFact {
            transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(day))
        }
        var state = CustomerState()
        state.record(facts([signed(1)]))
        #expect(state.record(facts([signed(9)])).map(\.type.name) == ["purchase.restated"])
        var refunded = signed(5)
        refunded.revocation = refund(at: at(5))
        #expect(state.record(facts([refunded])).isEmpty)
    }

    /// Returns a submission of the API's answer about everything that a customer has.
    private func told(_ fact: TransactionFact) -> Submission {
        Submission([.init(index: 0, facts: facts([fact]))], by: .store, onlyNews: true)
    }

    private func count(_ world: World, _ name: String) -> Int {
        world.events.count { $0.event.type.name == name }
    }

    @Test("A history that repeats known facts outdates a refund signed before it")
    func history() throws {
        func level(_ day: Int64, _ rank: Rank) -> TransactionFact {
            transaction("1", "level2", .nonConsumable, at(0), signed: at(day)) { $0.rank = rank }
        }
        let anna: CustomerID = id("anna")
        var refunded = level(10, .clientTransaction)
        refunded.revocation = refund(at: at(9))
        for isRefundLast in [true, false] {
            var world = World()
            try world.submit([facts([level(0, .clientTransaction)])], by: .customer(anna))
            if !isRefundLast { try world.submit([facts([refunded])], by: .customer(anna)) }
            try world.submit(told(level(20, .serverAPI)))
            if isRefundLast { try world.submit([facts([refunded])], by: .customer(anna)) }
            let answer = world.customer(anna).entitlements(at: at(21), catalog: shop)
            #expect(answer[id("level2")]?.isActive == true, "the refund last: \(isRefundLast)")
        }
    }

    @Test("Among repeated histories the first is kept, and the first after the end")
    func bounded() throws {
        func period(_ day: Int64) -> TransactionFact {
            transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(day)) {
                $0.rank = day == 0 ? .clientTransaction : .serverAPI
            }
        }
        var world = World()
        try world.submit([facts([period(0)])], by: .customer(id("anna")))
        let rounds: [(day: Int64, kept: Int)] = [
            (5, 1), (10, 1), (20, 1), (31, 2), (60, 2), (400, 2),
        ]
        for (day, kept) in rounds {
            let items = try world.submit(told(period(day)))
            #expect(items.map(\.result) == [.alreadyKnown], "day \(day)")
            #expect(count(world, "purchase.restated") == kept, "day \(day)")
        }
    }
}
