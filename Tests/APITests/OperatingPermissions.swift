import Core

extension Stage {
    /// The calls of operators.
    static let operating = [
        Row(call: "GET /v1/status", role: .admin), Row(call: "GET /healthz", role: nil),
        Row(call: "GET /readyz", role: nil), Row(call: "GET /metrics", role: nil),
        Row(call: "GET /openapi.json", role: nil),
    ]
}
