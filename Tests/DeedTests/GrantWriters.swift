import JSON

/// A grant that the service has acknowledged, and its recorded cause.
struct AnsweredGrant: Sendable {
    let cause: String
    let customer: String
    let grant: String
}

typealias GrantWriters = Writers<AnsweredGrant>

extension Writers<AnsweredGrant> {
    private static var customers: Int { 48 }

    /// Clients that make one grant after another. Their causes begin with `name`.
    convenience init(_ service: String, key: String, clients: Int = 32, name: String = "") throws {
        try self.init(clients, at: service, key: key) { writers, client, index, number in
            let idempotencyKey = "\(name)\(index)-\(number)"
            let customer = "c\((index + number) % Self.customers)"
            let text = writers.send(
                &client, "/v1/customers/\(customer)/grants",
                #"{"entitlement":"pro","reason":"r"}"#, idempotencyKey, expecting: 201)
            guard let text else { return nil }
            return AnsweredGrant(
                cause: "key:\(idempotencyKey)", customer: customer,
                grant: try JSON.read(text)["grant"]?["id"]?.string ?? "")
        }
    }
}
