import Core
import Service
import TestSupport
import Testing

extension Stage {
    /// Calls of operators.
    static let operating = [
        Row(call: "GET /v1/keys", role: .admin),
        Row(call: "GET /v1/trail", role: .admin, apart: 200),
        Row(call: "GET /v1/status", role: .admin),
        Row(call: "GET /healthz", role: nil),
        Row(call: "GET /readyz", role: nil), Row(call: "GET /metrics", role: nil),
        Row(call: "GET /openapi.json", role: nil),
    ]
}

extension Storefront {
    /// Lets back ends of the key's project credit gems, and its support staff make grants.
    func limit(by admin: NewKey?) {
        let limits =
            #"{"credit_limits":{"gems":{"per_call":9,"per_day":99}},"#
            + #""support_limits":{"*":"P99D"},"allow_unknown":true}"#
        #expect(send("PATCH", "/v1/settings", limits, key: admin).status == 200)
    }
}
