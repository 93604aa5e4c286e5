/// Why a customer cannot be erased or exported, or why a call came too late for that customer.
package enum ErasureRefusal: Worded, Hashable, Sendable {
    case erasedAlready(CustomerID, at: Instant)
    case neverErased(CustomerID)
    case exportTooLarge(limit: Int)
    case intentStale
    case doneBeforeErasure
    case purchaseErased

    package var wording: RefusalWording {
        switch self {
        case .erasedAlready(let id, let instant):
            .conflict(
                "already_erased",
                "The customer \"\(id)\" was erased at \(instant.text), and nothing has happened since.",
                .showErasure)
        case .neverErased(let id):
            .unknown("never_erased", "The customer \"\(id)\" was never erased.", .listErasures)
        case .exportTooLarge(let limit):
            .tooLarge(
                "answer_too_large",
                "The answer would have more than \(limit) bytes, the limit of one call.",
                .exportToFile)
        case .intentStale:
            .conflict(
                "intent_stale",
                "The intent is older than 15 minutes, was made for another customer, environment or choice of \"purchases\", "
                    + "or the customer has changed since. Ask for a new intent, check what it erases, and send it."
            )
        case .doneBeforeErasure:
            .mismatch(
                "done_before_erasure",
                "This call was sent before the customer was erased, and no longer counts; to start the customer anew, "
                    + "send the call again with a new key.")
        case .purchaseErased:
            .conflict(
                "purchase_erased",
                "This purchase was erased together with its holder, and can never have a holder again."
            )
        }
    }
}
