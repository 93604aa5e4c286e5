/// Why the queue does not take evidence, or does not end or retry an item.
package enum IntakeRefusal: Worded, Hashable, Sendable {
    case unknown(IntakeID)
    case ended(IntakeID, IntakeItem.State.Word)
    case queuedAgain(IntakeID)
    case full

    package var wording: RefusalWording {
        switch self {
        case .unknown(let id):
            .unknown(
                "intake_unknown",
                "The project's queue has no \"\(id)\"; items are deleted 90 days after they end.")
        case .ended(let id, let word):
            .conflict(
                "intake_ended",
                "\"\(id)\" is already \(word.rawValue); only a waiting or refused item can be ended, and "
                    + "only an item that was not believed can be retried.")
        case .queuedAgain(let id):
            .conflict(
                "intake_queued_again",
                "The evidence of \"\(id)\" was sent again and is waiting under another id; retry that item."
            )
        case .full:
            .full("intake_full", "The project's queue of evidence is full.", .inspectQueue)
        }
    }
}
