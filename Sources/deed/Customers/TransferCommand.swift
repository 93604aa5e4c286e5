import API
import Commands
import Core
import Service

let transferCommand = CommandSpec(
    path: ["transfer"],
    summary: "Moves a purchase to another customer, or back to the one it came from.",
    options: [
        .value("customer", "ID", "the customer who holds the purchase", isRequired: true),
        .value("purchase", "ID", "the purchase, such as apple:2000000123", isRequired: true),
        .value("to", "ID", "the new holder"),
        .flag("undo", "undo the purchase's last move, instead of --to"),
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.terms + Option.database,
    example:
        "deed transfer --customer u1 --purchase apple:2000000123 --to u2 --reason \"new phone\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let terms = try invocation.terms(concerning: invocation.has("undo") ? 1...2 : 2...2)
    let purchase = try invocation.purchaseOption()
    let receiver = try invocation.receiver()
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let wish =
            if let receiver {
                useCases.moves.transferring(
                    purchase, from: stream, to: receiver, reason: reason, by: sender)
            } else {
                useCases.moves.undoing(purchase, of: stream, reason: reason, by: sender)
            }
        try invocation.fulfil(wish, on: terms, useCases) { answer in
            (answer.json, "\(purchase) moved from \(stream.customer) to \(answer.moved.to).")
        }
    }
}

extension Invocation {
    func purchaseOption() throws(CommandEnd) -> PurchaseID {
        guard let text = self["purchase"], let purchase = PurchaseID(text) else {
            throw usage("--purchase takes a purchase's id like apple:2000000123")
        }
        return purchase
    }

    /// Returns the new holder, or `nil` to undo a move.
    fileprivate func receiver() throws(CommandEnd) -> CustomerID? {
        let receiver = try customer("to")
        if (receiver == nil) != has("undo") { throw usage("give either --to or --undo") }
        return receiver
    }
}
