import Core
import Histories
import Testing

@Suite("Who holds a purchase")
struct HolderTests {
    private let anna: CustomerID = id("anna")
    private let ben: CustomerID = id("ben")
    private let pro = transaction("1", "pro", .autoRenewable, at(0), to: at(30))
    private var unclaimed: CustomerID { .unclaimed(purchaseID("1")) }

    private let token = AccountToken(random: [UInt8](repeating: 1, count: 16))

    private func contact(by submitter: CustomerID?, token owner: CustomerID? = nil) -> Contact {
        Contact(
            purchase: purchaseID("1"), named: owner.map { NamedHolder($0, by: token) },
            submitter: submitter)
    }

    private func holder(_ customer: CustomerID, _ facts: [TransactionFact]) -> Holder {
        Holder(customer, CustomerState(recording: [Histories.facts(facts)]))
    }

    private func place(
        _ contact: Contact, _ holder: Holder?, _ rule: TransferPolicy.Rule = .keep,
        now: Instant = at(5)
    ) -> Placement {
        TransferPolicy(rule: rule).place(contact, holder: holder, catalog: shop, now: now)
    }

    private func moved(to holder: CustomerID, _ from: CustomerID, _ cause: MoveCause) -> Placement {
        Placement(holder: holder, movingFrom: Placement.Origin(from, cause))
    }

    @Test("The token's owner comes first, then the sender of the evidence, then no one")
    func firstContact() {
        #expect(
            place(contact(by: ben, token: anna), nil)
                == Placement(holder: anna, refusal: .move(.heldByAnother)))
        #expect(place(contact(by: nil, token: anna), nil) == Placement(holder: anna))
        #expect(place(contact(by: ben), nil) == Placement(holder: ben))
        #expect(place(contact(by: nil), nil) == Placement(holder: unclaimed))
    }

    @Test("An unclaimed purchase moves to the first customer who proves it")
    func claim() {
        let waiting = holder(unclaimed, [pro])
        #expect(place(contact(by: nil), waiting) == Placement(holder: unclaimed))
        #expect(place(contact(by: ben), waiting) == moved(to: ben, unclaimed, .claimed))
        #expect(
            place(contact(by: nil, token: anna), waiting) == moved(to: anna, unclaimed, .claimed))
        let stranger = place(contact(by: ben, token: anna), waiting)
        #expect(stranger.holder == anna && stranger.refusal == .move(.heldByAnother))
    }

    @Test("The holder's own evidence, and the store's news, stay with the holder")
    func news() {
        let held = holder(anna, [pro])
        #expect(place(contact(by: anna), held) == Placement(holder: anna))
    }

    @Test(
        "The purchase goes to the customer whom its tokens name, whoever sends it",
        arguments: TransferPolicy.Rule.allCases)
    func named(rule: TransferPolicy.Rule) throws {
        let held = holder(anna, [pro])
        let toBen = moved(to: ben, anna, .named(token))
        #expect(place(contact(by: nil, token: ben), held, rule) == toBen)
        #expect(place(contact(by: ben, token: ben), held, rule) == toBen)
        let robbed = place(contact(by: anna, token: ben), held, rule)
        #expect(robbed.holder == ben && robbed.refusal == .move(.heldByAnother))
        let kept = Placement(holder: anna, refusal: .move(.heldByAnother))
        #expect(place(contact(by: ben, token: anna), held, rule, now: at(31)) == kept)
        #expect(place(contact(by: anna, token: anna), held, rule) == Placement(holder: anna))
    }

    @Test("Another customer's evidence follows the policy; if it stays, it is the holder's")
    func policy() {
        let held = holder(anna, [pro])
        let move = moved(to: ben, anna, .transferred)
        let kept = Placement(holder: anna, refusal: .move(.heldByAnother))
        #expect(place(contact(by: ben), held) == kept)
        #expect(place(contact(by: ben), held, .transferIfInactive, now: at(30, -1)) == kept)
        #expect(place(contact(by: ben), held, .transferIfInactive, now: at(30)) == move)
        #expect(place(contact(by: ben), held, .transfer) == move)
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
        #expect(move.leaving.map(\.type.name) == ["purchase.detached"])
        #expect(move.arriving.map(\.type.name) == ["purchase.attached"])
        for event in move.leaving { giver.apply(event) }
        for event in move.arriving { taker.apply(event) }
        #expect(giver.entitlements(at: at(40), catalog: shop).all.isEmpty)
        #expect(giver.departures.map(\.to) == [ben])
        #expect(taker.entitlements(at: at(40), catalog: shop) == before)
        #expect(taker.purchase(purchaseID("1"))?.arrival?.from == anna)
    }

    @Test("A moved purchase stays until it has cooled down, and an admin may undo the move")
    func coolDown() throws {
        let giver = CustomerState(recording: [facts([pro])])
        var taker = CustomerState()
        for event in try MovePurchase(
            purchaseID("1"), from: anna, to: ben, cause: .transferred, catalog: shop
        ).decide(from: giver, to: taker, now: at(5)).arriving {
            taker.apply(event)
        }
        let held = Holder(ben, taker)
        #expect(
            place(contact(by: anna), held, .transfer, now: at(6, -1))
                == Placement(holder: ben, refusal: .move(.movedRecently(until: at(6)))))
        #expect(
            place(contact(by: anna), held, .transfer, now: at(6))
                == moved(to: anna, ben, .transferred))
        let undone = try MovePurchase.undoing(
            purchaseID("1"), heldBy: held, reason: id("mistake"), ticket: nil, catalog: shop)
        #expect(undone.to == anna)
        #expect(undone.cause == .undone(id("mistake"), ticket: nil))
        #expect(throws: Refusal.move(.neverMoved(purchaseID("1")))) {
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
        #expect(move.arriving.map(\.type.name) == ["purchase.attached", "balance.credited"])
        var state = CustomerState()
        for event in move.arriving { state.apply(event) }
        #expect(state.record(coins).isEmpty)
        #expect(state.balance("coins") == 100)
        #expect(
            place(contact(by: ben), Holder(anna, state), .transfer)
                == Placement(holder: anna, refusal: .move(.heldByAnother)))
        #expect(throws: Refusal.move(.boundByBalance(purchaseID("1")))) {
            try MovePurchase(
                purchaseID("1"), from: anna, to: ben, cause: .admin(id("asked"), ticket: nil),
                catalog: shop
            ).decide(from: state, to: CustomerState(), now: at(2))
        }
    }

    @Test("An impossible move is refused")
    func refused() {
        let giver = CustomerState(recording: [facts([pro])])
        #expect(throws: Refusal.move(.unknown(purchaseID("2")))) {
            try MovePurchase(
                purchaseID("2"), from: anna, to: ben, cause: .transferred, catalog: shop
            ).decide(from: giver, to: CustomerState(), now: at(2))
        }
        #expect(throws: Refusal.move(.alreadyHeld(purchaseID("1")))) {
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
