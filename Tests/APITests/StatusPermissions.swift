import Core

extension Stage {
    static let status = Row(call: "GET /v1/status", role: .admin)
}
