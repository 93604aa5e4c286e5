import Core

extension BadInputTests {
    private static let purchase = "/v1/customers/u1/purchases/apple:1"
    private static let long = String(repeating: "x", count: 257)

    static let moves: [BadCall] = roles + members + paths

    private static let roles: [BadCall] = [Role.reader, .backend].flatMap { role in
        ["transfer", "undo_transfer"].map { action in
            BadCall(
                label: "\(role) sends \(action)", target: "\(purchase)/\(action)",
                access: .role(role), body: #"{"to":"u2","reason":"r"}"#, status: 403,
                code: "role_insufficient")
        }
    }

    private static let members: [BadCall] = [
        ("transfer", #"{"reason":"r"}"#, "missing_member", "to"),
        ("transfer", #"{"to":7,"reason":"r"}"#, "invalid_member", "to"),
        ("transfer", #"{"to":"","reason":"r"}"#, "invalid_member", "to"),
        ("transfer", #"{"to":"\#(long)","reason":"r"}"#, "invalid_member", "to"),
        ("transfer", #"{"to":"$unclaimed/apple:1","reason":"r"}"#, "invalid_member", "to"),
        ("transfer", #"{"to":"u2"}"#, "missing_member", "reason"),
        ("transfer", #"{"to":"u2","reason":"r","ticket":""}"#, "invalid_member", "ticket"),
        ("transfer", #"{"to":"u2","reason":"r","environment":1}"#, "invalid_member", "environment"),
        ("undo_transfer", "{}", "missing_member", "reason"),
        ("undo_transfer", "", "invalid_json", "body"),
    ].map { action, body, code, member in
        BadCall(
            label: "\(action) \(body.prefix(40))", target: "\(purchase)/\(action)", body: body,
            code: code, member: member)
    }

    private static let paths: [BadCall] =
        ["1", "mars:1", "apple:", "apple", ":1", "apple:%01"].map {
            BadCall(
                label: "purchase \($0)", target: "/v1/customers/u1/purchases/\($0)/transfer",
                body: #"{"to":"u2","reason":"r"}"#, member: "purchase")
        } + [
            BadCall(
                label: "a purchase without a holder", target: "\(purchase)/transfer",
                body: #"{"to":"u2","reason":"r"}"#, status: 404, code: "purchase_unknown")
        ]
}
