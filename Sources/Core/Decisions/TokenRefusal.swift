/// Why a token cannot be registered, or why its purchases stay unclaimed.
package enum TokenRefusal: Worded, Hashable, Sendable {
    case taken
    case tooMany(limit: Int)
    case tooManyUnclaimed(limit: Int)
    case notUnclaimed(PurchaseID)

    package var wording: RefusalWording {
        switch self {
        case .taken:
            .conflict(
                "token_taken",
                "Another customer has this token; give each customer a separate token.")
        case .tooMany(let limit):
            .conflict(
                "too_many_tokens",
                "The customer has \(limit) tokens, which is the limit; use one of them.")
        case .tooManyUnclaimed(let limit):
            .conflict(
                "too_many_unclaimed",
                "More than \(limit) purchases are waiting under this token, so it cannot belong to one customer.",
                .separateTokens)
        case .notUnclaimed(let id):
            .unknown(
                "not_unclaimed",
                "The purchase \"\(id)\" is not waiting for a customer in the requested environment: a customer "
                    + "has it, or Deed has never seen it there.", .listUnclaimed)
        }
    }
}
