/// Why people could mistake an id for a different one: it contains invisible characters, or its
/// text has several encodings.
package enum ImproperForm: Hashable, Sendable, CustomStringConvertible {
    /// A character that is invisible, looks like a space, or changes the direction of the text around it.
    case invisible(Unicode.Scalar)
    /// A character that is not assigned in this release's version of Unicode.
    case unassigned(Unicode.Scalar)
    case notNormal

    init?(of text: String) {
        if text.utf8.span.isPlain { return nil }
        for scalar in text.unicodeScalars {
            if scalar.isInvisible {
                self = .invisible(scalar)
                return
            }
            if scalar.properties.generalCategory == .unassigned {
                self = .unassigned(scalar)
                return
            }
        }
        var span = text.utf8Span
        if span.checkForNFC(quickCheck: false) { return nil }
        self = .notNormal
    }

    package var description: String {
        switch self {
        case .invisible(let scalar):
            "contains \(scalar.codePoint), which is invisible, looks like a space or changes the text "
                + "direction; leave it out"
        case .unassigned(let scalar):
            "contains \(scalar.codePoint), to which Unicode assigns no character"
        case .notNormal: "is not in the normal form NFC; normalize it before you send it"
        }
    }
}

extension Identifier {
    /// Why the name cannot be used as a new id; `nil` if it can.
    package var improperForm: ImproperForm? { ImproperForm(of: text) }

    /// Creates a new id, which must follow the usual rules and be in its proper form. Reasons need
    /// not be in proper form, because prose in some scripts needs joiners.
    package init(new text: String) throws(InvalidIdentifier) {
        try self.init(text)
        if Kind.self == ReasonKind.self { return }
        if Kind.self == TicketKind.self, isBlank { throw InvalidIdentifier(reason: .blank) }
        if let improperForm { throw InvalidIdentifier(reason: .improper(improperForm)) }
    }

    /// Throws unless the name is in its proper form. This is required when a name is used for the
    /// first time.
    func requireProperForm() throws(Refusal) {
        if let improperForm { throw .idImproper(visible(text), improperForm) }
    }
}

extension Catalog {
    /// Throws if the catalog does not know the name and it could be mistaken for a different one.
    package func requireProperForm(of name: CatalogName) throws(Refusal) {
        guard let improperForm = ImproperForm(of: name.text), !knows(name) else { return }
        throw .idImproper(visible(name.text), improperForm)
    }

    /// Throws if any id that the previous catalog did not contain could be mistaken for a different
    /// one.
    func requireProperForms(after old: Catalog) throws(Refusal) {
        for id in entitlements { try old.requireProperForm(of: .entitlement(id)) }
        for id in currencies { try old.requireProperForm(of: .currency(id)) }
        for product in products where old.product(product.key) == nil {
            try product.id.requireProperForm()
        }
    }
}

extension Situation {
    /// Throws if the decision would create a customer whose id could be mistaken for a different one.
    func requireProperForm(of decision: Decision) throws(Refusal) {
        for part in decision.parts where !part.customer.isReserved && !part.events.isEmpty {
            if part.customer.improperForm == nil || customer(part.customer).version > 0
                || knownElsewhere.contains(part.customer)
            {
                continue
            }
            try part.customer.requireProperForm()
        }
    }
}

/// Returns the text with invisible or indistinguishable characters replaced by their code points.
package func visible(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { shown, scalar in
        switch scalar.properties.generalCategory {
        case .unassigned, .nonspacingMark, .spacingMark, .enclosingMark:
            shown += "<\(scalar.codePoint)>"
        default:
            if scalar.isInvisible {
                shown += "<\(scalar.codePoint)>"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .format: true
        case .spaceSeparator: self != " "
        // Unicode classifies the blank Braille pattern as a symbol, but it is not visible.
        default: value == 0x2800 || properties.isDefaultIgnorableCodePoint
        }
    }

    /// The scalar's code point, such as `U+202E`.
    package var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
