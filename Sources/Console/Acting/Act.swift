import API
import JSON

/// A person's action on a customer: a form, and the call that the form makes.
struct Act: Sendable {
    struct Field: Sendable {
        enum Kind: Sendable {
            case text
            case whole
            case choice([(value: String, label: String)])
        }
        let name: String
        let label: String
        var hint = ""
        var kind = Kind.text
        var isRequired = true

        static let reason = Field(
            name: "reason", label: "Reason", hint: "The reason, in your own words.")
        static let ticket = Field(
            name: "ticket", label: "Ticket", hint: "The support case, if there is one.",
            isRequired: false)
    }

    /// The part of the page's address after the customer's address.
    let pattern: String
    let title: String
    /// The label of the button in the last step.
    let button: String
    var fields: [Field]
    let method: String
    let path: @Sendable (Target) -> String
    /// Whether the call concerns both environments and names neither.
    var isOfBoth = false
    /// The explanation of why the act cannot be rehearsed; `nil` if it can.
    var unrehearsed: String?
    /// The field for the person's own words. The call has a member of the same name.
    var words = Field.reason
    /// The call's body, without the person's own words and the ticket.
    let body: @Sendable (Target) -> JSON

    /// The subject of a call.
    struct Target: Sendable {
        let customer: String
        /// The grant, currency or purchase in the address.
        let subject: String
        let fields: Fields

        /// Returns the path of a call about the customer.
        func below(_ rest: String, _ last: String = "") -> String {
            path("/\(rest)/\(percentEncoded(subject))\(last)")
        }

        func path(_ rest: String) -> String { "/customers/\(percentEncoded(customer))\(rest)" }
    }

    /// Returns whether the person's role may make the act's call.
    func isAllowed(in room: ProjectRoom) -> Bool {
        let target = Target(customer: "x", subject: "x", fields: Fields(""))
        return room.calls.allows(method, path(target), to: room.role)
    }

    static let all = [
        grant, change, revoke, adjust, transfer, takeBack, attach, block, unblock, merge, unmerge,
        close, note, unnote,
    ]

    /// Returns whether these fields contain everything that the act needs, apart from its reason.
    func isSaid(by fields: Fields) -> Bool {
        self.fields.allSatisfy { fields.trimmed($0.name) != nil }
    }

    private static let lengths: [(value: String, label: String)] = [
        ("P1D", "1 day"), ("P3D", "3 days"), ("P7D", "7 days"), ("P14D", "14 days"),
        ("P30D", "30 days"), ("P90D", "90 days"), ("P1Y", "1 year"),
        ("forever", "until it is revoked"),
    ]

    static let grant = Act(
        pattern: "/grant", title: "Give an entitlement", button: "Give it",
        fields: [
            Field(name: "entitlement", label: "Entitlement", hint: "Its id in the catalog."),
            Field(name: "for", label: "For how long", kind: .choice(lengths)),
            Field(
                name: "start", label: "Start",
                kind: .choice([
                    ("now", "from now on"),
                    ("after_current", "after the present access ends"),
                ])),
        ], method: "POST", path: { $0.path("/grants") }
    ) { target in
        let fields = target.fields
        let head: JSON = ["entitlement": .string(fields.trimmed("entitlement") ?? "")]
        return head.with("for", fields.isForever ? nil : .string(fields["for"] ?? ""))
            .with("start", fields["start"] == "after_current" ? "after_current" : nil)
    }

    static let change = Act(
        pattern: "/grants/{grant}/change", title: "Change a grant's end",
        button: "Change it",
        fields: [
            Field(
                name: "for", label: "Total length",
                hint: "Counted from the start of the grant.", kind: .choice(lengths))
        ], method: "PATCH", path: { $0.below("grants") }
    ) { target in
        target.fields.isForever
            ? ["for_ever": true] : ["for": .string(target.fields["for"] ?? "")]
    }

    static let revoke = Act(
        pattern: "/grants/{grant}/revoke", title: "Revoke a grant", button: "Revoke it",
        fields: [], method: "DELETE", path: { $0.below("grants") }, body: { _ in [:] })

    static let adjust = Act(
        pattern: "/balances/{currency}/adjust", title: "Adjust a balance", button: "Adjust it",
        fields: [
            Field(
                name: "amount", label: "Amount", hint: "A negative amount is deducted.",
                kind: .whole)
        ], method: "POST", path: { $0.below("balances", "/adjust") }
    ) { target in
        // Text that is not a number is sent as it is, because the call has its own message for
        // that.
        let text = target.fields.trimmed("amount") ?? ""
        return ["amount": Int64(text).map { JSON.integer($0) } ?? .string(text)]
    }

    static let transfer = Act(
        pattern: "/purchases/{purchase}/transfer", title: "Move a purchase to another customer",
        button: "Move it",
        fields: [Field(name: "to", label: "Move it to", hint: "The other customer's id.")],
        method: "POST", path: { $0.below("purchases", "/transfer") }
    ) { target in ["to": .string(target.fields.trimmed("to") ?? "")] }

    static let takeBack = Act(
        pattern: "/purchases/{purchase}/undo_transfer", title: "Undo a purchase's last move",
        button: "Undo it", fields: [], method: "POST",
        path: { $0.below("purchases", "/undo_transfer") }, body: { _ in [:] })

    static let attach = Act(
        pattern: "/attach", title: "Attach a purchase that no customer claimed",
        button: "Attach it",
        fields: [
            Field(name: "purchase", label: "Purchase", hint: "Its id, like apple:2000000123.")
        ], method: "POST",
        path: {
            "/unclaimed/\(percentEncoded($0.fields.trimmed("purchase") ?? "none"))/attach"
        }
    ) { target in ["customer": .string(target.customer)] }

    static let block = Act(
        pattern: "/purchases/{purchase}/block", title: "Block a purchase", button: "Block it",
        fields: [], method: "POST", path: { $0.below("purchases", "/block") }, body: { _ in [:] })

    static let unblock = Act(
        pattern: "/purchases/{purchase}/unblock", title: "Unblock a purchase",
        button: "Undo it",
        fields: [], method: "POST", path: { $0.below("purchases", "/unblock") }, body: { _ in [:] })

    static let merge = Act(
        pattern: "/merge", title: "Merge the customer into another", button: "Merge them",
        fields: [
            Field(name: "into", label: "Part of", hint: "The id of the customer who remains.")
        ], method: "POST", path: { $0.path("/merge") }, isOfBoth: true
    ) { target in ["into": .string(target.fields.trimmed("into") ?? "")] }

    static let unmerge = Act(
        pattern: "/unmerge", title: "Undo a merge", button: "Undo it", fields: [],
        method: "POST", path: { $0.path("/merge/undo") }, isOfBoth: true, body: { _ in [:] })

    static let close = Act(
        pattern: "/orders/{order}/close", title: "Close an order", button: "Close it",
        fields: [
            Field(
                name: "because", label: "Because",
                kind: .choice([
                    ("cancelled", "the customer will not buy it"),
                    ("settled", "the customer got the product in another way"),
                ]))
        ], method: "POST", path: { $0.below("orders", "/close") },
        unrehearsed:
            "A closed order no longer waits for its purchase. Access and balances do not change, and the order cannot be reopened."
    ) { target in ["because": .string(target.fields["because"] ?? "")] }

    static let note = Act(
        pattern: "/note", title: "Write a note", button: "Add it", fields: [], method: "POST",
        path: { $0.path("/notes") },
        unrehearsed: "A note changes nothing. Other staff see it on the customer's page.",
        words: Field(name: "text", label: "Note", hint: "What others should know."),
        body: { _ in [:] })

    static let unnote = Act(
        pattern: "/notes/{note}/remove", title: "Remove a note", button: "Remove it", fields: [],
        method: "DELETE", path: { $0.below("notes") },
        unrehearsed: "The note leaves this list. The log keeps it until the customer is erased.",
        body: { _ in [:] })
}

extension Fields {
    /// Whether the chosen length has no end. Only the word itself means for ever; a missing or unreadable length does
    /// not.
    fileprivate var isForever: Bool { self["for"] == "forever" }
}
