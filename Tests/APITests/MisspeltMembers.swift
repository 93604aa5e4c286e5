import Core

extension BadInputTests {
    /// One misspelt member for each call that takes a body, or parameters in its place.
    static let misspelt: [BadCall] = inBodies + inQueries

    private static let inBodies: [BadCall] =
        [
            (
                "POST", "customers/u1/grants", #"{"entitlement":"pro","reason":"r","form":"P1D"}"#,
                "form"
            ),
            (
                "POST", "customers/u1/grants", #"{"entitlement":"pro","reason":"r","End":null}"#,
                "End"
            ),
            (
                "DELETE", "customers/u1/grants/g_1", #"{"reason":"r","enviroment":"sandbox"}"#,
                "enviroment"
            ),
            (
                "POST", "customers/u1/receipts", #"{"receipt":"AAAA","signed_transaction":[]}"#,
                "signed_transaction"
            ),
            ("POST", "customers/u1/restore", #"{"receipts":["AAAA"]}"#, "receipts"),
            ("POST", "customers/u1/orders", #"{"product":"coins","life_time":"P1D"}"#, "life_time"),
            (
                "POST", "customers/u1/orders/o1/close", #"{"because":"canceled","reasons":"r"}"#,
                "reasons"
            ),
            ("PUT", "customers/u1/account_token", #"{"account_token":"x"}"#, "account_token"),
            ("POST", "customers/u1/balances/coins/spend", #"{"amount":1,"ammount":2}"#, "ammount"),
            (
                "POST", "customers/u1/balances/coins/adjust",
                #"{"amount":1,"reason":"r","tickets":"t"}"#, "tickets"
            ),
            (
                "POST", "customers/u1/purchases/apple:1/transfer",
                #"{"to":"u2","reason":"r","from":"u1"}"#, "from"
            ),
            (
                "POST", "customers/u1/purchases/apple:1/undo_transfer",
                #"{"reason":"r","to":"u2"}"#, "to"
            ),
            (
                "POST", "entitlements/query", #"{"customers":["u1"],"at":"2026-01-01T00:00:00Z"}"#,
                "at"
            ),
            ("POST", "intake/i_1/drop", #"{"reason":"r","force":true}"#, "force"),
            ("PATCH", "settings", #"{"transfers":"never"}"#, "transfers"),
            ("PUT", "apps/com.example.app", #"{"sandbox":"all"}"#, "sandbox"),
        ].map { (method: String, path: String, body: String, member: String) in
            BadCall(
                label: "\(path) with \(member)", method: method, target: "/v1/\(path)", body: body,
                code: "unknown_member", member: member)
        }

    private static let inQueries: [BadCall] = [
        BadCall(
            label: "an order with produkt", target: "/v1/customers/u1/orders?produkt=coins",
            body: "", code: "unknown_member", member: "produkt"),
        BadCall(
            label: "a revocation with envirnoment", method: "DELETE",
            target: "/v1/customers/u1/grants/g_1?reason=r&envirnoment=sandbox", body: "",
            code: "unknown_member", member: "envirnoment"),
    ]
}
