import Core
import JSON
import Service
import TestSupport
import Testing

/// If a request's digest left out a member, a different request would count as a repetition: it
/// would get the earlier answer and change nothing.
@Suite("Changes that differ in one member, under one idempotency key")
struct KeyedChangeTests {
    /// A member of a change with values that make different requests. Without the member, the
    /// request is different again.
    private struct Row {
        let label: String
        let name: String
        let values: [String]

        init(_ label: String, _ name: String? = nil, _ values: String...) {
            self.label = label
            self.name = name ?? label
            self.values = values
        }

        var bodies: [[String]] { [[]] + values.map { [#""\#(name)":\#($0)"#] } }
    }

    private static let ofSettings = [
        Row("transfer", nil, #""keep""#, #""transfer""#),
        Row("restore", nil, "null", #""keep""#, #""transfer""#),
        Row("coolDown", "cool_down", #""P1D""#, #""P2D""#),
        Row("orderLifetime", "order_lifetime", #""P1D""#, #""P2D""#),
        Row(
            "creditLimits", "credit_limits", #"{"gems":null}"#, #"{"coins":null}"#,
            #"{"gems":{"per_call":1,"per_day":2}}"#, #"{"gems":{"per_call":2,"per_day":2}}"#,
            #"{"gems":{"per_call":1,"per_day":3}}"#),
        Row(
            "refundReporting", "refund_reports", "null", #"{"customers_consented":true}"#,
            #"{"customers_consented":true,"preference":"decline"}"#,
            #"{"customers_consented":true,"sample_provided":true}"#),
        Row("customersPerAccount", "customers_per_account", "null", "5", "6"),
        Row(
            "supportLimits", "support_limits", #"{"pro":null}"#, #"{"gold":null}"#,
            #"{"pro":"P1D"}"#, #"{"pro":"P2D"}"#),
        Row("merge", nil, #""staff""#, #""backend""#),
    ]

    private static let ofWebhooks = [
        Row("url", nil, #""https://example.com/a""#, #""https://example.com/b""#),
        Row("types", nil, #"["grant.given"]"#, #"["entitlement.*"]"#),
        Row("format", nil, #""deed""#, #""cloudevents""#),
        Row("concurrency", nil, "1", "2"),
        Row("rate", nil, "null", "5", "6"),
        Row("description", nil, "null", #""none""#, #""shop""#, "\"\""),
        Row("headers", nil, "{}", #"{"X-Shop":"a"}"#, #"{"X-Shop":"b"}"#),
    ]

    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func call(
        _ method: String, _ path: String, _ members: [String], key: String
    ) -> Reply {
        service.send(
            method, path, key: admin, headers: [("Idempotency-Key", key)],
            body: "{\(members.joined(separator: ","))}")
    }

    /// Sends each request of the row under a new key, and then the row's other requests under the
    /// same key. `rest` gives the members that all requests under a key have.
    private func tryAll(
        _ row: Row, _ method: String, _ path: String, rest: (_ number: Int) -> [String]
    ) throws {
        for (number, first) in row.bodies.enumerated() {
            let (key, shared) = ("\(method)-\(row.name)-\(number)", rest(number))
            let answer = call(method, path, shared + first, key: key)
            #expect(answer.status < 300, "\(first): \(answer.text)")
            let events = try service.eventCount()
            for other in row.bodies where other != first {
                let reply = call(method, path, shared + other, key: key)
                #expect(
                    reply.status == 422 && reply.code == "idempotency_mismatch",
                    "\(first), then \(other): \(reply.text)")
            }
            #expect(call(method, path, shared + first, key: key).status == answer.status)
            #expect(try service.eventCount() == events)
        }
    }

    private func labels<Change>(of change: Change) -> [String] {
        Mirror(reflecting: change).children.compactMap { $0.label }.sorted()
    }

    @Test("Each member of a project's settings makes another request")
    func settings() throws {
        let rows = Self.ofSettings
        #expect(rows.map(\.label).sorted() == labels(of: SettingsChange()))
        for (place, row) in rows.enumerated() {
            // Something must change with each key, because a call that changes nothing is not
            // remembered.
            let other = row.name == "cool_down" ? "order_lifetime" : "cool_down"
            try tryAll(row, "PATCH", "/v1/settings") { number in
                [#""\#(other)":"PT\#(10 * place + number + 1)H""#, #""allow_unknown":true"#]
            }
        }
    }

    @Test("Each member of a webhook makes another request, and null differs from a text")
    func webhooks() throws {
        let rows = Self.ofWebhooks
        #expect(rows.map(\.label).sorted() == labels(of: WebhookChange()))
        let url = #""url":"https://example.com/deed""#
        let made = call("POST", "/v1/webhooks", [url], key: "first")
        let id = try #require(try made.json["id"]?.string)
        for row in rows {
            try tryAll(row, "PATCH", "/v1/webhooks/\(id)") { _ in [] }
        }
        let description = try #require(rows.first { $0.label == "description" })
        try tryAll(description, "POST", "/v1/webhooks") { _ in [url] }
    }
}
