/// Search words for finding a customer: a complete name of any kind, or the beginning of a customer
/// id.
package struct FindWords: Hashable, Sendable {
    package static let shortest = 2

    package let text: String

    /// Creates search words, without the spaces that may surround copied text.
    package init(_ text: String) throws(InvalidFindWords) {
        let scalars = text.unicodeScalars
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { throw .invalid(InvalidIdentifier(reason: .empty)) }
        let trimmed = String(String.UnicodeScalarView(scalars[first...last]))
        if let reason = InvalidIdentifier.Reason(of: trimmed) {
            throw .invalid(InvalidIdentifier(reason: reason))
        }
        if trimmed.unicodeScalars.count < FindWords.shortest { throw .tooShort }
        let wildcards: Set<Unicode.Scalar> = ["*", "%"]
        if trimmed.unicodeScalars.contains(where: wildcards.contains)
            || trimmed.unicodeScalars.allSatisfy({ ["_", ".", "?"].contains($0) })
        {
            throw .wildcard
        }
        if trimmed.utf8.starts(with: "$unclaimed/".utf8)
            || trimmed.utf8.starts(with: "$project/".utf8)
        {
            throw .reserved
        }
        self.text = trimmed
    }

    /// The purchase with this id, if the words are a purchase id.
    package var purchase: PurchaseID? { PurchaseID(text) }

    /// Whether the words look like an order number from an App Store receipt email.
    package var isOrderNumber: Bool {
        text.hasPrefix("M") && (8...16).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }

    /// The account token, if the words have the form of one.
    package var token: AccountToken? { AccountToken(text) }

    /// If the words are an event's id, that event's position and the first digits of its hash.
    package var event: (position: Position, mark: String?)? {
        if let position = Position(text) { return (position, nil) }
        let parts = text.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].utf8.count == 8,
            let position = Position("\(parts[0]):\(parts[1])")
        else { return nil }
        return (position, String(parts[2]))
    }

    /// The first string in byte order that follows all strings beginning with this one.
    package var end: String {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are not Unicode scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let next = Unicode.Scalar(next) {
                var end = String.UnicodeScalarView()
                end.append(contentsOf: scalars + [next])
                return String(end)
            }
        }
        return String(repeating: "\u{10FFFF}", count: CustomerID.lengthLimit)
    }
}

/// Why the words cannot be used for a search.
package enum InvalidFindWords: Error, Hashable, CustomStringConvertible {
    case invalid(InvalidIdentifier)
    case tooShort
    case wildcard
    case reserved

    package var description: String {
        switch self {
        case .invalid(let invalid): invalid.description
        case .tooShort: "has one character; give at least \(FindWords.shortest)"
        case .wildcard:
            "contains a wildcard, which searches do not support: give a complete name, or the beginning of a "
                + "customer's id"
        case .reserved: "begins with a prefix that Deed reserves; give the purchase's id"
        }
    }
}

/// The kinds of names by which a customer can be found.
package enum FoundKind: String, Hashable, Sendable, CaseIterable {
    case customer
    case purchase
    case transaction
    case lineItem = "web_order_line_item"
    case order
    case accountToken = "account_token"
    case grant
    case event
    case account = "app_transaction"
    case ticket
    /// An order number that only the store can look up.
    case storeOrder = "store_order"
}

/// A possible match for a name, found in a table row. The customer's events decide whether the match is correct.
package struct FoundLead: Hashable, Sendable {
    package let kind: FoundKind
    /// The id of the object with this name. For a line item, this is the id of its transaction.
    package let id: String
    package let environment: Environment
    /// A reserved customer if no customer has claimed the purchase.
    package let customer: CustomerID
    package var purchase: PurchaseID?
    /// The version of the event, if the name belongs to an event.
    package var version: Int64?

    package init(
        _ kind: FoundKind, _ id: String, in environment: Environment, of customer: CustomerID
    ) {
        self.kind = kind
        self.id = id
        self.environment = environment
        self.customer = customer
    }
}

/// The possible matches for the words, found in table rows.
package struct FoundLeads: Sendable {
    /// Exact matches, by kind and environment.
    package var exact: [FoundLead] = []
    /// Customers whose ids begin with the words.
    package var beginning: [FoundLead] = []
    /// Whether there are more matches of any kind.
    package var isCutOff = false

    package init() {}

    package var all: [FoundLead] { exact + beginning }
}

extension FoundLead {
    /// Returns whether the customer's events confirm the lead.
    package func isSupported(by state: CustomerState) -> Bool {
        switch kind {
        case .customer, .event: return true
        case .ticket:
            return version != nil || state.grants.contains { $0.given.ticket?.text == id }
        case .purchase, .storeOrder: return purchase.flatMap(state.purchase) != nil
        case .transaction, .lineItem:
            let evidence = purchase.flatMap(state.purchase)?.evidence ?? []
            return evidence.contains { $0.effective.transaction.text == id }
        case .order: return state.orders.contains { $0.id.text == id }
        case .accountToken:
            guard let purchase else { return state.isNamed(by: id) }
            return state.purchase(purchase)?.tokens.contains { $0.text == id } ?? false
        case .grant: return state.grants.contains { $0.id.text == id }
        case .account: return state.appTransactions.contains { $0.text == id }
        }
    }

    /// Returns the product concerned, if any.
    package func product(in state: CustomerState) -> ProductID? {
        if kind == .order { return state.orders.first { $0.id.text == id }?.opened.product }
        guard let purchase = purchase.flatMap(state.purchase) else { return nil }
        if kind == .transaction || kind == .lineItem {
            let fact = purchase.evidence.first { $0.effective.transaction.text == id }
            return fact?.effective.product
        }
        return purchase.newest?.product
    }
}
