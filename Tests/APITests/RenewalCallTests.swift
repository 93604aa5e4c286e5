import Core
import JSON
import Minting
import TestSupport
import Testing

@Suite("Renewal infos that are submitted beside their transactions")
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

    @Test("What the store says of the renewal counts, behind the transactions, and once")
    func recorded() throws {
        let renewal = front.store.renewal(off())
        let reply = submit([month], [renewal])
        #expect(try reply.outcomes == ["recorded", "recorded"])
        #expect(try front.entitlement("pro")["will_renew"] == false)
        #expect(try front.events() == ["purchase.made", "renewal.changed"])
        #expect(try submit([month], [renewal]).outcomes == ["already_known", "already_known"])
    }

    @Test("Without a transaction of the same subscription it is refused, and nothing else is")
    func alone() throws {
        let renewal = front.store.renewal(off("2"))
        let reply = submit([month], [renewal])
        #expect(try reply.outcomes == ["recorded", "refused"])
        #expect(try reply.json["items"]?.array?[1]["code"] == "renewal_without_transaction")
        #expect(try submit([], [renewal]).outcomes == ["refused"])
        #expect(try front.entitlement("pro")["will_renew"] == true)
    }

    @Test("One of the other environment goes with no transaction of this one")
    func otherWorld() throws {
        let reply = submit([month], [front.sandbox.renewal(off())])
        #expect(try reply.json["items"]?.array?[1]["code"] == "renewal_without_transaction")
    }

    @Test("A forged one is refused by its name")
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
