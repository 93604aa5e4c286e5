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

    private init(_ kind: Kind, _ code: String, _ sentence: String, _ remedy: Remedy?) {
        (self.kind, self.code) = (kind, code)
        (self.sentence, self.remedy) = (sentence, remedy)
    }
}

extension RefusalWording {
    static func improper(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.improper, code, sentence, remedy)
    }

    static func forbidden(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.forbidden, code, sentence, remedy)
    }

    static func unknown(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.unknown, code, sentence, remedy)
    }

    static func conflict(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.conflict, code, sentence, remedy)
    }

    static func mismatch(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.mismatch, code, sentence, remedy)
    }

    static func tooLarge(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.tooLarge, code, sentence, remedy)
    }

    static func full(_ code: String, _ sentence: String, _ remedy: Remedy? = nil) -> Self {
        Self(.full, code, sentence, remedy)
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
