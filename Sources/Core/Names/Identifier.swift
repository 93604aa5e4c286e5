/// A name, usually chosen by another party: 1 to 256 bytes of printable UTF-8.
///
/// Names in the log only have to follow these rules. A new name must also be in its `ProperForm`.
///
/// Two identifiers are equal if they have the same bytes. Swift's own string comparison also
/// equates different encodings of an accented letter, which PostgreSQL and callers distinguish.
package struct Identifier<Kind>: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static var lengthLimit: Int { 256 }

    package let text: String

    package init(_ text: String) throws(InvalidIdentifier) {
        if let reason = InvalidIdentifier.Reason(of: text) {
            throw InvalidIdentifier(reason: reason)
        }
        self.text = text
    }

    /// Creates a name that Deed itself chose. Such a name is known to be valid.
    init(known text: String) {
        self.text = text
    }

    package static func == (one: Self, other: Self) -> Bool {
        let (left, right) = (one.text.utf8.span, other.text.utf8.span)
        return left.count == right.count && left.commonPrefix(with: right) == left.count
    }

    package static func < (one: Self, other: Self) -> Bool {
        let (left, right) = (one.text.utf8.span, other.text.utf8.span)
        let place = left.commonPrefix(with: right)
        if place == right.count { return false }
        return place == left.count || left[place] < right[place]
    }

    package func hash(into hasher: inout Hasher) {
        // Strings that consist of equal bytes are equal, and therefore have equal hashes.
        hasher.combine(text)
    }

    package var description: String { text }

    /// The last eight bytes as a number, or all bytes of a shorter name.
    var tail: UInt64 {
        let bytes = text.utf8.span
        var number: UInt64 = 0
        for place in max(0, bytes.count - 8)..<bytes.count {
            number = number << 8 | UInt64(bytes[place])
        }
        return number
    }
}

extension Span<UInt8> {
    /// Whether the name consists only of printable ASCII.
    var isPlain: Bool {
        for place in indices where !(0x20..<0x7F).contains(self[place]) { return false }
        return true
    }

    /// Returns the length of the common prefix, in bytes.
    fileprivate func commonPrefix(with other: Span<UInt8>) -> Int {
        let limit = Swift.min(count, other.count)
        var place = 0
        while place < limit, self[place] == other[place] { place += 1 }
        return place
    }
}

/// Why a string cannot be an identifier.
package struct InvalidIdentifier: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case empty
        case tooLong
        case unprintable
        case blank
        case improper(ImproperForm)

        package init?(of text: String) {
            if text.isEmpty {
                self = .empty
            } else if text.utf8.count > Identifier<Void>.lengthLimit {
                self = .tooLong
            } else if !text.utf8.span.isPlain,
                text.unicodeScalars.contains(where: { !$0.isPrintable })
            {
                self = .unprintable
            } else {
                return nil
            }
        }
    }
    package let reason: Reason

    package init(reason: Reason) {
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .empty: "is empty; it takes 1 to 256 bytes"
        case .tooLong: "is longer than 256 bytes"
        case .unprintable:
            "contains a character that cannot be printed, such as a control character"
        case .blank: "contains only spaces"
        case .improper(let form): form.description
        }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is not a control character, a line or paragraph separator, or an unassigned code point.
    var isPrintable: Bool {
        if isASCII { return (0x20..<0x7F).contains(value) }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return false
        case .unassigned: return !properties.isNoncharacterCodePoint
        default: return true
        }
    }
}

package enum ProjectKind {}
package enum CustomerKind {}
package enum AppKind {}
package enum EntitlementKind {}
package enum ProductIDKind {}
package enum CurrencyKind {}
package enum TransactionKind {}
package enum GrantKind {}
package enum KeyKind {}
package enum NoteKind {}
package enum OrderKind {}
package enum AppTransactionKind {}
package enum NewsKind {}
package enum ReconciliationKind {}
package enum AcceptanceKind {}
package enum WebhookKind {}
package enum ReplayKind {}
package enum PersonKind {}

package typealias ProjectID = Identifier<ProjectKind>
/// The opaque name that a back end chose for a person.
package typealias CustomerID = Identifier<CustomerKind>
/// Apple's bundle id or Google's package name.
package typealias AppID = Identifier<AppKind>
package typealias EntitlementID = Identifier<EntitlementKind>
package typealias ProductID = Identifier<ProductIDKind>
package typealias CurrencyID = Identifier<CurrencyKind>
/// A store's name for a transaction. The name of the original transaction identifies the whole
/// purchase.
package typealias TransactionID = Identifier<TransactionKind>
/// A store's name for one account's copy of one app. All of the account's purchases in the app carry the same name.
package typealias AppTransactionID = Identifier<AppTransactionKind>
/// A store's name for one piece of news. Each repetition of the news carries the same name.
package typealias NewsID = Identifier<NewsKind>
package typealias GrantID = Identifier<GrantKind>
package typealias NoteID = Identifier<NoteKind>
package typealias KeyID = Identifier<KeyKind>
package typealias OrderID = Identifier<OrderKind>
package typealias ReconciliationID = Identifier<ReconciliationKind>
package typealias AcceptanceID = Identifier<AcceptanceKind>
package typealias WebhookID = Identifier<WebhookKind>
package typealias ReplayID = Identifier<ReplayKind>
/// A person who uses the console. The person's name is stored in a separate row, which can be
/// removed.
package typealias PersonID = Identifier<PersonKind>
package enum ReasonKind {}
package enum TicketKind {}
package enum ActorKind {}
/// Why an admin acted, in the admin's own words.
package typealias Reason = Identifier<ReasonKind>
/// The support case to which an admin's action belongs.
package typealias Ticket = Identifier<TicketKind>
/// Who caused an event: `key:<id>`, `person:<id>`, `cli:<login name>`, or a part of Deed itself.
package typealias Actor = Identifier<ActorKind>

extension Identifier {
    /// Whether the name contains no readable characters.
    package var isBlank: Bool {
        text.unicodeScalars.allSatisfy { $0.properties.isWhitespace }
    }
}

extension TransactionID {
    /// Creates a name from hexadecimal digits.
    package init(digits: String) {
        precondition(!digits.isEmpty && digits.utf8.count <= 64, "a name must have 1 to 64 digits")
        self.init(known: digits)
    }

    /// Creates a name from two parts. Parts from evidence are short. If parts from a damaged row are too long, only
    /// the end is kept.
    init(joining name: String, _ ending: String) {
        self.init(known: String((name + ending).suffix(Self.lengthLimit)))
    }
}

extension GrantID {
    /// The id of the grant in a dry run. The real id is created only when the grant is given.
    package static let ofRehearsal = GrantID(known: "g_new")
}

extension Identifier {
    /// Creates a name for a new object: a prefix that shows the kind, followed by letters and digits.
    package init(prefix: StaticString, random: String) {
        precondition(
            random.utf8.count < 200 && random.unicodeScalars.allSatisfy(\.isPrintable),
            "a created name must be valid")
        self.init(known: "\(prefix)\(random)")
    }
}
