/// Why a key cannot be created or rotated.
package enum KeyRefusal: Worded, Hashable, Sendable {
    case endsInThePast(Instant)
    case endsTooLate
    case overlapBeyondEnd(KeyID, end: Instant)
    case over(KeyID, at: Instant)
    case rotatedAlready(KeyID, to: KeyID)

    package var wording: RefusalWording {
        switch self {
        case .endsInThePast(let end):
            .improper(
                "key_ends_in_the_past", "The key would have ended at \(end.text).", .giveLaterEnd)
        case .endsTooLate:
            .improper(
                "key_ends_too_late",
                "The key would end after the year 9999; give an earlier end, or none at all.")
        case .overlapBeyondEnd(let id, let end):
            .improper(
                "overlap_beyond_end",
                "The key \"\(id)\" ends at \(end.text), which is before the end of the overlap.",
                .shortenOverlap)
        case .over(let id, let end):
            .conflict(
                "key_over", "The key \"\(id)\" ended at \(end.text) and cannot be rotated.",
                .replaceKey)
        case .rotatedAlready(let id, let successor):
            .conflict(
                "key_rotated",
                "The key \"\(id)\" has already been replaced by \"\(successor)\"; rotate that "
                    + "one, or revoke it.")
        }
    }
}
