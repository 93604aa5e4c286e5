import JSON

/// A grant that was answered, and the cause that it is recorded under.
struct AnsweredGrant: Sendable {
    let cause: String
    let customer: String
    let grant: String
}

typealias GrantWriters = Writers<AnsweredGrant>

extension Writers<AnsweredGrant> {
    private static var customers: Int { 48 }

    /// Clients that give one grant after the other.
    convenience init(_ service: String, key: String) throws {
        try self.init(32, at: service, key: key) { writers, client, index, number in
            let idempotencyKey = "\(index)-\(number)"
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
