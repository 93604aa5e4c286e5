import JSON
import TestSupport
import Testing
import Threading

/// A service that may send to this machine, and calls of its API.
struct WebhookGround {
    let installation: Installation
    let service: RunningService
    let key: String

    init(_ options: String...) throws {
        installation = try Installation()
        key = try installation.makeKey()
        service = try installation.serve(["--webhook-allow", "127.0.0.1,::1"] + options)
    }

    init(_ installation: Installation, _ service: RunningService, _ key: String) {
        (self.installation, self.service, self.key) = (installation, service, key)
    }

    /// Makes one grant for each customer, in this order.
    func give(_ customers: [String]) throws {
        var client = try APIClient(key: key)
        for customer in customers {
            let answer = try client.send(
                "POST", "\(service.url)/v1/customers/\(customer)/grants",
                body: #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#)
            #expect(answer.status == 201, "\(answer.text)")
        }
    }

    func call(
        _ method: String, _ path: String, _ body: String = ""
    ) throws -> (status: Int, json: JSON) {
        var client = try APIClient(key: key)
        let answer = try client.send(method, "\(service.url)/v1/webhooks\(path)", body: body)
        return (answer.status, (try? JSON.read(answer.text)) ?? .null)
    }

    /// Creates a webhook about grants for a receiver. Returns its id.
    func make(
        _ receivers: WebhookReceivers, _ name: String, _ members: String = ""
    ) throws -> String {
        let made = try call(
            "POST", "",
            #"{"url":"\#(receivers.url(name))","types":["grant.given"]\#(members)}"#)
        #expect(made.status == 201, "\(made.json.text)")
        try receivers.setKeys(
            name, made.json["secret"]?.string ?? "", made.json["public_key"]?.string ?? "")
        return try #require(made.json["id"]?.string)
    }

    func shown(_ id: String) -> JSON { (try? call("GET", "/\(id)").json) ?? .null }

    func deliveries(_ id: String) throws -> [JSON] {
        try #require(try call("GET", "/\(id)/deliveries").json["deliveries"]?.array)
    }

    /// Expects the receiver to answer this many calls with 2xx soon.
    func expect(_ count: Int, at name: String, _ receivers: WebhookReceivers) {
        let isThere = eventually(within: 60_000) {
            pause(milliseconds: 20)
            return (try? receivers.calls(name).count) == count
        }
        let found = (try? receivers.calls(name).count) ?? 0
        #expect(isThere, "\(found) calls at \(name) instead of \(count)")
    }
}
