/// All personal data was removed from the customer's stream.
package struct CustomerErased: EventContent {
    package let reason: Reason
    package let ticket: Ticket?
    package let treatment: PurchaseTreatment
    /// Marks of the purchases that no customer may hold again.
    package let forgotten: [PurchaseMark]
    /// The entitlements to which access ended with the erasure, in order.
    package let ended: [EntitlementID]
    /// Other entitlements that earlier answers mentioned, such as expired ones, in order.
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

/// How an erasure treats the customer's purchases.
package enum PurchaseTreatment: String, Hashable, Sendable, CaseIterable {
    /// No customer may hold the purchases again.
    case forget
    /// The next customer who proves a purchase gets it. Exceptions are purchases that gave coins, were refunded or are
    /// blocked.
    case free
}

/// The only trace kept of a forgotten purchase. It is enough to recognize the purchase, but does not reveal its id.
package struct PurchaseMark: Hashable, Comparable, Sendable {
    /// The number of hexadecimal digits.
    private static let length = 32

    package let text: String

    /// `digest` computes SHA-256.
    package init(_ purchase: PurchaseID, in stream: Stream, digest: ([UInt8]) -> [UInt8]) {
        let name = "\(stream.project)\u{0}\(stream.environment.rawValue)\u{0}\(purchase)"
        text = String(digest(Array(name.utf8)).hexDigits.prefix(PurchaseMark.length))
    }

    /// Reads a mark from its text form.
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
