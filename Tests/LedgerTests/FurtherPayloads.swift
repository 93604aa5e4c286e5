extension EventCodingTests {
    /// Further payloads that every release must be able to read: other types, and parts that occur
    /// in all or none of the first payloads.
    static let furtherPayloads: [(type: String, format: Int16, payload: String)] = [
        (
            "key.revoked", 2,
            #"{"key":"k_1","digest":"00ff","at":"2026-11-20T19:21:00.000Z","#
                + #""reason":"it leaked","ticket":"T-9"}"#
        ),
        (
            "catalog.changed", 2,
            #"{"version":3,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","#
                + #""reason":"an empty shop","ticket":"T-4"}"#
        ),
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","#
                + #""support_limits":{"*":"P7D","pro":"P30D"}}"#
        ),
        (
            "key.created", 1,
            #"{"key":"k_3","role":"support","name":"Ann's desk","digest":"00ff"}"#
        ),
        (
            "key.created", 1,
            #"{"key":"k_2","role":"admin","name":"","digest":"00ff","#
                + #""expires_at":"2027-02-18T19:21:00.000Z","environment":"sandbox","replaces":"k_1"}"#
        ),
        (
            "key.rotated", 1,
            #"{"key":"k_1","digest":"00ff","successor":"k_2","#
                + #""expires_at":"2026-11-27T19:21:00.000Z"}"#
        ),
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
            "note.added", 2,
            #"{"note":"n_1","text":"plays on\ntwo phones","ticket":"T-4"}"#
        ),
        ("note.added", 2, #"{"note":"n_2","text":"calls often","ticket":null}"#),
        ("note.removed", 2, #"{"note":"n_1","reason":"mistake","ticket":null}"#),
        ("note.removed", 2, #"{"note":"n_2","reason":"mistake","ticket":"T-4"}"#),
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
        (
            "purchase.made", 2,
            #"{"store":"google","environment":"sandbox","app":"com.example.game","#
                + #""transaction":"GPA.1..2","original":"0a","product":"pro","#
                + #""kind":"auto_renewable","purchased":"2026-01-01T00:00:00.000Z","#
                + #""expires":"2026-02-01T00:00:00.000Z","quantity":1,"#
                + #""ownership":"purchased","account_token":"a","#
                + #""reading":{"token":"t","token_name":"0b","continues":"0a","#
                + #""state":"on_hold","started":"2026-01-01T00:00:00.000Z","items":["#
                + #"{"product":"pro","order":"GPA.1..2","owned":true,"#
                + #""expires":"2026-02-01T00:00:00.000Z","will_renew":true,"#
                + #""next_product":"plus","removed":true,"base_plan":"monthly","#
                + #""offer":{"kind":"introductory","discount":"free_trial"},"#
                + #""price":{"milliunits":9990,"currency":"EUR"},"price_consent":"pending","#
                + #""instalments":{"payments":12,"left":3,"later":6,"ends":true}},"#
                + #"{"product":"plus","prepaid":true,"quantity":3,"refundable":1,"#
                + #""consumed":true,"rented":true,"ordered_in_advance":true,"#
                + #""released":"2026-02-01T00:00:00.000Z"}],"ending":"system","#
                + #""cancelled_at":"2026-01-09T00:00:00.000Z","#
                + #""resumes_at":"2026-03-01T00:00:00.000Z","declined_order":"GPA.1..3","#
                + #""acknowledged":true,"mark":"e","region":"DE","profile":"p","#
                + #""linked_account":"l","comes_back":{"token":"o","account":"b","#
                + #""profile":"q","linked_account":"m"}},"#
                + #""signed_at":"2026-02-02T00:00:00.000Z","rank":"server_api"}"#
        ),
        (
            "purchase.refunded", 2,
            #"{"store":"google","environment":"production","app":"com.example.game","#
                + #""transaction":"GPA.2","original":"0c","product":"coins","#
                + #""purchased":"2026-01-01T00:00:00.000Z","quantity":3,"#
                + #""ownership":"purchased","refunded_quantity":2,"#
                + #""reading":{"token":"t","token_name":"0c","state":{"unknown":"NEW"},"#
                + #""items":[]},"signed_at":"2026-02-02T00:00:00.000Z","rank":"server_api"}"#
        ),
        (
            "renewal.changed", 1,
            #"{"store":"google","environment":"production","app":"com.example.game","#
                + #""original":"0c","will_renew":true,"paused":true,"signed_at":"#
                + #""2026-02-01T00:00:00.000Z","rank":"server_api"}"#
        ),
        (
            "purchase.restated", 2,
            #"{"store":"google","environment":"production","app":"com.example.game","#
                + #""transaction":"GPA.3","original":"0d","product":"pro","#
                + #""kind":"auto_renewable","purchased":"2026-01-01T00:00:00.000Z","#
                + #""quantity":1,"ownership":"purchased","#
                + #""reading":{"token":"t","token_name":"0d","state":"active","#
                + #""items":[{"product":"pro","order":"GPA.3","owned":true,"#
                + #""price_consent":{"unknown":"NEW"},"#
                + #""instalments":{"payments":3,"left":0}}],"comes_back":{}},"#
                + #""signed_at":"2026-02-02T00:00:00.000Z","rank":"server_api"}"#
        ),
    ]
}
