extension EventCodingTests {
    /// More of what must be read for ever: the other types, and each part of a payload where the first
    /// payloads all have it or all lack it.
    static let furtherPayloads: [(type: String, format: Int16, payload: String)] = [
        (
            "purchase.made", 1,
            #"{"store":"apple","environment":"sandbox","app":"com.example.game","#
                + #""transaction":"xcode-1a2b3c4d-1697679936-2","#
                + #""original":"xcode-1a2b3c4d-1697679936-2","product":"pro","#
                + #""kind":"auto_renewable","purchased":"2026-01-01T00:00:00.000Z","quantity":1,"#
                + #""offer":{},"ownership":"purchased","app_transaction":"xcode-1a2b3c4d-0","#
                + #""price":{"milliunits":9990},"signed_at":"2026-01-01T00:00:00.000Z","#
                + #""rank":"client_transaction","xcode":true}"#
        ),
        (
            "subscription.upgraded", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"3","original":"1","product":"premium","#
                + #""kind":"auto_renewable","purchased":"2026-01-10T00:00:00.000Z","#
                + #""expires":"2026-02-10T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","app_transaction":"704","#
                + #""signed_at":"2026-01-10T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "subscription.extended", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"2","original":"1","product":"pro","kind":"auto_renewable","#
                + #""purchased":"2026-01-01T00:00:00.000Z","#
                + #""expires":"2026-02-15T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","signed_at":"2026-01-20T00:00:00.000Z","#
                + #""rank":"server_api"}"#
        ),
        (
            "purchase.refunded", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"2","original":"2","product":"level2","#
                + #""kind":"non_consumable","purchased":"2026-01-01T00:00:00.000Z","#
                + #""quantity":1,"revocation":{"at":"2026-01-05T00:00:00.000Z"},"#
                + #""ownership":"purchased","signed_at":"2026-01-05T00:00:00.000Z","#
                + #""rank":"verify_receipt_reply"}"#
        ),
        (
            "purchase.revoked", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"2","original":"1","product":"pro","kind":"auto_renewable","#
                + #""purchased":"2026-01-01T00:00:00.000Z","#
                + #""expires":"2026-02-01T00:00:00.000Z","quantity":1,"#
                + #""revocation":{"at":"2026-01-05T00:00:00.000Z","reason":"other","#
                + #""extent":"family"},"ownership":"family_shared","#
                + #""signed_at":"2026-01-05T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "purchase.restated", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"2","original":"1","product":"pro","kind":"auto_renewable","#
                + #""purchased":"2026-01-01T00:00:00.000Z","#
                + #""expires":"2026-02-01T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","signed_at":"2026-01-06T00:00:00.000Z","#
                + #""rank":"server_api"}"#
        ),
        (
            "renewal.restated", 1,
            #"{"store":"apple","environment":"production","app":"com.example.game","#
                + #""original":"1","product":"pro","will_renew":true,"next_product":"pro","#
                + #""renews_at":"2026-03-01T00:00:00.000Z","offer":{"kind":"promotional","#
                + #""discount":"pay_up_front","identifier":"come-back","period":"P2M"},"#
                + #""account_token":"t","will_commit_again":true,"#
                + #""signed_at":"2026-02-02T00:00:00.000Z","rank":"notification"}"#
        ),
        (
            "refund.requested", 1,
            #"{"id":"n4","store":"apple","environment":"production","app":"com.example.game","#
                + #""original":"1","transaction":"2","signed_at":"2026-01-06T00:00:00.000Z","#
                + #""rank":"notification"}"#
        ),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:1","from":"$unclaimed/apple:1","cause":{"kind":"undone","#
                + #""reason":"r"},"at":"2026-01-06T00:00:00.000Z","transactions":[{"#
                + #""store":"apple","environment":"production","app":"com.example.game","#
                + #""transaction":"1","original":"1","product":"pro","#
                + #""purchased":"2026-01-01T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","signed_at":"2026-01-01T00:00:00.000Z","#
                + #""rank":"notification"}],"renewals":[{"store":"apple","#
                + #""environment":"production","app":"com.example.game","original":"1","#
                + #""will_renew":true,"signed_at":"2026-01-01T00:00:00.000Z","#
                + #""rank":"notification"}]}"#
        ),
        (
            "grant.given", 1,
            #"{"grant":"g_2","entitlement":"pro","start":"2026-01-06T00:00:00.000Z","#
                + #""end":"2026-02-06T00:00:00.000Z","reason":"outage","ticket":"T-4"}"#
        ),
        (
            "grant.revoked", 1,
            #"{"grant":"g_2","entitlement":"pro","at":"2026-01-07T00:00:00.000Z","#
                + #""reason":"mistake","ticket":null}"#
        ),
        (
            "grant.given", 1,
            #"{"grant":"g_3","entitlement":"pro","start":"2026-01-06T00:00:00.000Z","#
                + #""end":null,"reason":"outage","ticket":null,"after_current":"P30D","#
                + #""begins":"2026-02-06T00:00:00.000Z"}"#
        ),
        (
            "grant.given", 1,
            #"{"grant":"g_4","entitlement":"pro","start":"2026-01-06T00:00:00.000Z","#
                + #""end":null,"reason":"outage","ticket":null,"after_current":"P1M","#
                + #""given_anyway":{"source":"purchase","purchase":"apple:1"}}"#
        ),
        (
            "grant.given", 1,
            #"{"grant":"g_5","entitlement":"pro","start":"2026-01-06T00:00:00.000Z","#
                + #""end":null,"reason":"outage","ticket":null,"#
                + #""given_anyway":{"source":"grant","grant":"g_1"}}"#
        ),
        (
            "grant.given", 1,
            #"{"grant":"g_6","entitlement":"pro","start":"2026-01-06T00:00:00.000Z","#
                + #""end":null,"reason":"outage","ticket":null,"given_anyway":{"#
                + #""source":"original_app_version","original_app_version":"com.example.game"}}"#
        ),
        (
            "grant.changed", 1,
            #"{"grant":"g_2","entitlement":"pro","end":"2026-03-06T00:00:00.000Z","#
                + #""reason":"a longer outage","ticket":"T-4"}"#
        ),
        (
            "grant.changed", 1,
            #"{"grant":"g_3","entitlement":"pro","end":null,"reason":"r","ticket":null,"#
                + #""lasts":"P60D","begins":"2026-02-06T00:00:00.000Z"}"#
        ),
        (
            "purchase.blocked", 1,
            #"{"purchase":"apple:1","at":"2026-01-06T00:00:00.000Z","reason":"stolen card","#
                + #""ticket":"T-5"}"#
        ),
        (
            "purchase.unblocked", 1,
            #"{"purchase":"apple:1","at":"2026-01-07T00:00:00.000Z","reason":"mistake"}"#
        ),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:1","from":"u1","cause":{"kind":"admin","reason":"r"},"#
                + #""at":"2026-01-08T00:00:00.000Z","transactions":[],"renewals":[],"#
                + #""blocks":[{"since":"2026-01-05T00:00:00.000Z","#
                + #""until":"2026-01-06T00:00:00.000Z","reason":"r","ticket":"T-6"},"#
                + #"{"since":"2026-01-07T00:00:00.000Z","reason":"again"}]}"#
        ),
        ("balance.spent", 1, #"{"currency":"coins","amount":5}"#),
        (
            "order.opened", 1,
            #"{"order":"o2","token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12","#
                + #""opened_at":"2026-01-06T00:00:00.000Z","expires":"2026-01-07T00:00:00.000Z"}"#
        ),
        (
            "reconciliation.started", 1,
            #"{"reconciliation":"rc_1","steps":["orders"],"as_of":"2026-01-06T00:00:00.000Z"}"#
        ),
        (
            "customer.erased", 1,
            #"{"reason":"asked for it","ticket":"T-9","purchases":"forget","#
                + #""forgotten":["0123456789abcdef0123456789abcdef"],"ended":["pro"],"#
                + #""dropped":["level2"]}"#
        ),
    ]
}
