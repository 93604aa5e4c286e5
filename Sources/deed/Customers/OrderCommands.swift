import API
import Commands
import Core
import Service

let orderCommands = [showOrderCommand, closeOrderCommand]

let listOrdersCommand = CommandSpec(
    path: ["customer", "orders"], summary: "Lists a customer's orders, oldest first.",
    positionals: [customerPositional],
    options: [
        .value("after", "COUNT", "skip this many of the oldest orders"),
        .value("limit", "COUNT", "at most this many (default: 100)"),
    ] + whom + Option.database,
    onlyReads: true, example: "deed customer orders u1"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let after = try invocation.integer("after", in: 0...Int(Int32.max)) ?? 0
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 100
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try ask(useCases.orders.list(of: stream, after: after, limit: limit))
        invocation.show(answer.json, text: answer.table)
    }
}

private let showOrderCommand = CommandSpec(
    path: ["order", "show"], summary: "Shows an order and its customer.",
    positionals: [Positional(name: "ORDER", help: "the order's id")],
    options: [.environment, .project] + Option.database,
    onlyReads: true, example: "deed order show o_4x1k9d"
) { invocation throws(CommandEnd) in
    let id: OrderID = try invocation.id(invocation.positional(0) ?? "", named: "the order's id")
    let environment = try invocation.environment()
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(useCases.orders.find(id, of: project, in: environment))
        invocation.show(answer.json, text: answer.line)
    }
}

private let closeOrderCommand = CommandSpec(
    path: ["order", "close"],
    summary: "Closes an order that was cancelled or settled manually.",
    options: [
        .value("customer", "ID", "the customer who holds it", isRequired: true),
        .value("order", "ID", "the order's id", isRequired: true),
        .value(
            "because", "CAUSE",
            "cancelled, or settled if support delivered the order to the customer",
            isRequired: true),
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.database,
    example:
        "deed order close --customer u1 --order o_4x1k9d --because settled --reason \"gave it\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let order: OrderID = try invocation.requiredID("order")
    guard let word: OrderClosed.Word = try invocation.word("because") else {
        throw invocation.usage("--because is missing")
    }
    let cause = word.cause(try invocation.adminReason())
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            useCases.orders.closing(order, because: cause, of: stream, by: sender))
        invocation.show(answer.json, text: answer.line)
    }
}

extension OrderAnswer {
    fileprivate var line: String { "\(stream.customer)   \(order.line(at: at))" }
}

extension OrdersAnswer {
    fileprivate var table: String {
        if orders.isEmpty {
            return "The customer \"\(stream.customer)\" has no orders in \(stream.environment)."
        }
        let more = next.map { ["There is more; continue with: --after \($0)"] } ?? []
        return (orders.map { $0.line(at: at) } + more).joined(separator: "\n")
    }
}

extension Order {
    func line(at instant: Instant) -> String {
        let product = opened.product.map { " of \($0)" } ?? ""
        let purchase = fulfilled.map { " by \($0.purchase)" } ?? ""
        return "\(id)\(product)   \(state(at: instant).rawValue)\(purchase)   opened "
            + "\(opened.openedAt.text), until \(opened.expires.text)   token \(opened.token)"
    }
}
