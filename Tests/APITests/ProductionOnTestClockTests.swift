import Core
import JSON
import Minting
import TestSupport
import Testing

@Suite("Production evidence under a test clock")
struct ProductionOnTestClockTests {
    @Test("Production evidence is refused in every way of submitting; the sandbox's is accepted")
    func refused() throws {
        let front = try Storefront(takesProduction: false)
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))
        let real = front.store.transaction(sale)
        let receipt = front.store.receipt([sale], at: front.daysAgo(0))
        let events = try front.service.eventCount()
        let notified = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n1", at: front.daysAgo(0), transaction: real))
        #expect(notified.status == 401 && notified.code == "production_on_test_clock")
        for evidence: JSON in [
            ["signed_transactions": [.string(real)]], ["receipt": .string(receipt)],
        ] {
            let items = try front.submit(evidence).json["items"]?.array ?? []
            #expect(items.map { $0["code"] } == ["production_on_test_clock"], "\(items)")
        }
        #expect(try front.service.eventCount() == events)
        #expect(try front.service.database.number("select count(*) from deed.evidence") == 0)
        let tried = front.sandbox.transaction(sale)
        #expect(
            try front.submit(["signed_transactions": [.string(tried)]]).outcomes == ["recorded"])
    }
}
