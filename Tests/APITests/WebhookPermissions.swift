import Core

extension Stage {
    /// Calls about a webhook that does not exist.
    static let webhooks: [Row] = {
        let one = "/v1/webhooks/{webhook}"
        func row(_ call: String, _ body: String = "") -> Row {
            Row(call: call, role: .admin, body: body, elsewhere: 404)
        }
        let range = #"{"since":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z"}"#
        return [
            Row(
                call: "POST /v1/webhooks", role: .admin, body: #"{"url":"https://example.com/"}"#,
                elsewhere: 201),
            Row(call: "GET /v1/webhooks", role: .admin),
            row("GET \(one)"), row("PATCH \(one)", #"{"concurrency":8}"#), row("DELETE \(one)"),
            row("POST \(one)/pause"), row("POST \(one)/resume"), row("POST \(one)/rotate"),
            row("POST \(one)/test"), row("POST \(one)/replay", range),
            row("GET \(one)/deliveries"),
        ]
    }()
}
