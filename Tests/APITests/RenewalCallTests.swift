import Core
import JSON
import Minting
import TestSupport
import Testing

@Suite("Renewal info submitted with its transaction")
struct RenewalCallTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private var month: Sale {
        Sale("1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
    }

    private func off(_ original: String = "1") -> RenewalPlan {
        var plan = RenewalPlan(of: original, "pro.month", signed: front.daysAgo(0))
        plan.isOn = false
        return plan
    }

    private func submit(_ sales: [Sale], _ renewals: [String]) -> Reply {
        var body = front.signed(sales).object ?? JSONObject()
        body.append("signed_renewals", .array(renewals.map(JSON.string)))
        return front.submit(.object(body))
    }

    @Test("The store's statement about the renewal counts once, after the transactions")
    func recorded() throws {
        let renewal = front.store.renewal(off())
        let reply = submit([month], [renewal])
        #expect(try reply.outcomes == ["recorded", "recorded"])
        #expect(try front.entitlement("pro")["will_renew"] == false)
        #expect(try front.events() == ["purchase.made", "renewal.changed"])
        #expect(try submit([month], [renewal]).outcomes == ["already_known", "already_known"])
    }

    @Test("Renewal info without a transaction of its subscription is refused, and nothing else is")
    func alone() throws {
        let renewal = front.store.renewal(off("2"))
        let reply = submit([month], [renewal])
        #expect(try reply.outcomes == ["recorded", "refused"])
        #expect(try reply.json["items"]?.array?[1]["code"] == "renewal_without_transaction")
        #expect(try submit([], [renewal]).outcomes == ["refused"])
        #expect(try front.entitlement("pro")["will_renew"] == true)
    }

    @Test("Renewal info of the other environment does not match this one's transaction")
    func otherWorld() throws {
        let reply = submit([month], [front.sandbox.renewal(off())])
        #expect(try reply.json["items"]?.array?[1]["code"] == "renewal_without_transaction")
    }

    @Test("Forged renewal info is refused by its name")
    func forged() throws {
        let forged = String(front.store.renewal(off()).dropLast(6)) + "AAAAAA"
        #expect(
            try submit([month], [forged]).json["items"]?.array?[1]["code"] == "signature_invalid")
    }

    @Test("More than a hundred are refused together")
    func limit() throws {
        let reply = submit([month], Array(repeating: "x", count: 101))
        #expect(reply.status == 400)
        #expect(try reply.json["member"] == "signed_renewals")
    }
}
