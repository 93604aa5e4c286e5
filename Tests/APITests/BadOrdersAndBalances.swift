import Core

extension BadInputTests {
    private static let orders = "/v1/customers/u1/orders"
    private static let coins = "/v1/customers/u1/balances/coins"
    private static let long = String(repeating: "x", count: 257)

    static let ordersAndBalances: [BadCall] =
        orderRoles + orderMembers + tokenMembers + balanceRoles + balanceMembers + queries

    private static let orderRoles: [BadCall] =
        [
            ("POST", orders), ("GET", orders), ("GET", "/v1/orders/o1"),
            ("PUT", "/v1/customers/u1/account_token"),
        ].map { method, target in
            BadCall(
                label: "reader sends \(method) \(target)", method: method, target: target,
                access: .role(.reader), body: "{}", status: 403, code: "role_insufficient")
        } + [
            BadCall(
                label: "backend closes an order", target: "\(orders)/o1/close",
                access: .role(.backend), body: #"{"because":"cancelled","reason":"r"}"#,
                status: 403,
                code: "role_insufficient"),
            BadCall(
                label: "unknown order", method: "GET", target: "/v1/orders/none", body: "",
                status: 404, code: "order_unknown"),
            BadCall(
                label: "order of a control character", method: "GET", target: "/v1/orders/%01",
                body: "", member: "order"),
            BadCall(
                label: "closing an unknown order", target: "\(orders)/none/close",
                body: #"{"because":"cancelled","reason":"r"}"#, status: 404, code: "order_unknown"),
            BadCall(
                label: "a lifetime of years", target: orders, body: #"{"lifetime":"P2Y"}"#,
                code: "wait_too_long"),
            BadCall(
                label: "an order for a reserved name",
                target: "/v1/customers/$unclaimed%2Fx/orders",
                body: "{}", member: "customer"),
        ]

    private static let orderMembers: [BadCall] =
        [
            (#"{"order":7}"#, "order"), (#"{"order":""}"#, "order"),
            (#"{"order":"\#(long)"}"#, "order"), (#"{"product":[]}"#, "product"),
            (#"{"lifetime":"1h"}"#, "lifetime"), (#"{"lifetime":3600}"#, "lifetime"),
            (#"{"lifetime":"P0D"}"#, "lifetime"), (#"{"environment":"xcode"}"#, "environment"),
        ].map { body, member in
            BadCall(label: "order \(body.prefix(40))", target: orders, body: body, member: member)
        }
        + [
            (#"{"because":"stale","reason":"r"}"#, "invalid_member", "because"),
            (#"{"because":1,"reason":"r"}"#, "invalid_member", "because"),
            (#"{"reason":"r"}"#, "missing_member", "because"),
            (#"{"because":"settled"}"#, "missing_member", "reason"),
            (#"{"because":"settled","reason":"r","ticket":7}"#, "invalid_member", "ticket"),
        ].map { body, code, member in
            BadCall(
                label: "close \(body)", target: "\(orders)/o1/close", body: body, code: code,
                member: member)
        }

    private static let tokenMembers: [BadCall] = [
        (#"{"token":"t"}"#, "invalid_member"), (#"{"token":7}"#, "invalid_member"),
        (#"{"token":"6f0a4f0e8a0e4b439f5d0d1b6c0f8a11"}"#, "invalid_member"),
        (#"{"token":null}"#, "missing_member"), ("{}", "missing_member"),
    ].map { body, code in
        BadCall(
            label: "token \(body)", method: "PUT", target: "/v1/customers/u1/account_token",
            body: body, code: code, member: "token")
    }

    private static let balanceRoles: [BadCall] =
        [
            ("spend", Role.reader), ("adjust", .reader), ("adjust", .backend),
        ].map { action, role in
            BadCall(
                label: "\(role) sends \(action)", target: "\(coins)/\(action)", access: .role(role),
                body: #"{"amount":-1,"reason":"r"}"#, status: 403, code: "role_insufficient")
        }
        + [
            BadCall(
                label: "backend credits without a limit", target: "\(coins)/adjust",
                access: .role(.backend), body: #"{"amount":1,"reason":"r"}"#, status: 403,
                code: "credit_not_allowed")
        ]

    private static let balanceMembers: [BadCall] =
        [
            ("spend", #"{"amount":"1"}"#, "invalid_member", "amount"),
            ("spend", #"{"amount":1.5}"#, "invalid_member", "amount"),
            ("spend", #"{"amount":1e2}"#, "invalid_member", "amount"),
            ("spend", #"{"amount":9223372036854775808}"#, "invalid_member", "amount"),
            ("spend", #"{}"#, "missing_member", "amount"),
            ("spend", #"{"amount":1,"reason":""}"#, "invalid_member", "reason"),
            ("spend", #"{"amount":0}"#, "amount_out_of_range", nil),
            ("spend", #"{"amount":-1}"#, "amount_out_of_range", nil),
            ("spend", #"{"amount":9007199254740992}"#, "amount_out_of_range", nil),
            ("adjust", #"{"amount":5}"#, "missing_member", "reason"),
            ("adjust", #"{"reason":"r"}"#, "missing_member", "amount"),
            ("adjust", #"{"amount":0,"reason":"r"}"#, "amount_out_of_range", nil),
            (
                "adjust", #"{"amount":1,"reason":"r","environment":"test"}"#, "invalid_member",
                "environment"
            ),
        ].map { action, body, code, member in
            BadCall(
                label: "\(action) \(body)", target: "\(coins)/\(action)", body: body, code: code,
                member: member)
        } + [
            BadCall(
                label: "a currency of a control character",
                target: "/v1/customers/u1/balances/%01/spend", body: #"{"amount":1}"#,
                member: "currency"),
            BadCall(
                label: "spending what there is not", target: "\(coins)/spend",
                body: #"{"amount":1}"#,
                status: 409, code: "insufficient_balance"),
        ]

    private static let queries: [BadCall] = [
        ("\(orders)?limit=0", "limit"), ("\(orders)?limit=1001", "limit"),
        ("\(orders)?after=-1", "after"), ("/v1/orders/o1?environment=x", "environment"),
        ("\(coins)/history?limit=0", "limit"), ("\(coins)/history?after=x", "after"),
    ].map { target, member in
        BadCall(label: "GET \(target)", method: "GET", target: target, body: "", member: member)
    }
}
