extension CustomerState {
    package static let noteLimit = 200

    package func note(_ id: NoteID) -> Note? { notes.first { $0.id == id } }

    package func decide(_ wish: NoteAdded) throws(Refusal) -> [Event] {
        if notes.count >= CustomerState.noteLimit {
            throw .note(.tooMany(limit: CustomerState.noteLimit))
        }
        return [.noteAdded(wish)]
    }

    package func decide(_ wish: NoteRemoved) throws(Refusal) -> [Event] {
        if note(wish.note) == nil { throw .note(.unknown(wish.note)) }
        return [.noteRemoved(wish)]
    }
}
