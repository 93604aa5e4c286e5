/// A note about a customer, written by staff for other staff. A note affects nothing else.
package struct Note: Hashable, Sendable {
    package let added: NoteAdded
    /// When and by whom the note was added. Set once the event is recorded.
    package internal(set) var at: Instant?
    package internal(set) var by: Actor?

    package init(_ added: NoteAdded, at: Instant? = nil, by: Actor? = nil) {
        self.added = added
        self.at = at
        self.by = by
    }

    package var id: NoteID { added.note }
}

/// The text of a note, which may contain several lines.
package struct NoteText: Hashable, Sendable {
    package static let lengthLimit = 2000

    package let text: String

    package init(_ text: String) throws(InvalidNote) {
        let scalars = text.unicodeScalars
        if scalars.allSatisfy(\.properties.isWhitespace) { throw .blank }
        if text.utf8.count > NoteText.lengthLimit { throw .tooLong }
        if !scalars.allSatisfy({ $0 == "\n" || $0 == "\t" || $0.isPrintable }) {
            throw .unprintable
        }
        self.text = text
    }
}

/// Why a text cannot be used as a note.
package enum InvalidNote: Error, Hashable, CustomStringConvertible {
    case blank
    case tooLong
    case unprintable

    package var description: String {
        switch self {
        case .blank: "is blank; write what others should know"
        case .tooLong: "is longer than \(NoteText.lengthLimit) bytes; write several notes"
        case .unprintable:
            "contains a character that cannot be printed, other than line feeds and tabs"
        }
    }
}
