/// Why a note cannot be added or removed.
package enum NoteRefusal: Worded, Hashable, Sendable {
    case unknown(NoteID)
    case tooMany(limit: Int)

    package var wording: RefusalWording {
        switch self {
        case .unknown(let id):
            .unknown(
                "note_unknown", "The customer has no note \"\(id)\" in the requested environment.",
                .listNotes)
        case .tooMany(let limit):
            .conflict(
                "too_many_notes",
                "The customer has \(limit) notes, which is the limit; remove one first.")
        }
    }
}
