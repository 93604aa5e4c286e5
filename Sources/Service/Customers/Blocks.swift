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

    /// The wish that the purchase gives nothing from now on. A repetition gets the same answer.
    package func blocking(
        _ purchase: PurchaseID, of stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<BlockAnswer> {
        changing(purchase, isToHold: true, "block", of: stream, reason, by: sender)
    }

    /// The wish that the store decides again what the purchase gives. A repetition gets the same answer.
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
