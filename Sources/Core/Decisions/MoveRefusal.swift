/// Why a purchase cannot get a holder, move, or be blocked.
package enum MoveRefusal: Worded, Hashable, Sendable {
    case heldByAnother
    case accountShared
    case movedRecently(until: Instant)
    case unknown(PurchaseID)
    case alreadyHeld(PurchaseID)
    /// The purchase came from a customer who has since been merged into its holder, so no move is left to undo.
    case cameFromPart(PurchaseID, CustomerID)
    case neverMoved(PurchaseID)
    case notBlocked(PurchaseID)
    case boundByBalance(PurchaseID)
    case changedMeanwhile(PurchaseID)

    package var wording: RefusalWording {
        switch self {
        case .heldByAnother:
            .conflict(
                "held_by_another", "Another customer holds this purchase; an admin can transfer it."
            )
        case .accountShared:
            .conflict(
                "account_shared",
                "This store account's app transaction was already submitted for as many customers as the project allows.",
                .allowMoreCustomersPerAccount)
        case .movedRecently(let end):
            .conflict(
                "moved_recently",
                "The purchase was moved recently and cannot move again until \(end.text); try again then."
            )
        case .unknown(let id):
            .unknown(
                "purchase_unknown",
                "The customer does not hold the purchase \"\(id)\" in the requested environment.",
                .showCustomer)
        case .alreadyHeld(let id):
            .conflict(
                "already_held",
                "The customer already holds the purchase \"\(id)\"; there is nothing to move.")
        case .cameFromPart(let id, let part):
            .conflict(
                "already_held",
                "The purchase \"\(id)\" came from \"\(part)\", who has since been merged into its holder; undo that merge first."
            )
        case .neverMoved(let id):
            .conflict(
                "never_moved",
                "The purchase \"\(id)\" is with its first holder; there is no move to undo.")
        case .notBlocked(let id):
            .conflict(
                "not_blocked", "The purchase \"\(id)\" was never blocked; there is nothing to undo."
            )
        case .boundByBalance(let id):
            .conflict(
                "bound_by_balance",
                "The purchase \"\(id)\" credited a balance, and balances never move; adjust them instead."
            )
        case .changedMeanwhile(let id):
            .conflict(
                "purchase_changed_meanwhile",
                "The purchase \"\(id)\" changed at the same moment; check who holds it and try again."
            )
        }
    }
}
