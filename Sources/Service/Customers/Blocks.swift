package import Core

/// A purchase that support staff blocked or unblocked.
package struct BlockAnswer: Hashable, Sendable {
    package let stream: Stream
    /// The latest block or unblock.
    package let change: BlockChanged
    package let isBlocked: Bool
    package let position: Position
}

/// Lets support staff block purchases. A blocked purchase does not give access, whatever the store
/// says.
package struct Blocks: Sendable {
    let secrets: Secrets

    /// Returns a request to block a purchase. Repeating it returns the same answer.
    package func blocking(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<BlockAnswer> {
        changing(purchase, isToHold: true, "block", of: stream, reason, by: sender)
    }

    /// Returns a request to unblock a purchase, so that the store's statements apply again. A repetition gets the same
    /// answer.
    package func unblocking(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<BlockAnswer> {
        changing(purchase, isToHold: false, "unblock", of: stream, reason, by: sender)
    }

    private func changing(
        _ purchase: PurchaseID, isToHold: Bool, _ deed: StaticString, of stream: Stream,
        _ reason: AdminReason, by sender: Sender
    ) -> Wish<BlockAnswer> {
        let wish = BlockPurchase(
            purchase, isToHold: isToHold, reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, deed, [purchase.description, reason.reason.text, reason.ticket?.text])
        let command = Command.customer(stream, actor: sender.actor, cause: cause) {
            state, catalog, now throws(Refusal) in
            try state.decide(wish, by: catalog, now: now)
        }
        return Wish(command, telling: \.blockChange) { recorded in
            BlockAnswer(
                stream: stream, change: recorded.told, isBlocked: wish.isToHold,
                position: recorded.position)
        } otherwise: { outcome throws(CommandError) in
            guard let last = outcome.state.customer?.purchase(wish.purchase)?.blocks.last
            else { throw .fault(.broken("blocking a purchase recorded no block")) }
            let change = BlockChanged(
                purchase: wish.purchase, at: last.until ?? last.since, reason: last.reason,
                ticket: last.ticket)
            return BlockAnswer(
                stream: stream, change: change, isBlocked: wish.isToHold,
                position: outcome.position)
        }
    }
}

extension Event {
    fileprivate var blockChange: BlockChanged? {
        switch self {
        case .purchaseBlocked(let change), .purchaseUnblocked(let change): change
        default: nil
        }
    }
}
