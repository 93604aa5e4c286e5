import Core
import Histories
import Testing

@Suite("Extremes")
struct ExtremeTests {
    private func term(_ text: String, from start: String) -> Instant? {
        let terms = catalog([
            product(
                "term", .nonRenewing(duration: duration(text), stacking: .extend), ["thing"])
        ])
        let state = CustomerState(
            recording: [facts([transaction("1", "term", .nonRenewing, instant(start))])],
            catalog: terms)
        return state.entitlements(at: instant(start), catalog: terms)[id("thing")]?.run.end
    }

    @Test(
        "Terms end by the calendar",
        arguments: [
            ("P1M", "2026-01-31T12:00:00Z", "2026-02-28T12:00:00Z"),
            ("P1M", "2028-01-31T12:00:00Z", "2028-02-29T12:00:00Z"),
            ("P1M", "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z"),
            ("P1Y", "2028-02-29T00:00:00Z", "2029-02-28T00:00:00Z"),
            ("P4Y", "2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"),
            ("P1Y", "2099-02-28T00:00:00Z", "2100-02-28T00:00:00Z"),
            ("P3M", "9999-11-30T00:00:00Z", "+010000-02-29T00:00:00.000Z"),
            ("P1D", "1969-12-31T12:00:00Z", "1970-01-01T12:00:00Z"),
            ("P1M", "1900-01-31T00:00:00Z", "1900-02-28T00:00:00Z"),
            ("PT1S", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.999Z"),
        ])
    func calendar(_ text: String, _ start: String, _ end: String) {
        let expected = Instant(text: end)?.text ?? end
        #expect(term(text, from: start)?.text == expected)
    }

    @Test(
        "A chain of months counts from the first day, without shortening it",
        arguments: [(1, "2026-02-28T00:00:00.000Z"), (2, "2026-03-28T00:00:00.000Z")])
    func chain(_ count: Int, _ end: String) {
        let months = catalog([
            product("term", .nonRenewing(duration: duration("P1M"), stacking: .extend), ["thing"])
        ])
        let start = instant("2026-01-31T00:00:00Z")
        let bought = (0..<count).map {
            transaction("\($0)", "term", .nonRenewing, start.advanced(byMilliseconds: Int64($0)))
        }
        let state = CustomerState(recording: [facts(bought)], catalog: months)
        #expect(
            state.entitlements(at: start, catalog: months)[id("thing")]?.run.end?.text == end)
    }

    static let ends: [Instant] = [
        .distantPast, .distantFuture, Instant(milliseconds: .min + 1),
        Instant(milliseconds: .max - 1), Instant(milliseconds: -1), Instant(milliseconds: 0),
        instant("9999-12-31T23:59:59.999Z"), instant("1901-12-13T20:45:52Z"),
    ]

    @Test("No instant in any place of any fact causes a trap", arguments: ends, ends)
    func anyInstant(_ one: Instant, _ other: Instant) throws {
        let taken = refund(at: other, .prorated, .unknown(.number(.max)), milliPercent: .max)
        var state = CustomerState(recording: [
            facts(
                [
                    transaction("1", "pro", .autoRenewable, one, to: other, signed: other),
                    transaction("2", of: "1", "plus", .autoRenewable, other, to: one) {
                        $0.isUpgraded = true
                        $0.revocation = taken
                    },
                    transaction("3", "level2", .nonConsumable, one) { $0.revocation = taken },
                    transaction("4", "season", .nonRenewing, one),
                    transaction("5", "season", .nonRenewing, other) { $0.revocation = taken },
                    transaction("6", "boost", .nonRenewing, one),
                    transaction("7", "boost", .nonRenewing, other),
                    transaction("8", "coins", .consumable, one) { $0.revocation = taken },
                ],
                renewals: [renewal(of: "1", signed: one) { $0.graceUntil = other }],
                apps: [installation("1.0", on: one)])
        ])
        for event in try state.decide(
            GiveGrant(
                grant: id("g"), entitlement: id("pro"), time: .from(one, until: .never),
                reason: id("why"), ticket: nil), by: shop, now: other)
        {
            state.apply(event)
        }
        for instant in Self.ends {
            let answer = state.entitlements(at: instant, catalog: shop)
            #expect(answer.nextChange.map { $0 > instant } ?? true)
            #expect(answer.all.allSatisfy { $0.isActive == $0.run.contains(instant) })
            _ = state.subscriptions(at: instant, catalog: shop)
            _ = state.explanation(of: id("pro"), at: instant, catalog: shop)
        }
    }

    @Test("Unknown words are kept and change no access")
    func unknownValues() {
        let strange = transaction("1", "pro", .autoRenewable, at(0), to: at(30)) {
            $0.ownership = .unknown("BORROWED")
            $0.offer = Offer(kind: .unknown(99), discount: .unknown("HALF"))
            $0.price = Price(milliunits: .max, currency: "XXX")
        }
        let state = CustomerState(recording: [
            facts(
                [strange],
                renewals: [
                    renewal(of: "1", signed: at(30), on: false) {
                        $0.expirationIntent = .unknown(77)
                        $0.priceConsent = .unknown(-1)
                    }
                ])
        ])
        let texts = [at(0), at(30)].map {
            WorkedExample.text(state.entitlements(at: $0, catalog: shop)[id("pro")])
        }
        #expect(texts == ["yes active 4.3", "no expired 0.3"])
        #expect(state.purchase(purchaseID("1"))?.evidence.first?.effective == strange)
    }

    @Test("A refund of unknown extent is a full one")
    func unknownRefund() {
        let state = CustomerState(recording: [
            facts([
                transaction("1", "coins", .consumable, at(0)) {
                    $0.revocation = refund(at: at(1), .unknown("REFUND_ODD"), milliPercent: 5)
                },
                transaction("2", "pro", .autoRenewable, at(0), to: at(30)) {
                    $0.revocation = refund(at: at(1), .unknown("REFUND_ODD"))
                },
            ])
        ])
        #expect(state.balance("coins") == 0)
        #expect(
            WorkedExample.text(state.entitlements(at: at(1), catalog: shop)[id("pro")])
                == "no revoked -8.0")
    }

    @Test("A subscription without a stated end gives nothing rather than everything")
    func endless() {
        let state = CustomerState(recording: [
            facts([transaction("1", "pro", .autoRenewable, at(0))])
        ])
        #expect(state.entitlements(at: at(1), catalog: shop)[id("pro")]?.isActive == false)
    }

    @Test("A product outside the catalog unlocks nothing, and is reported")
    func unknownProduct() {
        let state = CustomerState(recording: [
            facts([transaction("1", "mystery", nil, at(0), to: at(30))])
        ])
        #expect(state.entitlements(at: at(1), catalog: shop).all.isEmpty)
        let explanation = state.explanation(of: id("pro"), at: at(1), catalog: shop)
        #expect(explanation.answer == nil)
        #expect(explanation.ignored.map(\.cause) == [.productNotInCatalog])
    }

    @Test(
        "Versions are compared number by number",
        arguments: [
            ("1.9", "1.10", true), ("1.10", "1.9", false), ("2", "2.0.0", false),
            ("2.0", "2", false), ("1.99999999999999999999", "2", true), ("01.2", "1.3", true),
            ("1.2b3", "1.3", true), ("", "2.0", false), ("beta", "2.0", false), ("0", "0.1", true),
            ("99999999999999999999.0", "99999999999999999999.1", true),
        ])
    func versions(_ installed: String, _ below: String, _ counts: Bool) {
        let rules = catalog(
            [], rules: [OriginalVersionRule(below: below, entitlements: [id("legacy")])])
        let state = CustomerState(
            recording: [facts(apps: [installation(installed, on: at(0))])], catalog: rules)
        #expect((state.entitlements(at: at(1), catalog: rules)[id("legacy")] != nil) == counts)
    }
}
