import Core

extension BadInputTests {
    private static let app = "/v1/apps/com.example.game"

    static let settings: [BadCall] =
        roles + settingMembers + appMembers + [
            BadCall(
                label: "bundle in the path", method: "PUT", target: "/v1/apps/a%0a", body: "{}",
                member: "bundle"),
            BadCall(
                label: "removing an unknown app", method: "DELETE", target: app, body: "",
                status: 404,
                code: "app_unknown"),
            BadCall(
                label: "settings that are no object", method: "PATCH", target: "/v1/settings",
                body: "[]", member: "body"),
            BadCall(
                label: "more listed customers than may be", method: "PUT", target: app,
                body: listing(App.listedCustomerLimit + 1), code: "too_many_listed"),
        ]

    private static func listing(_ count: Int) -> String {
        let names = (0..<count).map { #""u\#($0)""# }.joined(separator: ",")
        return #"{"sandbox_access":"listed","sandbox_customers":[\#(names)]}"#
    }

    private static let roles: [BadCall] = [Role.reader, .backend].flatMap { role in
        [("GET", "/v1/settings"), ("PATCH", "/v1/settings"), ("PUT", app), ("DELETE", app)].map {
            BadCall(
                label: "\(role) sends \($0) \($1)", method: $0, target: $1, access: .role(role),
                body: "{}", status: 403, code: "role_insufficient")
        }
    }

    private static let settingMembers: [BadCall] =
        [
            (#"{"transfer":"never"}"#, "transfer"), (#"{"transfer":1}"#, "transfer"),
            (#"{"restore":"as-transfer"}"#, "restore"), (#"{"restore":[]}"#, "restore"),
            (#"{"cool_down":"1 day"}"#, "cool_down"), (#"{"cool_down":"P0D"}"#, "cool_down"),
            (#"{"cool_down":86400}"#, "cool_down"),
            (#"{"order_lifetime":"-P1D"}"#, "order_lifetime"),
            (#"{"refund_reports":"decline"}"#, "refund_reports"),
            (#"{"customers_per_account":0}"#, "customers_per_account"),
            (#"{"customers_per_account":1001}"#, "customers_per_account"),
            (#"{"customers_per_account":"3"}"#, "customers_per_account"),
            (#"{"refund_reports":{}}"#, "customers_consented"),
            (#"{"refund_reports":{"customers_consented":false}}"#, "customers_consented"),
            (#"{"refund_reports":{"customers_consented":1}}"#, "customers_consented"),
            (
                #"{"refund_reports":{"customers_consented":true,"preference":"all"}}"#,
                "preference"
            ),
        ].map { body, member in
            BadCall(
                label: "settings \(body)", method: "PATCH", target: "/v1/settings", body: body,
                member: member)
        }
        + [#"{"cool_down":"P367D"}"#, #"{"order_lifetime":"P2Y"}"#].map { body in
            BadCall(
                label: "settings \(body)", method: "PATCH", target: "/v1/settings", body: body,
                code: "wait_too_long")
        }

    private static let appMembers: [BadCall] = [
        (#"{"apple_id":"1"}"#, "apple_id"), (#"{"apple_id":0}"#, "apple_id"),
        (#"{"apple_id":1.5}"#, "apple_id"), (#"{"apple_id":9007199254740992}"#, "apple_id"),
        (#"{"sandbox_access":"some"}"#, "sandbox_access"),
        (#"{"sandbox_access":true}"#, "sandbox_access"),
        (#"{"sandbox_access":"listed"}"#, "sandbox_customers"),
        (#"{"sandbox_access":"listed","sandbox_customers":[]}"#, "sandbox_customers"),
        (#"{"sandbox_access":"all","sandbox_customers":["u1"]}"#, "sandbox_customers"),
        (#"{"sandbox_customers":["u1"]}"#, "sandbox_customers"),
        (#"{"sandbox_access":"listed","sandbox_customers":"u1"}"#, "sandbox_customers"),
        (#"{"sandbox_access":"listed","sandbox_customers":[1]}"#, "sandbox_customers[0]"),
        (#"{"sandbox_access":"listed","sandbox_customers":["a",""]}"#, "sandbox_customers[1]"),
        (#"{"receipts":"apple"}"#, "receipts"),
    ].map { body, member in
        BadCall(label: "app \(body)", method: "PUT", target: app, body: body, member: member)
    }
}
