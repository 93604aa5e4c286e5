package import Core

/// A purchase that support blocked, or whose block it took back.
package struct BlockAnswer: Hashable, Sendable {
    package let stream: Stream
    /// What was said last.
    package let change: BlockChanged
    package let isBlocked: Bool
    package let position: Position
}

/// How support lets purchases give nothing, whatever the store says.
package struct Blocks: Sendable {
    let secrets: Secrets

    /// The wish that the purchase gives nothing from now on; the same answer where that was done before.
    package func blocking(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<BlockAnswer> {
        let cause = secrets.cause(
            of: sender, "block", [purchase.description, reason.reason.text, reason.ticket?.text])
        return changing(
            BlockPurchase(
                purchase, isToHold: true, reason: reason.reason, ticket: reason.ticket),
            of: stream, sender.actor, cause)
    }

    /// The wish that the purchase gives again what the store says; the same answer where that was done before.
    package func unblocking(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<BlockAnswer> {
        let cause = secrets.cause(
            of: sender, "unblock", [purchase.description, reason.reason.text, reason.ticket?.text])
        return changing(
            BlockPurchase(
                purchase, isToHold: false, reason: reason.reason, ticket: reason.ticket),
            of: stream, sender.actor, cause)
    }

    private func changing(
        _ wish: BlockPurchase, of stream: Stream, _ actor: Actor, _ cause: Cause
    ) -> Wish<BlockAnswer> {
        let command = Command.customer(stream, actor: actor, cause: cause) {
            state, catalog, now throws(Refusal) in
            try state.decide(wish, by: catalog, now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            let recorded = outcome.events.first
            switch recorded?.event {
            case .purchaseBlocked(let change), .purchaseUnblocked(let change):
                return BlockAnswer(
                    stream: stream, change: change, isBlocked: wish.isToHold,
                    position: recorded?.position ?? outcome.position)
            default:
                guard let last = outcome.state.customer?.purchase(wish.purchase)?.blocks.last
                else { throw .fault(.broken("a block left nothing")) }
                let change = BlockChanged(
                    purchase: wish.purchase, at: last.until ?? last.since, reason: last.reason,
                    ticket: last.ticket)
                return BlockAnswer(
                    stream: stream, change: change, isBlocked: wish.isToHold,
                    position: outcome.position)
            }
        }
    }
}
