/// All that the customer's stream said about a person was taken out of it.
package struct CustomerErased: EventContent {
    package let reason: Reason
    package let ticket: Ticket?
    package let treatment: PurchaseTreatment
    /// The purchases that never have a holder again.
    package let forgotten: [PurchaseMark]
    /// The rights that ended with it, in order.
    package let ended: [EntitlementID]
    /// Other rights that answers told of, such as expired ones, in order.
    package let dropped: [EntitlementID]
    package var subject: EventSubject { .customer }

    package init(
        reason: Reason, ticket: Ticket?, treatment: PurchaseTreatment = .free,
        forgotten: [PurchaseMark] = [], ended: [EntitlementID] = [], dropped: [EntitlementID] = []
    ) {
        self.reason = reason
        self.ticket = ticket
        self.treatment = treatment
        self.forgotten = forgotten
        self.ended = ended
        self.dropped = dropped
    }
}

/// What becomes of an erased customer's purchases.
package enum PurchaseTreatment: String, Hashable, Sendable, CaseIterable {
    /// They never have a holder again.
    case forget
    /// The next customer who proves them has them, apart from those that gave coins, were refunded or are
    /// blocked.
    case free
}

/// What is kept of a forgotten purchase: enough to know it again, and its id does not follow from it.
package struct PurchaseMark: Hashable, Comparable, Sendable {
    /// How many hexadecimal digits it has.
    private static let length = 32

    package let text: String

    /// `digest` is SHA-256.
    package init(_ purchase: PurchaseID, in stream: Stream, digest: ([UInt8]) -> [UInt8]) {
        let name = "\(stream.project)\u{0}\(stream.environment.rawValue)\u{0}\(purchase)"
        text = String(digest(Array(name.utf8)).hexDigits.prefix(PurchaseMark.length))
    }

    /// Reads it back.
    package init?(_ text: String) {
        let digits = Set("0123456789abcdef".utf8)
        guard text.utf8.count == PurchaseMark.length, text.utf8.allSatisfy(digits.contains) else {
            return nil
        }
        self.text = text
    }

    package static func < (one: PurchaseMark, other: PurchaseMark) -> Bool {
        one.text < other.text
    }
}

extension EventType {
    static let erasures: EventFamily = [
        .customerErased: .ofCustomer("customer.erased", "The customer was erased", isAct: true)
    ]
}

extension Event {
    package var isErasure: Bool {
        if case .customerErased = self { true } else { false }
    }
}
