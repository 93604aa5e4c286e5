/// Why a key cannot be created or rotated.
package enum KeyRefusal: Trouble, Hashable, Sendable {
    case endsInThePast(Instant)
    case endsTooLate
    case overlapBeyondEnd(KeyID, end: Instant)
    case over(KeyID, at: Instant)
    case rotatedAlready(KeyID, to: KeyID)

    package var code: String {
        switch self {
        case .endsInThePast: "key_ends_in_the_past"
        case .endsTooLate: "key_ends_too_late"
        case .overlapBeyondEnd: "overlap_beyond_end"
        case .over: "key_over"
        case .rotatedAlready: "key_rotated"
        }
    }

    package var sentence: String {
        switch self {
        case .endsInThePast(let end):
            "The key would have ended at \(end.text)."
        case .endsTooLate:
            "The key would end after the year 9999; give an earlier end, or none at all."
        case .overlapBeyondEnd(let id, let end):
            "The key \"\(id)\" ends at \(end.text), which is before the end of the overlap."
        case .over(let id, let end):
            "The key \"\(id)\" ended at \(end.text) and cannot be rotated."
        case .rotatedAlready(let id, let successor):
            "The key \"\(id)\" has already been replaced by \"\(successor)\"; rotate that "
                + "one, or revoke it."
        }
    }

    package var remedy: Remedy? {
        switch self {
        case .endsInThePast: .giveLaterEnd
        case .overlapBeyondEnd: .shortenOverlap
        case .over: .replaceKey
        case .endsTooLate, .rotatedAlready: nil
        }
    }
}
