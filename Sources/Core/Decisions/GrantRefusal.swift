/// Why a grant cannot be given, changed or revoked.
package enum GrantRefusal: Worded, Hashable, Sendable {
    case unknown(GrantID)
    case ended(GrantID, at: Instant)
    /// The grant has ended or was revoked, so its end can no longer change.
    case over(GrantID, at: Instant)
    /// The end is in the past. `isLength` means that a length determined it.
    case endsInThePast(Instant, isLength: Bool)
    case endsBeforeItStarts(start: Instant, end: Instant)
    case endsTooLate
    case tooMany(limit: Int)

    package var wording: RefusalWording {
        switch self {
        case .unknown(let id):
            .unknown(
                "grant_unknown",
                "The customer has no grant \"\(id)\" in the requested environment.", .showCustomer)
        case .ended(let id, let end):
            .conflict(
                "grant_ended",
                "The grant \"\(id)\" ended at \(end.text); there is nothing left to revoke.")
        case .over(let id, let end):
            .conflict(
                "grant_ended",
                "The grant \"\(id)\" ended at \(end.text) and can no longer be changed; give a new grant."
            )
        case .endsInThePast(let end, _):
            .improper(
                "grant_ends_in_the_past",
                "The grant would have ended at \(end.text); give a later end, or revoke it.")
        case .endsBeforeItStarts(let start, let end):
            .improper(
                "grant_ends_before_it_starts",
                "The grant would end at \(end.text) and start at \(start.text); give a later end.")
        case .endsTooLate:
            .improper(
                "grant_ends_too_late",
                "The grant would end after the year 9999; give an earlier end, or none at all.")
        case .tooMany(let limit):
            .conflict(
                "too_many_grants",
                "The customer has \(limit) grants, which is the limit; use another customer.")
        }
    }
}
