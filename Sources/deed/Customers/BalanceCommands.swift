import API
import Commands
import Core
import Service

let adjustCommand = CommandSpec(
    path: ["adjust"], summary: "Adds an amount to a customer's balance, or takes one away.",
    options: [
        .value("customer", "ID", "whose balance", isRequired: true),
        .value("currency", "ID", "which one", isRequired: true),
        .value(
            "amount", "NUMBER", "the amount to add; a negative amount is taken away",
            isRequired: true),
        .allowUnknown,
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.terms + Option.database,
    example: "deed adjust --customer u1 --currency coins --amount -50 --reason \"bought by a bot\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let terms = try invocation.terms()
    let wish = try invocation.adjustment()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let adjusting = useCases.balances.adjusting(
            wish, of: stream, by: sender, allowingUnknown: invocation.has("allow-unknown"))
        try invocation.fulfil(adjusting, on: terms, useCases) { moved in
            (
                moved.json(of: stream),
                "\(stream.customer) now has \(moved.balance) \(wish.currency)."
            )
        }
    }
}

let listBalancesCommand = CommandSpec(
    path: ["customer", "balances"],
    summary: "Shows a customer's balances, or the movements of one balance.",
    positionals: [customerPositional],
    options: [
        .value("currency", "ID", "show the movements of this balance, oldest first"),
        .value("after", "VERSION", "only movements after this version of the customer"),
        .value("limit", "COUNT", "at most this many movements (default: 100)"),
    ] + whom + Option.database,
    onlyReads: true, example: "deed customer balances u1 --currency coins"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let currency: CurrencyID? = try invocation.id("currency")
    let after = try invocation.integer("after", in: 0...Int.max)
    let limit = try invocation.integer("limit", in: 1...100_000)
    if currency == nil, after != nil || limit != nil {
        throw invocation.usage("--after and --limit need --currency")
    }
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        guard let currency else {
            let answer = try ask(useCases.customers.balances(of: stream))
            invocation.show(answer.json, text: answer.table)
            return
        }
        let answer = try ask(
            useCases.balances.movements(
                of: currency, in: stream, after: Int64(after ?? 0), limit: limit ?? 100))
        invocation.show(answer.json, text: answer.table)
    }
}

extension Invocation {
    fileprivate func adjustment() throws(CommandEnd) -> AdjustBalance {
        let currency: CurrencyID = try requiredID("currency")
        let reason = try adminReason()
        let limit = Int(Balances.limit)
        guard let amount = try integer("amount", in: -limit...limit) else {
            throw usage("--amount is missing")
        }
        return AdjustBalance(
            currency: currency, amount: Int64(amount), reason: reason.reason,
            ticket: reason.ticket)
    }
}

extension BalancesAnswer {
    fileprivate var table: String {
        let lines = balances.lines + (sandboxBalances?.sandboxLines ?? [])
        return lines.isEmpty
            ? "The customer \"\(stream.customer)\" has no balance in \(stream.environment)."
            : lines.joined(separator: "\n")
    }
}

extension Balances {
    var lines: [String] { currencies.map { "\($0)   \(self[$0])" } }

    /// The lines for sandbox balances, which follow those for production.
    var sandboxLines: [String] { lines.map { "\($0)   in the sandbox, never spent in production" } }
}

extension MovementsAnswer {
    fileprivate var table: String {
        if movements.isEmpty {
            return
                "\"\(stream.customer)\" has no \"\(currency)\" history in \(stream.environment)."
        }
        let more = next.map { ["There is more; continue with: --after \($0)"] } ?? []
        return (movements.map(\.line) + more).joined(separator: "\n")
    }
}

extension RecordedMovement {
    fileprivate var line: String {
        let sign = movement.amount < 0 ? "" : "+"
        let why =
            movement.purchase.map { "purchase \($0)" } ?? movement.reason?.text ?? "no reason given"
        return "\(recorded.version)   \(recorded.recordedAt.text)   \(recorded.event.type.name)   "
            + "\(sign)\(movement.amount)   leaves \(balance)   \(why)"
    }
}
