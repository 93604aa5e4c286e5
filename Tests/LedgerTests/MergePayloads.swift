extension EventCodingTests {
    private static let told =
        #""reason":"new phone","ticket":"T-8","at":"2026-11-20T19:21:00.000Z""#
    private static let alone = #""reason":"r","at":"2026-11-20T19:21:00.000Z""#
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"

    private static let names =
        #""grants":["g_1"],"orders":["o-1"],"tokens":["\#(token)"],"balances":{"coins":-30}"#

    private static let opened =
        #"{"order":"o-1","token":"\#(token)","product":"coins","#
        + #""opened_at":"2026-01-01T00:00:00.000Z","expires":"2026-01-08T00:00:00.000Z"}"#

    private static let given =
        #"{"grant":"g_1","entitlement":"pro","start":"2026-01-01T00:00:00.000Z","end":null,"#
        + #""reason":"r","ticket":null}"#

    /// A customer's data that a merge moves. Each kind occurs once on its own and once with all of
    /// its optional parts.
    private static let belongings =
        #""grants":[{"given":\#(given)},{"given":\#(given),"#
        + #""changed":{"grant":"g_1","entitlement":"pro","end":null,"reason":"r","ticket":null},"#
        + #""revoked":{"grant":"g_1","entitlement":"pro","at":"2026-01-05T00:00:00.000Z","#
        + #""reason":"r","ticket":null},"given_at":"2026-01-01T00:00:00.000Z","#
        + #""given_by":"key:k_1","revoked_by":"cli:ann"}],"#
        + #""orders":[{"opened":\#(opened)},{"opened":\#(opened),"#
        + #""closed":{"order":"o-1","cause":{"kind":"stale"},"at":"2026-01-08T00:00:00.000Z"},"#
        + #""fulfilled":{"order":"o-1","purchase":"apple:1","transaction":"1"}}],"#
        + #""tokens":["\#(token)"],"balances":{"coins":70},"#
        + #""credits":[{"purchase":"apple:1","transaction":"1","currency":"coins","#
        + #""per_piece":100,"net":100}],"#
        + #""earned":[{"currency":"coins","day":20777,"amount":20}]"#

    private static let installed =
        #""apps":[{"store":"apple","environment":"production","app":"com.example.game","#
        + #""original_version":"1.2","app_transaction":"704","#
        + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"client_transaction"}],"#
        + #""accounts":["704"],\#(consents)"#

    private static let consents =
        #""consents":[{"id":"n3","store":"apple","environment":"sandbox","#
        + #""app":"com.example.game","app_transaction":"704","#
        + #""signed_at":"2026-01-06T00:00:00.000Z","rank":"notification"}]"#

    /// Payloads about merged customers that every release must be able to read.
    static let mergePayloads: [(type: String, format: Int16, payload: String)] = [
        (
            "project.changed", 1,
            #"{"transfer":"keep","cool_down":"P1D","order_lifetime":"P7D","merge":"backend"}"#
        ),
        ("customer.merged", 1, #"{"into":"u1",\#(told),\#(names)}"#),
        ("customer.merged", 1, #"{"into":"u1","through":"u2",\#(alone)}"#),
        (
            "customer.joined", 1,
            #"{"from":"u2","others":["u3"],\#(told),\#(belongings),\#(installed)}"#
        ),
        ("customer.joined", 1, #"{"from":"u2",\#(alone)}"#),
        ("customer.parted", 1, #"{"to":"u2",\#(told),\#(names)}"#),
        ("customer.parted", 1, #"{"to":"u2",\#(alone)}"#),
        ("customer.parted", 1, #"{"to":"u2",\#(alone),"following":2,"consents":["n3"]}"#),
        ("customer.unmerged", 1, #"{"from":"u1",\#(told),\#(belongings)}"#),
        ("customer.unmerged", 1, #"{"from":"u1",\#(alone)}"#),
        ("customer.unmerged", 1, #"{"from":"u1",\#(alone),"following":1,\#(consents)}"#),
        ("customer.merged", 1, #"{"into":"u1",\#(told),"following":3,\#(names)}"#),
        ("customer.joined", 1, #"{"from":"u2",\#(alone),"following":4}"#),
        (
            "purchase.attached", 1,
            #"{"purchase":"apple:1","from":"u2","cause":{"kind":"merged"},"#
                + #""at":"2026-11-20T19:21:00.000Z","transactions":[],"renewals":[],"#
                + #""arrived":{"from":"u3","cause":{"kind":"admin","reason":"r"},"#
                + #""at":"2026-01-06T00:00:00.000Z"}}"#
        ),
        (
            "purchase.detached", 1,
            #"{"purchase":"apple:1","to":"u2","cause":{"kind":"unmerged"},"#
                + #""at":"2026-11-21T08:00:00.000Z"}"#
        ),
    ]
}
