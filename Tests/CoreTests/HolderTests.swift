import Core
import Histories
import Testing

@Suite("Who holds a purchase")
struct HolderTests {
    private let anna: CustomerID = id("anna")
    private let ben: CustomerID = id("ben")
    private let pro = transaction("1", "pro", .autoRenewable, at(0), to: at(30))
    private var unclaimed: CustomerID { .unclaimed(purchaseID("1")) }

    private func contact(by submitter: CustomerID?, token: CustomerID? = nil) -> Contact {
        Contact(purchase: purchaseID("1"), tokenOwner: token, submitter: submitter)
    }

    private func holder(_ customer: CustomerID, _ facts: [TransactionFact]) -> Holder {
        Holder(customer, CustomerState(recording: [Histories.facts(facts)]))
    }

    private func place(
        _ contact: Contact, _ holder: Holder?, _ rule: TransferPolicy.Rule = .keep,
        now: Instant = at(5)
    ) throws(Refusal) -> Placement {
        try TransferPolicy(rule: rule).place(contact, holder: holder, catalog: shop, now: now)
    }

    @Test("The token's owner comes first, then whoever sent the evidence, then nobody")
    func firstContact() throws {
        #expect(try place(contact(by: ben, token: anna), nil) == .record(in: anna))
        #expect(try place(contact(by: ben), nil) == .record(in: ben))
        #expect(try place(contact(by: nil), nil) == .record(in: unclaimed))
    }

    @Test("What nobody claimed moves to the first who proves it")
    func claim() throws {
        let waiting = holder(unclaimed, [pro])
        #expect(try place(contact(by: nil), waiting) == .record(in: unclaimed))
        #expect(
            try place(contact(by: ben), waiting) == .move(from: unclaimed, to: ben, .claimed))
        #expect(
            try place(contact(by: nil, token: anna), waiting)
                == .move(from: unclaimed, to: anna, .claimed))
    }

    @Test("The holder's own evidence, and the store's news, stay with the holder")
    func news() throws {
        let held = holder(anna, [pro])
        #expect(try place(contact(by: anna), held) == .record(in: anna))
        #expect(try place(contact(by: nil, token: ben), held, .transfer) == .record(in: anna))
        #expect(try place(contact(by: anna, token: ben), held, .transfer) == .record(in: anna))
    }

    @Test("Another customer's evidence follows the policy")
    func policy() throws {
        let held = holder(anna, [pro])
        let move = Placement.move(from: anna, to: ben, .transferred)
        #expect(throws: Refusal.heldByAnother) { try place(contact(by: ben), held) }
        #expect(throws: Refusal.heldByAnother) {
            try place(contact(by: ben), held, .transferIfInactive, now: at(30, -1))
        }
        #expect(try place(contact(by: ben), held, .transferIfInactive, now: at(30)) == move)
        #expect(try place(contact(by: ben), held, .transfer) == move)
    }

    @Test("A move writes both streams, and the purchase is the same on the other side")
    func move() throws {
        var giver = CustomerState(recording: [
            facts(
                [pro], renewals: [renewal(of: "1", signed: at(30)) { $0.graceUntil = at(46) }]),
            facts(renewals: [renewal(of: "1", signed: at(31), on: false)]),
            facts([
                transaction("1", "pro", nil, at(0), to: at(33)) { $0.rank = .offlineReceipt }
            ]),
        ])
        var taker = CustomerState()
        let before = giver.entitlements(at: at(40), catalog: shop)
        let move = try MovePurchase(
            purchaseID("1"), from: anna, to: ben, cause: .transferred, catalog: shop
        ).decide(from: giver, to: taker, now: at(5))
        #expect(move.leaving.map(\.typeName) == ["purchase.detached"])
        #expect(move.arriving.map(\.typeName) == ["purchase.attached"])
        for event in move.leaving { giver.apply(event) }
        for event in move.arriving { taker.apply(event) }
        #expect(giver.entitlements(at: at(40), catalog: shop).all.isEmpty)
        #expect(giver.departures.map(\.to) == [ben])
        #expect(taker.entitlements(at: at(40), catalog: shop) == before)
        #expect(taker.purchase(purchaseID("1"))?.arrival?.from == anna)
    }

    @Test("A moved purchase stays where it is until it has cooled down, and an admin may undo it")
    func coolDown() throws {
        let giver = CustomerState(recording: [facts([pro])])
        var taker = CustomerState()
        for event in try MovePurchase(
            purchaseID("1"), from: anna, to: ben, cause: .transferred, catalog: shop
        ).decide(from: giver, to: taker, now: at(5)).arriving {
            taker.apply(event)
        }
        let held = Holder(ben, taker)
        #expect(throws: Refusal.movedRecently(until: at(6))) {
            try place(contact(by: anna), held, .transfer, now: at(6, -1))
        }
        #expect(
            try place(contact(by: anna), held, .transfer, now: at(6))
                == .move(from: ben, to: anna, .transferred))
        let undone = try MovePurchase.undoing(
            purchaseID("1"), heldBy: held, reason: id("mistake"), ticket: nil, catalog: shop)
        #expect(undone.to == anna)
        #expect(undone.cause == .undone(id("mistake"), ticket: nil))
        #expect(throws: Refusal.neverMoved(purchaseID("1"))) {
            try MovePurchase.undoing(
                purchaseID("1"), heldBy: Holder(anna, giver), reason: id("mistake"), ticket: nil,
                catalog: shop)
        }
    }

    @Test("A consumable waits for its claimant, is credited once, and never moves again")
    func consumable() throws {
        let coins = transaction("1", "coins", .consumable, at(0))
        var waiting = CustomerState()
        for event in waiting.decide(
            RecordFacts(facts([coins]), catalog: shop, isUnclaimed: true))
        {
            waiting.apply(event)
        }
        #expect(waiting.balances.currencies.isEmpty)
        let move = try MovePurchase(
            purchaseID("1"), from: unclaimed, to: anna, cause: .claimed, catalog: shop
        ).decide(from: waiting, to: CustomerState(), now: at(1))
        #expect(move.arriving.map(\.typeName) == ["purchase.attached", "balance.credited"])
        var state = CustomerState()
        for event in move.arriving { state.apply(event) }
        #expect(state.record(coins).isEmpty)
        #expect(state.balance("coins") == 100)
        #expect(throws: Refusal.heldByAnother) {
            try place(contact(by: ben), Holder(anna, state), .transfer)
        }
        #expect(throws: Refusal.boundByBalance(purchaseID("1"))) {
            try MovePurchase(
                purchaseID("1"), from: anna, to: ben, cause: .admin(id("asked"), ticket: nil),
                catalog: shop
            ).decide(from: state, to: CustomerState(), now: at(2))
        }
    }

    @Test("A move that makes no sense is refused")
    func refused() {
        let giver = CustomerState(recording: [facts([pro])])
        #expect(throws: Refusal.purchaseUnknown(purchaseID("2"))) {
            try MovePurchase(
                purchaseID("2"), from: anna, to: ben, cause: .transferred, catalog: shop
            ).decide(from: giver, to: CustomerState(), now: at(2))
        }
        #expect(throws: Refusal.alreadyHeld(purchaseID("1"))) {
            try MovePurchase(
                purchaseID("1"), from: anna, to: anna, cause: .transferred, catalog: shop
            ).decide(from: giver, to: giver, now: at(2))
        }
    }

    @Test("Names of waiting purchases are reserved")
    func reserved() {
        #expect(unclaimed.text == "$unclaimed/apple:1")
        #expect(unclaimed.isReserved)
    }
}
