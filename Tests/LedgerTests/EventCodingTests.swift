import Core
import Histories
import JSON
import Testing

@testable import Ledger

@Suite("Events as the log stores them")
struct EventCodingTests {
    /// Payloads that every release must be able to read. Each new type or format adds a row, and
    /// rows never change after a release.
    static let payloads: [(type: String, format: Int16, payload: String)] = [
        ("project.created", 1, #"{"project":"default"}"#),
        ("key.created", 1, #"{"key":"k_1","role":"backend","name":"lobby","digest":"00ff"}"#),
        ("key.revoked", 1, #"{"key":"k_1","digest":"00ff","at":"2026-11-20T19:21:00.000Z"}"#),
        (
            "catalog.changed", 1,
            #"{"version":2,"catalog":{"products":[{"id":"season","kind":"non_renewing","#
                + #""duration":"P3M","stacking":"extend","entitlements":["season"]}],"#
                + #""entitlements":{},"currencies":{},"original_app_version":[]}}"#
        ),
        (
            "app.set", 1,
            #"{"store":"apple","app":"com.example.game","apple_id":1234567890,"#
                + #""sandbox_access":"listed","sandbox_customers":["a","b"],"#
                + #""receipts":"store"}"#
        ),
        (
            "app.set", 1,
            #"{"store":"apple","app":"com.example.game","sandbox_access":"none","#
                + #""receipts":"local"}"#
        ),
        ("app.removed", 1, #"{"store":"apple","app":"com.example.game"}"#),
        ("app.allowed", 1, #"{"store":"apple","app":"com.example.game"}"#),
        ("app.allowed", 1, #"{"any":true}"#),
        ("app.disallowed", 1, #"{"store":"apple","app":"com.example.game"}"#),
        ("app.disallowed", 1, #"{"any":true}"#),
        (
            "project.changed", 1,
            #"{"transfer":"transfer_if_inactive","restore":"transfer","cool_down":"PT12H","#
                + #""order_lifetime":"P1M"}"#
        ),
        ("project.changed", 1, #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D"}"#),
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","#
                + #""credit_limits":{"coins":{"per_call":5,"per_day":50}}}"#
        ),
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","#
                + #""refund_reports":{"preference":"grant_prorated","sample_provided":true}}"#
        ),
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","#
                + #""refund_reports":{}}"#
        ),
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","#
                + #""customers_per_account":5}"#
        ),
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","#
                + #""customers_per_account":null}"#
        ),
        ("account.joined", 1, #"{"app_transaction":"704","customer":"u1"}"#),
        (
            "refund.report_prepared", 1,
            #"{"request":"n1","purchase":"apple:7","transaction":"7","report":{"#
                + #""delivery":"delivered","sample_provided":true,"#
                + #""used_milli_percent":40000,"preference":"decline"}}"#
        ),
        (
            "refund.report_prepared", 1,
            #"{"request":"n1","purchase":"apple:7","transaction":"7","report":{"#
                + #""delivery":"undelivered_other"}}"#
        ),
        ("refund.reported", 1, #"{"request":"n1","purchase":"apple:7"}"#),
        (
            "refund.unreported", 1,
            #"{"request":"n1","purchase":"apple:7","why":"too_late","#
                + #""detail":"The store cannot be reached now."}"#
        ),
        ("refund.unreported", 1, #"{"request":"n1","purchase":"apple:7","why":"refused"}"#),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:7","from":"u1","cause":{"kind":"transferred"},"#
                + #""at":"2026-01-06T00:00:00.000Z","transactions":[],"renewals":[],"#
                + #""reports":[{"request":"n1","report":{"delivery":"delivered"}},"#
                + #"{"request":"n2","report":{"delivery":"delivered"},"end":"reported"},"#
                + #"{"request":"n3","end":"too_late"}]}"#
        ),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:7","from":"u1","cause":{"kind":"named","#
                + #""token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"},"#
                + #""at":"2026-01-06T00:00:00.000Z","transactions":[],"renewals":[],"#
                + #""earlier_tokens":[{"token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12","#
                + #""first":{"purchased":"2026-01-01T00:00:00.000Z","transaction":"7"},"#
                + #""last":{"purchased":"2026-02-01T00:00:00.000Z","transaction":"8"}},"#
                + #"{"token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a13"}]}"#
        ),
        (
            "purchase.made", 1,
            #"{"store":"apple","environment":"sandbox","app":"com.example.game","#
                + #""transaction":"2","original":"1","product":"pro","kind":"auto_renewable","#
                + #""purchased":"2026-01-01T00:00:00.000Z","#
                + #""originally_purchased":"2025-01-01T00:00:00.000Z","#
                + #""expires":"+012026-02-01T00:00:00.000Z","quantity":10000,"#
                + #""revocation":{"at":"2026-01-05T00:00:00.000Z","reason":{"unknown":7},"#
                + #""extent":"prorated","milli_percent":50000},"upgraded":true,"#
                + #""offer":{"kind":"win_back","discount":{"unknown":"NEW"},"#
                + #""identifier":"summer","period":"P1M"},"ownership":"family_shared","#
                + #""account_token":"t","price":{"milliunits":9223372036854775807,"#
                + #""currency":"EUR"},"group":"g","line_item":"9","#
                + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"server_api"}"#
        ),
        (
            "purchase.made", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"2","original":"2","product":"all","unknown_kind":"Suite","#
                + #""purchased":"2026-01-01T00:00:00.000Z","#
                + #""expires":"2026-02-01T00:00:00.000Z","quantity":1,"#
                + #""revocation":{"at":"2026-01-05T00:00:00.000Z","#
                + #""reason":{"unknown":"MOVED"},"extent":{"unknown":9}},"#
                + #""ownership":{"unknown":"ASSIGNED"},"#
                + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "refund.reversed", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"1","original":"1","product":"coins","#
                + #""purchased":"1969-12-31T23:59:59.999Z","quantity":1,"#
                + #""ownership":{"unknown":"OTHER"},"signed_at":"2026-01-06T00:00:00.000Z","#
                + #""rank":"offline_receipt"}"#
        ),
        (
            "renewal.changed", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""original":"1","product":"pro","will_renew":false,"next_product":"plus","#
                + #""in_billing_retry":true,"grace_until":"2026-03-01T00:00:00.000Z","#
                + #""expiration_intent":"billing_error","price_consent":{"unknown":3},"#
                + #""renews_at":"2026-03-01T00:00:00.000Z","signed_at":"#
                + #""2026-02-01T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "purchase.made", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"9","original":"9","product":"anything","#
                + #""purchased":"2026-02-01T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","previous_original":"1","#
                + #""items":[{"product":"plus"},"#
                + #"{"product":"pro","revoked_at":"2026-02-02T00:00:00.000Z"}],"#
                + #""signed_at":"2026-02-03T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "subscription.renewed", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"2","original":"1","product":"pro","kind":"auto_renewable","#
                + #""purchased":"2026-02-01T00:00:00.000Z","#
                + #""expires":"2026-03-01T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","commitment":{"period":2,"periods":12,"#
                + #""ends":"2027-01-01T00:00:00.000Z"},"#
                + #""signed_at":"2026-02-01T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "renewal.changed", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""original":"1","will_renew":true,"will_commit_again":false,"signed_at":"#
                + #""2026-02-01T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "app.installed", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""original_version":"1.2","originally_purchased":"2020-01-01T00:00:00.000Z","#
                + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"client_transaction"}"#
        ),
        (
            "app.installed", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""original_version":"1.2","app_transaction":"704","#
                + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"client_transaction"}"#
        ),
        (
            "refund.requested", 1,
            #"{"id":"n1","store":"apple","environment":"sandbox","app":"com.example.game","#
                + #""original":"1","transaction":"2","reason":{"unknown":"REGRET"},"#
                + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "refund.declined", 1,
            #"{"id":"n2","store":"apple","environment":"sandbox","app":"com.example.game","#
                + #""original":"1","transaction":"2","declined":true,"#
                + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "consent.rescinded", 1,
            #"{"id":"n3","store":"apple","environment":"sandbox","app":"com.example.game","#
                + #""app_transaction":"704","signed_at":"2026-01-06T00:00:00.000Z","#
                + #""rank":"notification"}"#
        ),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:1","from":"u1","cause":{"kind":"claimed"},"#
                + #""at":"2026-01-06T00:00:00.000Z","transactions":[],"renewals":[],"#
                + #""refunds":[{"id":"n1","store":"apple","environment":"sandbox","#
                + #""app":"com.example.game","original":"1","transaction":"2","#
                + #""reason":"legal","signed_at":"2026-01-06T00:00:00.000Z","#
                + #""rank":"notification"}]}"#
        ),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:1:2","from":"u1","cause":{"kind":"admin","reason":"r","#
                + #""ticket":"T-1"},"at":"2026-01-06T00:00:00.000Z","transactions":[],"#
                + #""renewals":[]}"#
        ),
        (
            "purchase.detached", 1,
            #"{"purchase":"apple:1","to":"u2","cause":{"kind":"claimed"},"#
                + #""at":"2026-01-06T00:00:00.000Z"}"#
        ),
        (
            "grant.given", 1,
            #"{"grant":"g_1","entitlement":"pro","start":"2026-01-06T00:00:00.000Z","#
                + #""end":null,"reason":"lost purchase","ticket":null}"#
        ),
        (
            "grant.revoked", 1,
            #"{"grant":"g_1","entitlement":"pro","at":"2026-01-06T00:00:00.000Z","#
                + #""reason":"mistake","ticket":"T-2"}"#
        ),
        (
            "balance.credited", 1,
            #"{"currency":"coins","amount":100,"purchase":"apple:1","transaction":"1","#
                + #""per_piece":100}"#
        ),
        (
            "balance.debited", 1,
            #"{"currency":"coins","amount":50,"purchase":"apple:1","transaction":"1"}"#
        ),
        ("balance.spent", 1, #"{"currency":"coins","amount":5,"reason":"sword"}"#),
        ("balance.adjusted", 1, #"{"currency":"coins","amount":-5,"reason":"r","ticket":"T"}"#),
        (
            "balance.adjusted", 1,
            #"{"currency":"coins","amount":5,"reason":"r","#
                + #""earned_at":"2026-11-20T19:21:00.000Z"}"#
        ),
        (
            "order.opened", 1,
            #"{"order":"o1","token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11","#
                + #""product":"coins","#
                + #""opened_at":"2026-01-06T00:00:00.000Z","expires":"2026-01-07T00:00:00.000Z"}"#
        ),
        ("order.fulfilled", 1, #"{"order":"o1","purchase":"apple:1","transaction":"1"}"#),
        (
            "order.closed", 1,
            #"{"order":"o1","cause":{"kind":"settled","reason":"r"},"#
                + #""at":"2026-01-06T00:00:00.000Z"}"#
        ),
        (
            "order.closed", 1,
            #"{"order":"o1","cause":{"kind":"cancelled","reason":"r","ticket":"T-3"},"#
                + #""at":"2026-01-06T00:00:00.000Z"}"#
        ),
        (
            "order.closed", 1,
            #"{"order":"o1","cause":{"kind":"stale"},"at":"2026-01-06T00:00:00.000Z"}"#
        ),
        ("token.registered", 1, #"{"token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"}"#),
        ("log.accepted", 1, #"{"acceptance":"ac_1","reason":"restored","ticket":"T-1"}"#),
        ("log.accepted", 1, #"{"acceptance":"ac_1","reason":"restored"}"#),
        (
            "webhook.set", 1,
            #"{"webhook":"wh_1","environment":"sandbox","url":"https://example.com/","types":["#
                + #""entitlement.*"],"format":"cloudevents","concurrency":4,"rate":5,"description":"#
                + #""shop","headers":["X-Shop"],"paused":true,"key":2,"resumptions":1}"#
        ),
        (
            "webhook.set", 1,
            #"{"webhook":"wh_1","environment":"production","url":"https://example.com/","types":["#
                + #""grant.given"],"format":"deed","concurrency":4,"key":1}"#
        ),
        ("webhook.removed", 1, #"{"webhook":"wh_1"}"#),
        (
            "reconciliation.started", 1,
            #"{"reconciliation":"rc_1","steps":["boundaries","chain"]}"#
        ),
        (
            "reconciliation.started", 1,
            #"{"reconciliation":"rc_1","steps":["notifications","subscriptions"],"full":true,"#
                + #""repair":true,"requested":true}"#
        ),
        (
            "reconciliation.finished", 1,
            #"{"reconciliation":"rc_1","steps":{"boundaries":{"looked_at":1,"found":2,"#
                + #""mended":2}},"errors":["chain: broken"],"milliseconds":310}"#
        ),
        (
            "reconciliation.finished", 1,
            #"{"reconciliation":"rc_1","steps":{},"errors":[],"#
                + #""notes":["subscriptions: left out"],"milliseconds":310}"#
        ),
        (
            "access.ended", 1,
            #"{"entitlement":"pro","at":"2026-01-06T00:00:00.000Z","answer":{"active":false,"#
                + #""since":"2026-01-01T00:00:00.000Z","until":"2026-01-06T00:00:00.000Z","#
                + #""state":"expired","code":"-5.0","product":"pro.month","#
                + #""source":"purchase","purchase":"apple:1"}}"#
        ),
        (
            "access.started", 1,
            #"{"entitlement":"pro","at":"2026-01-06T00:00:00.000Z","answer":{"active":true,"#
                + #""since":"2026-01-06T00:00:00.000Z","state":"active","code":"2.0","#
                + #""will_renew":true,"source":"grant","grant":"g1"}}"#
        ),
        (
            "access.ending_soon", 1,
            #"{"entitlement":"pro","at":"2026-01-06T00:00:00.000Z","answer":{"active":true,"#
                + #""since":"2026-01-06T00:00:00.000Z","state":"active","code":"3.0","#
                + #""source":"original_app_version","#
                + #""original_app_version":"com.example.game"}}"#
        ),
        (
            "access.started", 1,
            #"{"entitlement":"pro","at":"2026-01-06T00:00:00.000Z","answer":{"active":true,"#
                + #""since":"2026-01-01T00:00:00.000Z","state":"grace","code":"1.0","#
                + #""source":"purchase","purchase":"apple:1"},"corrects":"17:48213"}"#
        ),
        (
            "access.ended", 1,
            #"{"entitlement":"pro","at":"2026-01-06T00:00:00.000Z","#
                + #""answer":{"active":false,"state":"none","code":"0.0"}}"#
        ),
        ("customer.erased", 1, #"{"reason":"asked for it","purchases":"free"}"#),
    ]

    @Test(
        "A golden payload is read, and written the same",
        arguments: payloads + furtherPayloads + mergePayloads)
    func golden(_ type: String, _ format: Int16, _ payload: String) throws {
        let event = try Event(type: type, format: format, payload: payload)
        #expect(event.type.name == type)
        if Int(format) == event.format.number { #expect(event.payload.text == payload) }
    }

    @Test("Every event of random histories is read as it was written")
    func roundTrip() throws {
        let seed = printedSeed(of: "coded events")
        for offset in 0..<300 as Range<UInt64> {
            var state = CustomerState()
            for fact in RandomHistory(seed: seed &+ offset).facts {
                for event in state.record(AnyFact.facts([fact])) {
                    let read = try Event(
                        type: event.type.name, format: Int16(event.format.number),
                        payload: event.payload.text)
                    #expect(read == event)
                }
            }
        }
    }

    @Test(
        "A payload that this release cannot read is refused and not guessed",
        arguments: [
            ("grant.lent", "{}"), ("grant.given", "{}"), ("grant.given", "not JSON"),
            ("balance.spent", #"{"currency":"coins","amount":"5"}"#),
            ("order.closed", #"{"order":"o","cause":{"kind":"lost"},"at":"2026-01-06T00:00:00Z"}"#),
            ("token.registered", #"{"token":"t"}"#),
            ("access.ended", #"{"entitlement":"pro","at":"2026-01-06T00:00:00.000Z"}"#),
            ("app.set", #"{"store":"apple","app":"a","sandbox_access":"some","receipts":"local"}"#),
            ("project.changed", #"{"transfer":"keep","cool_down":"P0D","order_lifetime":"P7D"}"#),
            ("purchase.detached", #"{"purchase":"mars:1","to":"u","cause":{"kind":"claimed"}}"#),
        ])
    func unreadable(_ type: String, _ payload: String) {
        #expect(throws: LedgerError.self) { try Event(type: type, format: 1, payload: payload) }
    }

    @Test("A format that this release does not know is refused by its number", arguments: [0, 3])
    func unknownFormat(_ format: Int16) {
        #expect {
            try Event(type: "customer.erased", format: format, payload: #"{"reason":"r"}"#)
        } throws: {
            let sentence = "\($0)"
            return sentence.contains("customer.erased in the format \(format)")
                && sentence.contains("or a newer one")
        }
    }
}
