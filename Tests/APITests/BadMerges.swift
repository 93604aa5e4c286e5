import Core

extension BadInputTests {
    private static let customer = "/v1/customers/u1"
    private static let long = String(repeating: "x", count: 257)

    static let merges: [BadCall] = roles + bodies + versions

    private static let roles: [BadCall] = [
        BadCall(
            label: "reader merges", target: "\(customer)/merge", access: .role(.reader),
            body: #"{"into":"u2","reason":"r"}"#, status: 403, code: "role_insufficient"),
        BadCall(
            label: "backend undoes a merge", target: "\(customer)/merge/undo",
            access: .role(.backend), body: #"{"reason":"r"}"#, status: 403,
            code: "role_insufficient"),
        BadCall(
            label: "support merges without a ticket", target: "\(customer)/merge",
            access: .role(.support), body: #"{"into":"u2","reason":"r"}"#, code: "ticket_missing",
            member: "ticket"),
        BadCall(
            label: "support undoes a merge without a ticket", target: "\(customer)/merge/undo",
            access: .role(.support), body: #"{"reason":"r"}"#, code: "ticket_missing",
            member: "ticket"),
    ]

    private static let bodies: [BadCall] = [
        ("merge", #"{"reason":"r"}"#, "missing_member", "into"),
        ("merge", #"{"into":7,"reason":"r"}"#, "invalid_member", "into"),
        ("merge", #"{"into":"","reason":"r"}"#, "invalid_member", "into"),
        ("merge", #"{"into":"\#(long)","reason":"r"}"#, "invalid_member", "into"),
        ("merge", #"{"into":"$unclaimed/apple:1","reason":"r"}"#, "invalid_member", "into"),
        ("merge", #"{"into":"$project/","reason":"r"}"#, "invalid_member", "into"),
        ("merge", #"{"into":"u1","reason":"r"}"#, "merge_into_itself", "into"),
        ("merge", #"{"into":"u2"}"#, "missing_member", "reason"),
        ("merge", #"{"into":"u2","reason":"r","ticket":""}"#, "invalid_member", "ticket"),
        (
            "merge", #"{"into":"u2","reason":"r","environment":"sandbox"}"#, "unknown_member",
            "environment"
        ),
        ("merge/undo", "{}", "missing_member", "reason"),
        ("merge/undo", #"{"into":"u2","reason":"r"}"#, "unknown_member", "into"),
        ("merge/undo", "", "invalid_json", "body"),
    ].map { action, body, code, member in
        BadCall(
            label: "\(action) \(body.prefix(40))", target: "\(customer)/\(action)", body: body,
            code: code, member: member)
    }

    private static let versions: [BadCall] = [
        BadCall(
            label: "one version for two", target: "\(customer)/merge?if_version=3",
            body: #"{"into":"u2","reason":"r"}"#, code: "invalid_member", member: "if_version"),
        BadCall(
            label: "a reserved customer", target: "/v1/customers/$unclaimed%2Fapple:1/merge",
            body: #"{"into":"u2","reason":"r"}"#, code: "invalid_member", member: "customer"),
        BadCall(
            label: "a customer of whom nothing is known", target: "\(customer)/merge",
            body: #"{"into":"u2","reason":"r"}"#, status: 404, code: "customer_unknown"),
        BadCall(
            label: "the merge of such a customer", target: "\(customer)/merge/undo",
            body: #"{"reason":"r"}"#, status: 404, code: "customer_unknown"),
    ]
}
