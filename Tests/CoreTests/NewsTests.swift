import Core
import Histories
import Testing

@Suite("News of refunds, accounts and consents")
struct NewsTests {
    private let coins = transaction("1", "coins", .consumable, at(0))

    private func asked(_ news: String, of fact: TransactionFact, on day: Int64) -> RefundFact {
        RefundFact(
            id(news), .requested(.legal), of: fact, signedAt: at(day), rank: .notification)
    }

    private func refunds(_ refunds: RefundFact...) -> Facts {
        var facts = Facts()
        facts.refunds = refunds
        return facts
    }

    private func open(_ state: CustomerState) -> [String] {
        state.purchases.flatMap(\.openRefundRequests).map(\.id.text)
    }

    @Test("A requested refund is recorded once, however often and by whichever signature it comes")
    func asked() {
        var state = CustomerState(recording: [facts([coins])])
        let first = asked("n1", of: coins, on: 3)
        #expect(state.record(refunds(first)).map(\.type.name) == ["refund.requested"])
        #expect(state.record(refunds(first)) == [])
        #expect(state.record(refunds(asked("n1", of: coins, on: 4))) == [])
        #expect(open(state) == ["n1"])
        #expect(state.answerBy == at(3, 12 * hour))
        #expect(state.record(refunds(asked("n2", of: coins, on: 5))).count == 1)
        #expect(state.answerBy == at(5, 12 * hour))
    }

    @Test("It is open until the store declines it or revokes the purchase, in any order")
    func decided() {
        let request = asked("n1", of: coins, on: 3)
        let declined = RefundFact(
            id("n2"), .declined, of: coins, signedAt: at(4), rank: .notification)
        for news in [[request, declined], [declined, request]] {
            var state = CustomerState(recording: [facts([coins])])
            for fact in news { state.record(refunds(fact)) }
            #expect(open(state) == [] && state.answerBy == nil)
        }
        var refunded = CustomerState(recording: [facts([coins]), refunds(request)])
        refunded.record(
            facts([
                transaction("1", "coins", .consumable, at(0), signed: at(5)) {
                    $0.revocation = refund(at: at(4))
                }
            ]))
        #expect(open(refunded) == [])
    }

    @Test("An earlier refusal does not answer a later request")
    func declinedBefore() {
        let declined = RefundFact(
            id("n1"), .declined, of: coins, signedAt: at(2), rank: .notification)
        let state = CustomerState(recording: [
            facts([coins]), refunds(declined, asked("n2", of: coins, on: 3)),
        ])
        #expect(open(state) == ["n2"])
    }

    @Test("It moves with its purchase")
    func moves() throws {
        let level = transaction("2", "level2", .nonConsumable, at(0))
        var world = World(
            settings: ProjectSettings(transfer: .transfer))
        try world.submit([facts([level])], by: .customer(id("anna")))
        try world.submit([refunds(asked("n1", of: level, on: 3))], by: .store)
        #expect(open(world.customer(id("anna"))) == ["n1"])
        try world.submit([facts([level])], by: .customer(id("ben")))
        #expect(open(world.customer(id("anna"))) == [])
        #expect(open(world.customer(id("ben"))) == ["n1"])
    }

    @Test("For coins, the remaining balance counts as unused")
    func coinsUsed() throws {
        var state = CustomerState(recording: [facts([coins])])
        let request = asked("n1", of: coins, on: 3)
        func used() -> Int64? {
            state.consumption(of: request, at: at(4), by: shop).usedMilliPercent
        }
        #expect(used() == 0)
        func spend(_ amount: Int64) throws {
            let wish = SpendBalance(currency: id("coins"), amount: amount, reason: nil)
            for event in try state.decide(wish) { state.apply(event) }
        }
        try spend(40)
        #expect(used() == 40_000)
        try spend(60)
        #expect(used() == 100_000)
        #expect(state.consumption(of: request, at: at(4), by: shop).isDelivered == true)
        state.record(facts([transaction("5", "coins", .consumable, at(1))]))
        #expect(used() == 0)
    }

    @Test(
        "For a term, the elapsed time counts; for an unknown product, nothing is known"
    )
    func others() {
        let season = transaction("1", "season", .nonRenewing, at(0))
        let pro = transaction("2", "pro", .autoRenewable, at(0), to: at(30))
        let strange = transaction("3", "lamp", .nonConsumable, at(0))
        let level = transaction("4", "level2", .nonConsumable, at(0))
        let state = CustomerState(recording: [facts([season, pro, strange, level])])
        func told(_ fact: TransactionFact) -> Consumption {
            state.consumption(of: asked("n", of: fact, on: 3), at: at(12), by: shop)
        }
        #expect(told(season).usedMilliPercent == 40_000 && told(season).isDelivered == true)
        #expect(told(pro).usedMilliPercent == nil && told(pro).isDelivered == true)
        #expect(told(level).usedMilliPercent == nil && told(level).isDelivered == true)
        #expect(told(strange).isDelivered == nil)
        let reporting = RefundReporting(preference: .decline)
        #expect(told(strange).report(by: reporting) == nil)
        #expect(told(level).report(by: reporting)?.delivery == .delivered)
    }

    @Test("A withdrawn consent is recorded for each customer of the account, once")
    func consent() throws {
        let (anna, ben): (CustomerID, CustomerID) = (id("anna"), id("ben"))
        var news = Facts()
        news.consents = [rescission("n1", signed: at(9))]
        var world = World()
        func submit() throws {
            let submission = Submission(
                [Submission.Item(index: 0, facts: news)], by: .store, concerned: [anna, ben])
            try world.submit(submission)
        }
        try submit()
        try submit()
        #expect(world.events.map(\.event.type.name) == ["consent.rescinded", "consent.rescinded"])
        #expect(world.customer(anna).consents.map(\.signedAt) == [at(9)])
        #expect(world.customer(ben).consents.count == 1)
    }

    @Test("It is recorded even if no customer of the account is known")
    func nobody() throws {
        var news = Facts()
        news.consents = [rescission("n1", signed: at(9))]
        var world = World()
        try world.submit([news], by: .store)
        #expect(world.events.map(\.customer.text) == ["$unclaimed/app:account1"])
    }

    @Test("An account is known by each installation and each purchase that names it")
    func accounts() {
        var first = installation("1.0", on: at(0))
        first.appTransaction = id("b")
        var second = installation("2.0", on: at(3))
        second.appTransaction = id("a")
        var state = CustomerState(recording: [facts(apps: [first])])
        #expect(state.record(facts(apps: [second])).map(\.type.name) == ["app.installed"])
        #expect(state.record(facts(apps: [second, first])) == [])
        #expect(state.apps.map(\.originalVersion) == ["1.0"])
        state.record(
            facts([transaction("1", "coins", .consumable, at(0)) { $0.appTransaction = id("c") }]))
        #expect(state.appTransactions.map(\.text) == ["a", "b", "c"])
    }
}
