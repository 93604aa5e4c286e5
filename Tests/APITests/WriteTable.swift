import Core
import Testing

extension Stage {
    /// A call of a route, said once for all tests that try every route or every write.
    struct Row {
        /// What the body says about the purpose of the call.
        enum Why { case nothing, ticket, reasonAndTicket }

        let call: String
        /// The weakest of reader, backend and admin that may make the call; `nil` if the call needs no key.
        let role: Role?
        /// Whether support staff may also make the call, although a reader may not.
        var isForSupport = false
        /// The values of the pattern's arguments that are not the usual ones.
        var values: [String: String] = [:]
        /// Another customer for whom keys try the call, if it would make later calls fail.
        var triedFor: String?
        /// The body without the reason and the ticket.
        var body = ""
        var why = Why.nothing
        /// The status for a key of another project.
        var elsewhere = 200
        /// The status for the other environment; `nil` if the call concerns no environment.
        var apart: Int?
        /// Whether the limits on grants by support staff apply.
        var isLimited = false
        /// The customers that a dry run shows, in order; `nil` if the call has no such dry run.
        var rehearsed: [String]?
        /// The types of the events that the trail lists for the call's ticket.
        var trail: Set<String> = []
        /// The customers to whom this ticket leads after all writes of the table.
        var found: [String] = []

        var method: String { String(call.prefix { $0 != " " }) }

        func path(_ names: [String: String]) -> String {
            String(call.drop { $0 != "/" }).replacing(/\{([a-z_]+)\}/) { argument -> String in
                let name = String(argument.1)
                if let value = values[name] ?? names[name] { return value }
                Issue.record("\(call): no value is known for {\(name)}")
                return name
            }
        }

        func wholeBody(reason: String = "r", ticket: String? = "t") -> String {
            if why == .nothing { return body }
            var members = [String(body.dropFirst().dropLast())].filter { !$0.isEmpty }
            if why == .reasonAndTicket { members.append(#""reason":"\#(reason)""#) }
            if let ticket { members.append(#""ticket":"\#(ticket)""#) }
            return "{\(members.joined(separator: ","))}"
        }
    }

    /// The calls that write, except those about webhooks.
    static let writes = submissions + acts + changes

    private static let customer = "/v1/customers/{customer}"
    private static let purchase = "\(customer)/purchases/{purchase}"

    private static let submissions: [Row] = [
        Row(call: "POST \(customer)/receipts", role: .backend, apart: 200),
        Row(call: "POST \(customer)/restore", role: .backend, apart: 200),
        Row(
            call: "POST \(customer)/orders", role: .backend, body: "{}", elsewhere: 201, apart: 201),
        Row(
            call: "PUT \(customer)/account_token", role: .backend,
            body: #"{"token":"0b7fcd3b-2d7a-4c59-9d0e-0c2a7e1f5a01"}"#, apart: 200),
        Row(
            call: "POST \(customer)/balances/{currency}/spend", role: .backend,
            body: #"{"amount":5,"allow_unknown":true}"#, elsewhere: 409, apart: 409,
            rehearsed: ["u1"]),
    ]

    /// Calls that say why, in an order in which each succeeds after the previous ones.
    private static let acts: [Row] = [
        act(
            "POST \(customer)/grants",
            #"{"entitlement":"season","for":"P1D","allow_unknown":true}"#, elsewhere: 201,
            apart: 201, isLimited: true, rehearsed: ["u1"], trail: ["grant.given"]),
        act(
            "PATCH \(customer)/grants/{grant}", #"{"for":"P6D"}"#, isLimited: true,
            rehearsed: ["u1"], trail: ["grant.changed"]),
        act(
            "POST \(customer)/notes", #"{"text":"n"}"#, why: .ticket, elsewhere: 201, apart: 201,
            rehearsed: nil, trail: ["note.added"]),
        act("DELETE \(customer)/notes/{note}", rehearsed: nil, trail: ["note.removed"]),
        act(
            "POST \(purchase)/block", isForSupport: false, rehearsed: ["u1"],
            // The block comes along with the merge.
            trail: ["purchase.blocked"], found: ["u1", "u2"]),
        act(
            "POST \(purchase)/unblock", isForSupport: false, rehearsed: ["u1"],
            trail: ["purchase.unblocked"]),
        act(
            "POST \(customer)/balances/{currency}/adjust", #"{"amount":1,"allow_unknown":true}"#,
            by: .backend, isForSupport: false, values: ["currency": "gems"], elsewhere: 200,
            apart: 200, rehearsed: ["u1"], trail: ["balance.adjusted"]),
        act(
            "POST \(purchase)/transfer", #"{"to":"u2"}"#, rehearsed: ["u1", "u2"],
            trail: ["purchase.detached", "purchase.attached"], found: ["u1", "u2"]),
        act(
            "POST \(purchase)/undo_transfer", values: ["customer": "u2"], rehearsed: ["u2", "u1"],
            trail: ["purchase.detached", "purchase.attached"], found: ["u1", "u2"]),
        act(
            "POST /v1/unclaimed/{purchase}/attach", #"{"customer":"u3"}"#,
            values: ["purchase": "apple:9"], rehearsed: ["u3"],
            trail: ["purchase.detached", "purchase.attached"], found: ["u3"]),
        act(
            "POST \(customer)/orders/{order}/close", #"{"because":"cancelled"}"#, rehearsed: nil,
            trail: ["order.closed"]),
        act(
            "POST \(customer)/merge", #"{"into":"u2"}"#, by: .backend, triedFor: "who-is-this",
            apart: nil, rehearsed: ["u1", "u2"], trail: ["customer.merged", "customer.joined"],
            found: ["u1", "u2"]),
        act(
            "POST \(customer)/merge/undo", triedFor: "who-is-this", apart: nil,
            rehearsed: ["u1", "u2"], trail: ["customer.parted", "customer.unmerged"],
            found: ["u1", "u2"]),
        act(
            "DELETE \(customer)/grants/{grant}", isLimited: true, rehearsed: ["u1"],
            trail: ["grant.revoked"]),
        act(
            "POST /v1/intake/{id}/settle", isForSupport: false, apart: nil, rehearsed: nil,
            trail: []),
        act(
            "POST /v1/intake/{id}/drop", isForSupport: false, apart: nil, rehearsed: nil, trail: []),
        act(
            "POST /v1/intake/{id}/retry", isForSupport: false, apart: nil, rehearsed: nil, trail: []
        ),
        act(
            "POST \(customer)/erase", #"{"purchases":"free"}"#, isForSupport: false,
            elsewhere: 200, apart: nil, rehearsed: nil, trail: []),
    ]

    private static func act(
        _ call: String, _ body: String = "{}", by role: Role = .admin, isForSupport: Bool = true,
        values: [String: String] = [:], triedFor: String? = nil, why: Row.Why = .reasonAndTicket,
        elsewhere: Int = 404, apart: Int? = 404, isLimited: Bool = false, rehearsed: [String]?,
        trail: Set<String>, found: [String] = ["u1"]
    ) -> Row {
        Row(
            call: call, role: role, isForSupport: isForSupport, values: values, triedFor: triedFor,
            body: body, why: why, elsewhere: elsewhere, apart: apart, isLimited: isLimited,
            rehearsed: rehearsed, trail: trail, found: found)
    }

    /// Changes of the project, and what anyone may send.
    private static let changes: [Row] = [
        Row(call: "POST /v1/reconciliations", role: .admin, body: "{}", elsewhere: 202),
        Row(call: "PUT /v1/catalog", role: .admin, body: #"{"products":[],"entitlements":{}}"#),
        Row(call: "PATCH /v1/settings", role: .admin, body: #"{"transfer":"transfer"}"#),
        Row(call: "PUT /v1/apps/{bundle}", role: .admin, body: "{}", elsewhere: 409),
        Row(call: "DELETE /v1/apps/{bundle}", role: .admin, elsewhere: 404),
        Row(
            call: "PUT /v1/test/clock", role: .admin, body: #"{"advance":"PT1S"}"#, elsewhere: 404),
        Row(call: "POST /v1/stores/apple/notifications", role: nil, body: "{}"),
    ]
}
