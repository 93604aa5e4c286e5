import API
import Commands
import Core
import Service

let blockCommands = [blockCommand, unblockCommand]

private let purchaseOfCustomer: [Option] = [
    .value("customer", "ID", "the customer who holds the purchase", isRequired: true),
    .value("purchase", "ID", "the purchase, as in apple:2000000123", isRequired: true),
]

private let blockCommand = CommandSpec(
    path: ["block"],
    summary:
        "Blocks a purchase, so that it gives neither access nor coins, regardless of the store.",
    options: purchaseOfCustomer + reasons + [.environment, .idempotencyKey, .project]
        + Option.terms + Option.database,
    example:
        "deed block --customer u1 --purchase apple:2000000123 --reason \"bought with a stolen card\""
) { invocation throws(CommandEnd) in
    try invocation.changeBlock(as: "is blocked") { blocks, purchase, stream, reason, sender in
        blocks.blocking(purchase, of: stream, reason: reason, by: sender)
    }
}

private let unblockCommand = CommandSpec(
    path: ["unblock"], summary: "Removes the block from a purchase.",
    options: purchaseOfCustomer + reasons + [.environment, .idempotencyKey, .project]
        + Option.terms + Option.database,
    example:
        "deed unblock --customer u1 --purchase apple:2000000123 --reason \"it was the owner's card\""
) { invocation throws(CommandEnd) in
    try invocation.changeBlock(as: "is no longer blocked") {
        blocks, purchase, stream, reason, sender in
        blocks.unblocking(purchase, of: stream, reason: reason, by: sender)
    }
}

extension Invocation {
    fileprivate func changeBlock(
        as words: String,
        _ wish: (Blocks, PurchaseID, Core.Stream, AdminReason, Sender) -> Wish<BlockAnswer>
    ) throws(CommandEnd) {
        let stream = try stream()
        let terms = try terms()
        let purchase = try purchaseOption()
        let reason = try adminReason()
        let sender = try sender()
        try withUseCases(in: stream.project) { useCases throws(CommandEnd) in
            let wish = wish(useCases.blocks, purchase, stream, reason, sender)
            try fulfil(wish, on: terms, useCases) { answer in
                (
                    answer.json,
                    "\(purchase) of \(stream.customer) \(words), since \(answer.change.at.text)."
                )
            }
        }
    }
}
