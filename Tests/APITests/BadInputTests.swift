import Core
import JSON
import Service
import TestSupport
import Testing

/// A call that must be refused.
struct BadCall: Sendable, CustomTestStringConvertible {
    enum Access: Sendable {
        case role(Role)
        case header(String?)
        case revoked
    }

    var label: String
    var method = "POST"
    var target = "/v1/customers/u1/grants"
    var access = Access.role(.admin)
    var headers: [(String, String)] = []
    var body = #"{"entitlement":"pro","reason":"r"}"#
    var status = 400
    var code = "invalid_member"
    var member: String?

    var testDescription: String { label }
}

@Suite("Bad input")
struct BadInputTests {
    private static let service: Result<TestService, any Error> = Result { try TestService() }

    @Test(
        "A bad call is refused by name, and nothing is written",
        arguments: routes + access + paths + queries + members + shapes + settings
            + ordersAndBalances + moves + merges + intake + misspelt + ids + feed + webhooks)
    func refused(_ call: BadCall) throws {
        let service = try Self.service.get()
        let keys = try Self.keys.get()
        var headers = call.headers
        var key: NewKey?
        switch call.access {
        case .role(let role): key = keys.ofRole[role]
        case .revoked: key = keys.revoked
        case .header(let header): headers += header.map { [("Authorization", $0)] } ?? []
        }
        let before = try service.eventCount()
        let reply = service.send(
            call.method, call.target, key: key, headers: headers, body: call.body)
        #expect(reply.status == call.status, "\(reply.text)")
        #expect(reply.header("Content-Type") == "application/problem+json")
        let problem = try reply.json
        #expect(problem["code"]?.string == call.code)
        #expect(try ErrorPage.ours.get().lists(call.code, with: call.status))
        #expect(problem["member"]?.string == call.member)
        #expect(problem["status"]?.integer == Int64(call.status))
        #expect(problem["detail"]?.string?.isEmpty == false)
        #expect(problem["retryable"]?.bool == false)
        #expect(try service.eventCount() == before)
    }

    @Test("Calls that write also accept the environment as a parameter")
    func environments() throws {
        let service = try Self.service.get()
        let admin = try Self.keys.get().ofRole[.admin]
        for row in Stage.writes where row.apart != nil {
            let target = row.path(Stage.usual) + "?environment=sandbox"
            let reply = service.send(row.method, target, key: admin, body: "[]")
            #expect(try reply.json["member"]?.string == "body", "\(row.call): \(reply.text)")
        }
    }

    @Test(
        "A wrong method is answered with the methods that the path accepts",
        arguments: [
            ("/v1/customers/u1/entitlements", "GET"), ("/v1/customers/u1/grants", "POST"),
            ("/v1/customers/u1/grants/g_1", "PATCH, DELETE"), ("/healthz", "GET"),
        ])
    func allow(_ path: String, _ methods: String) throws {
        for method in ["PATCH", "PUT", "OPTIONS"] where !methods.contains(method) {
            let reply = try Self.service.get().send(method, path)
            #expect(reply.status == 405)
            #expect(reply.header("Allow") == methods)
        }
    }

    @Test("A missing key is requested in the header that clients look at")
    func challenge() throws {
        let reply = try Self.service.get().send("GET", "/v1/customers/u1/entitlements")
        #expect(reply.header("WWW-Authenticate") == "Bearer")
    }

    private struct Keys {
        let ofRole: [Role: NewKey]
        let revoked: NewKey
    }

    private static let keys: Result<Keys, any Error> = Result {
        let service = try Self.service.get()
        let ofRole = try Role.allCases.map { ($0, try service.key($0)) }
        let revoked = try service.key(.admin)
        try service.revoke(revoked)
        return Keys(ofRole: Dictionary(uniqueKeysWithValues: ofRole), revoked: revoked)
    }
}

extension BadInputTests {
    private static let routes: [BadCall] =
        [
            "/", "", "/v1", "/v1/customers/u1/x",
            "/v1/customers/u1/entitlements/pro/more", "/v2/customers/u1/entitlements", "/Healthz",
            "/v1/customers/a/b/entitlements", "//v1/customers/u1/entitlements", "*",
        ].map { path in
            BadCall(
                label: "unknown route \"\(path)\"", method: "GET", target: path, status: 404,
                code: "route_unknown")
        } + [
            BadCall(
                label: "wrong method", method: "PUT", status: 405, code: "method_not_allowed"),
            BadCall(
                label: "lower-case method", method: "post", status: 405, code: "method_not_allowed"),
        ]

    private static let access: [BadCall] =
        [nil, "", "Bearer", "Bearer ", "Basic dTpw", "deed_admin_x", "Token deed_admin_x"].map {
            BadCall(
                label: "Authorization \($0 ?? "missing")", access: .header($0), status: 401,
                code: "key_missing")
        }
        + ["x", "deed_admin_", "deed_admin_0000000000000000000000000000000000000000", "ü"].map {
            BadCall(
                label: "unknown key \($0)", access: .header("Bearer \($0)"), status: 401,
                code: "key_unknown")
        }
        + [BadCall(label: "revoked key", access: .revoked, status: 401, code: "key_unknown")]
        + [Role.reader, .backend].flatMap { role in
            [
                BadCall(
                    label: "\(role) gives", access: .role(role), status: 403,
                    code: "role_insufficient"),
                BadCall(
                    label: "\(role) revokes", method: "DELETE",
                    target: "/v1/customers/u1/grants/g_1", access: .role(role), status: 403,
                    code: "role_insufficient"),
            ]
        }

    private static let paths: [BadCall] =
        [
            ("%", "path"), ("%4", "path"), ("%zz", "path"), ("a%ff", "path"), ("%c3%28", "path"),
            ("%ed%a0%80", "path"), ("%00", "customer"), ("a%0ab", "customer"), ("%7f", "customer"),
            ("%c2%85", "customer"), ("%e2%80%a8", "customer"), ("%ef%bf%bf", "customer"),
            ("", "customer"), (String(repeating: "a", count: 257), "customer"),
            (String(repeating: "%c3%bc", count: 129), "customer"), ("$project%2F", "customer"),
            ("%24project%2fx", "customer"), ("$unclaimed%2Fapple", "customer"),
        ].flatMap { customer, member in
            [
                BadCall(
                    label: "customer \(customer.prefix(20)) gives",
                    target: "/v1/customers/\(customer)/grants", member: member),
                BadCall(
                    label: "customer \(customer.prefix(20)) reads", method: "GET",
                    target: "/v1/customers/\(customer)/entitlements", access: .role(.reader),
                    body: "",
                    member: member),
            ]
        } + [
            BadCall(
                label: "entitlement in the path", method: "GET",
                target: "/v1/customers/u1/entitlements/a%0a", body: "", member: "entitlement"),
            BadCall(
                label: "grant in the path", method: "DELETE", target: "/v1/customers/u1/grants/%01",
                member: "grant"),
            BadCall(
                label: "unknown grant", method: "DELETE", target: "/v1/customers/u1/grants/g_none",
                body: #"{"reason":"r"}"#, status: 404, code: "grant_unknown"),
            BadCall(
                label: "revoking without a reason", method: "DELETE",
                target: "/v1/customers/u1/grants/g_1", body: "", code: "missing_member",
                member: "reason"),
        ]

    private static let queries: [BadCall] = [
        ("entitlements?at=now", "at"), ("entitlements?at=", "at"),
        ("entitlements?at=2026-02-30T00:00:00Z", "at"),
        ("entitlements?known=2026-11-20", "known"),
        ("entitlements?environment=xcode", "environment"),
        ("entitlements?consistency=weak", "consistency"),
        ("entitlements?at=%zz", "query"), ("entitlements?%ff=1", "query"),
        ("entitlements?at=%4", "query"), ("entitlements?at=%", "query"),
        ("entitlements?at=1&at=2", "at"),
        ("events?limit=0", "limit"), ("events?limit=1001", "limit"), ("events?limit=ten", "limit"),
        ("events?limit=", "limit"), ("events?after=-1", "after"),
        ("events?after=9223372036854775808", "after"), ("events?environment=", "environment"),
    ].map { target, member in
        BadCall(
            label: target, method: "GET", target: "/v1/customers/u1/\(target)",
            access: .role(.reader), body: "", member: member)
    }
}

extension BadInputTests {
    private static func grant(_ members: String) -> String {
        #"{"entitlement":"pro","reason":"r",\#(members)}"#
    }

    private static let long = String(repeating: "x", count: 257)

    private static let members: [BadCall] =
        [
            (#"{"entitlement":7,"reason":"r"}"#, "entitlement"),
            (#"{"entitlement":["pro"],"reason":"r"}"#, "entitlement"),
            (#"{"entitlement":"","reason":"r"}"#, "entitlement"),
            (#"{"entitlement":"\#(long)","reason":"r"}"#, "entitlement"),
            (#"{"entitlement":"a\u0000","reason":"r"}"#, "entitlement"),
            (#"{"entitlement":"pro","reason":true}"#, "reason"),
            (#"{"entitlement":"pro","reason":""}"#, "reason"),
            (#"{"entitlement":"pro","reason":"\#(long)"}"#, "reason"),
            (#"{"entitlement":"pro","reason":"two\nlines"}"#, "reason"),
            (grant(#""ticket":1"#), "ticket"), (grant(#""ticket":"""#), "ticket"),
            (grant(#""start":5"#), "start"), (grant(#""start":"tomorrow""#), "start"),
            (grant(#""start":"2026-11-20""#), "start"),
            (grant(#""end":"2026-13-01T00:00:00Z""#), "end"), (grant(#""end":{}"#), "end"),
            (grant(#""for":"30 days""#), "for"), (grant(#""for":"P0D""#), "for"),
            (grant(#""for":30"#), "for"), (grant(#""for":"P99999999999Y""#), "for"),
            (grant(#""end":"2027-01-01T00:00:00Z","for":"P1D""#), "for"),
            (grant(#""environment":"xcode""#), "environment"),
            (grant(#""environment":1"#), "environment"),
        ].map { body, member in
            BadCall(label: String(body.prefix(70)), body: body, member: member)
        }
        + [
            (#"{"entitlement":"pro"}"#, "reason"),
            (#"{"entitlement":"pro","reason":null}"#, "reason"),
            (#"{"reason":"r"}"#, "entitlement"), ("{}", "entitlement"),
        ].map { body, member in
            BadCall(label: body, body: body, code: "missing_member", member: member)
        } + [
            BadCall(
                label: "query and body name two environments",
                target: "/v1/customers/u1/grants?environment=production",
                body: grant(#""environment":"sandbox""#), member: "environment"),
            BadCall(
                label: "end before start",
                body: grant(#""start":"2027-01-01T00:00:00Z","end":"2026-01-01T00:00:00Z""#),
                code: "grant_ends_before_it_starts", member: "end"),
            BadCall(
                label: "end at start",
                body: grant(#""start":"2027-01-01T00:00:00Z","end":"2027-01-01T00:00:00Z""#),
                code: "grant_ends_before_it_starts", member: "end"),
        ]

    private static let shapes: [BadCall] =
        [
            "", " ", "grant", "{", #"{"entitlement":"pro","reason":"r"} x"#, "{'a':1}",
            #"{"reason":"r","entitlement":"pro","reason":"s"}"#, "{\"reason\":\"\u{1}\"}",
            String(repeating: "[", count: 1000), #"{"a":"\ud800"}"#,
        ].map { body in
            BadCall(
                label: "body \(body.prefix(30))", body: body, code: "invalid_json", member: "body")
        }
        + ["[]", "null", "7", #""text""#].map { body in
            BadCall(label: "body \(body)", body: body, member: "body")
        }
        + [
            ("", "empty"), (String(repeating: "k", count: 201), "too long"),
            ("a\tb", "unprintable"),
        ]
        .map { key, label in
            BadCall(
                label: "Idempotency-Key \(label)", headers: [("Idempotency-Key", key)],
                member: "Idempotency-Key")
        }
        + [
            BadCall(
                label: "two Idempotency-Keys",
                headers: [("Idempotency-Key", "a"), ("idempotency-key", "b")],
                member: "Idempotency-Key")
        ]
}
