import Core

extension BadInputTests {
    /// One misspelt member for each call with a body, and one parameter for every call.
    static let misspelt: [BadCall] = inBodies + inPlaceOfBodies + inQueries

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
            (
                "POST", "unclaimed/apple:1/attach", #"{"customer":"u1","reason":"r","to":"u1"}"#,
                "to"
            ),
            ("PATCH", "settings", #"{"transfers":"never"}"#, "transfers"),
            ("PUT", "apps/com.example.app", #"{"sandbox":"all"}"#, "sandbox"),
        ].map { (method: String, path: String, body: String, member: String) in
            BadCall(
                label: "\(path) with \(member)", method: method, target: "/v1/\(path)", body: body,
                code: "unknown_member", member: member)
        }

    private static let inPlaceOfBodies: [BadCall] = [
        BadCall(
            label: "an order with produkt", target: "/v1/customers/u1/orders?produkt=coins",
            body: "", code: "unknown_member", member: "produkt"),
        BadCall(
            label: "a revocation with envirnoment", method: "DELETE",
            target: "/v1/customers/u1/grants/g_1?reason=r&envirnoment=sandbox", body: "",
            code: "unknown_member", member: "envirnoment"),
        BadCall(
            label: "an order, half of it in the query",
            target: "/v1/customers/u1/orders?product=coins", body: #"{"order":"o1"}"#,
            member: "query"),
    ]

    private static let inQueries: [BadCall] =
        [
            ("GET", "customers/u1"), ("GET", "customers/u1/entitlements"),
            ("GET", "customers/u1/entitlements/pro"), ("GET", "customers/u1/explain"),
            ("GET", "customers/u1/balances"), ("GET", "customers/u1/balances/coins/history"),
            ("GET", "customers/u1/events"), ("GET", "customers/u1/orders"), ("GET", "orders/o1"),
            ("GET", "intake/i_1"), ("GET", "products"), ("GET", "catalog"), ("GET", "settings"),
            ("PUT", "catalog"), ("PATCH", "settings"), ("PUT", "apps/com.example.app"),
            ("DELETE", "apps/com.example.app"), ("POST", "entitlements/query"),
            ("POST", "customers/u1/grants"), ("POST", "customers/u1/receipts"),
            ("POST", "customers/u1/restore"), ("POST", "customers/u1/orders/o1/close"),
            ("PUT", "customers/u1/account_token"),
            ("POST", "customers/u1/balances/coins/spend"),
            ("POST", "customers/u1/balances/coins/adjust"),
            ("POST", "customers/u1/purchases/apple:1/transfer"),
            ("POST", "customers/u1/purchases/apple:1/undo_transfer"),
            ("POST", "intake/i_1/settle"), ("POST", "intake/i_1/drop"),
            ("GET", "unclaimed"), ("GET", "unclaimed/apple:1"),
            ("POST", "unclaimed/apple:1/attach"),
            ("POST", "intake/i_1/retry"),
        ].map { method, path in
            BadCall(
                label: "\(method) \(path) with enviroment", method: method,
                target: "/v1/\(path)?enviroment=sandbox", body: method == "GET" ? "" : "{}",
                code: "unknown_member", member: "enviroment")
        } + [
            BadCall(
                label: "a parameter longer than an answer should be", method: "GET",
                target: "/v1/products?" + String(repeating: "e%CC%81", count: 500), body: "",
                code: "unknown_member",
                member: String(repeating: "e\u{301}", count: 50))
        ]
}
