import Core

extension Stage {
    /// Calls that export or erase a customer. Without an intent, an erasure does nothing.
    static let erasing = [
        Row(
            call: "GET /v1/customers/{customer}/export", role: .admin, arguments: ["u1"]),
        Row(
            call: "POST /v1/customers/{customer}/erase", role: .admin, arguments: ["u1"],
            body: #"{"purchases":"free","reason":"r"}"#),
    ]
}
