/// An expected no: what the rules do not allow, and what to do instead.
package enum Refusal: Error, Hashable, Sendable {
    case projectUnknown(ProjectID)
    case projectExists(ProjectID)
    case keyUnknown(KeyID)
    case tooManyKeys(limit: Int)
    case grantUnknown(GrantID)
    case grantEnded(GrantID, at: Instant)
    case grantEndsBeforeItStarts(start: Instant, end: Instant)
    case grantEndsTooLate
    case tooManyGrants(limit: Int)
    case idempotencyMismatch

    /// The stable name of this refusal.
    package var code: String {
        switch self {
        case .projectUnknown: "project_unknown"
        case .projectExists: "project_exists"
        case .keyUnknown: "key_unknown"
        case .tooManyKeys: "too_many_keys"
        case .grantUnknown: "grant_unknown"
        case .grantEnded: "grant_ended"
        case .grantEndsBeforeItStarts: "grant_ends_before_it_starts"
        case .grantEndsTooLate: "grant_ends_too_late"
        case .tooManyGrants: "too_many_grants"
        case .idempotencyMismatch: "idempotency_mismatch"
        }
    }

    /// What happened and what to do next, in one sentence.
    package var sentence: String {
        switch self {
        case .projectUnknown(let id):
            "There is no project \"\(id)\"; create it with: deed project create \(id)"
        case .projectExists(let id):
            "The project \"\(id)\" exists already; use it, or choose another name."
        case .keyUnknown(let id):
            "The project has no key \"\(id)\"; see: deed key list"
        case .tooManyKeys(let limit):
            "The project has \(limit) keys, the most that it may have; revoke one first."
        case .grantUnknown(let id):
            "The customer has no grant \"\(id)\"; see the customer's events for the right id."
        case .grantEnded(let id, let end):
            "The grant \"\(id)\" ended at \(end.text); there is nothing left to revoke."
        case .grantEndsBeforeItStarts(let start, let end):
            "The grant would end at \(end.text) and start at \(start.text); give a later end."
        case .grantEndsTooLate:
            "The grant would end after the year 9999; give an earlier end, or none at all."
        case .tooManyGrants(let limit):
            "The customer has \(limit) grants, the most that one may have; use another customer."
        case .idempotencyMismatch:
            "This Idempotency-Key was used for another command; send a new key with a new command."
        }
    }
}
