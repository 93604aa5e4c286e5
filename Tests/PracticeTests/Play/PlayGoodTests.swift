import Core
import JSON
import Practice
import Testing

@Suite("A one-time product in the practice store's Google Play")
struct PlayGoodTests {
    private func details(_ life: PlayedLife, _ token: String) -> JSON? {
        life.answer(token)["productLineItem"]?.array?.first?["productOfferDetails"]
    }

    private func state(_ life: PlayedLife, _ token: String) -> JSON? {
        life.answer(token)["purchaseStateContext"]?["purchaseState"]
    }

    @Test("has a quantity of which some pieces are refunded")
    func quantity() throws {
        var life = try PlayedLife()
        let token = try life.own("coins.100") { $0.quantity = 5 }
        #expect(details(life, token)?["quantity"] == 5)
        #expect(details(life, token)?["consumptionState"] == "CONSUMPTION_STATE_CONSUMED")
        try life.take(.refund, "coins.100") { $0.quantity = 2 }
        #expect(details(life, token)?["refundableQuantity"] == 3)
        #expect(state(life, token) == "PURCHASED")
        #expect(life.world.standings(of: "u1").first?.quantity == 3)
        #expect(life.refusal(.refund, "coins.100") { $0.quantity = 4 }.contains("only 3 pieces"))
        try life.take(.refund, "coins.100")
        #expect(state(life, token) == "CANCELLED")
        #expect(details(life, token)?["refundableQuantity"] == nil)
        #expect(life.news() == [.productPurchased, .voided, .voided])
    }

    @Test("is sold again only once it is consumed")
    func again() throws {
        var life = try PlayedLife()
        try life.take(.buy, "coins.100")
        #expect(life.refusal(.buy, "coins.100").contains("already owns coins.100"))
        try life.take(.finish, "coins.100")
        try life.take(.buy, "coins.100")
    }

    @Test("without an acknowledgement is refunded after three days")
    func unacknowledged() throws {
        var life = try PlayedLife()
        let token = try life.take(.buy, "level2")
        #expect(life.usable == ["level2"])
        life.advance(days: 3)
        #expect(state(life, token) == "CANCELLED")
        #expect(life.usable == [])
        try life.take(.buy, "level2")
    }

    @Test("stays with a customer who may keep it after a refund")
    func keep() throws {
        var life = try PlayedLife()
        let token = try life.take(.buy, "level2")
        try life.take(.refund, "level2") { $0.keepAccess = true }
        #expect(state(life, token) == "PURCHASED")
        #expect(life.world.play.voids.isEmpty)
        #expect(life.usable == ["level2"])
    }

    @Test("is rented for a time")
    func rental() throws {
        var life = try PlayedLife()
        let token = try life.own("film")
        #expect(details(life, token)?["rentOfferDetails"] == [:])
        life.advance(days: 29)
        #expect(life.usable == ["film"])
        life.advance(days: 1)
        #expect(life.usable == [])
        try life.take(.buy, "film")
    }

    @Test("is ordered in advance, and charged when it is released")
    func preorder() throws {
        for isPaid in [true, false] {
            var life = try PlayedLife { google in
                google.products[3].release = opening.days(20)
            }
            let token = try life.take(.buy, "sequel")
            #expect(state(life, token) == "PENDING")
            #expect(life.answer(token)["orderId"] == nil)
            #expect(
                details(life, token)?["preorderOfferDetails"]?["preorderReleaseTime"]
                    == "2024-02-20T10:00:00Z")
            if !isPaid { try life.take(.failBilling) }
            life.advance(days: 20)
            #expect(state(life, token) == (isPaid ? "PURCHASED" : "CANCELLED"))
            #expect(life.usable == (isPaid ? ["sequel"] : []))
        }
    }

    @Test("waits for its payment, and is dropped if there is none")
    func pending() throws {
        var life = try PlayedLife()
        let token = try life.take(.buy, "level2") { $0.pending = true }
        #expect(state(life, token) == "PENDING")
        #expect(life.answer(token)["purchaseCompletionTime"] == nil)
        try life.take(.decline)
        #expect(state(life, token) == "CANCELLED")
        let second = try life.take(.buy, "level2") { $0.pending = true }
        try life.take(.approve)
        #expect(state(life, second) == "PURCHASED")
        #expect(life.news() == [.productCanceled, .productPurchased])
    }
}
