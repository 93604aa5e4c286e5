/// What a refusal says to every reader.
package struct RefusalWording: Hashable, Sendable {
    /// What a refusal objects to.
    package enum Kind: Hashable, Sendable {
        /// The request itself, whatever the state.
        case improper
        /// The sender, who may not do this.
        case forbidden
        /// The thing that the request names, which does not exist.
        case unknown
        /// The present state.
        case conflict
        /// An earlier request with which this one is confused.
        case mismatch
        case tooLarge
        /// The request may succeed once there is room.
        case full
    }

    package let kind: Kind
    /// The stable code.
    package let code: String
    package let sentence: String
    package let remedy: Remedy?

    static let improper = Kind.improper
    static let forbidden = Kind.forbidden
    static let unknown = Kind.unknown
    static let conflict = Kind.conflict
    static let mismatch = Kind.mismatch
    static let tooLarge = Kind.tooLarge
    static let full = Kind.full
}

extension RefusalWording.Kind {
    /// Words a refusal of this kind, as in `.unknown("note_unknown", "…")`.
    func callAsFunction(
        _ code: String, _ sentence: String, _ remedy: Remedy? = nil
    ) -> RefusalWording {
        RefusalWording(kind: self, code: code, sentence: sentence, remedy: remedy)
    }
}

/// A refusal, whose kind, code, sentence and remedy are said in one place.
package protocol Worded: Trouble {
    var wording: RefusalWording { get }
}

extension Worded {
    package var code: String { wording.code }
    package var sentence: String { wording.sentence }
    package var remedy: Remedy? { wording.remedy }
}
