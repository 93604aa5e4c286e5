import API
import Commands
import Core
import Service

let unclaimedCommands = [listUnclaimedCommand, showUnclaimedCommand, attachCommand]

private let purchasePositional = Positional(
    name: "PURCHASE", help: "the purchase, such as apple:2000000123")

private let listUnclaimedCommand = CommandSpec(
    path: ["unclaimed", "list"], summary: "Lists purchases that no customer claimed.",
    options: [
        .value("after", "PURCHASE", "only purchases after this one"),
        .value("limit", "COUNT", "at most this many (default: 100)"),
        .environment, .project,
    ] + Option.database,
    onlyReads: true, example: "deed unclaimed list --limit 20"
) { invocation throws(CommandEnd) in
    let environment = try invocation.environment()
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 100
    let after = try invocation["after"].map { text throws(CommandEnd) in
        try invocation.purchase(text, named: "--after")
    }
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(
            useCases.unclaimed.list(of: project, in: environment, after: after, limit: limit))
        invocation.show(answer.json, text: answer.table)
    }
}

private let showUnclaimedCommand = CommandSpec(
    path: ["unclaimed", "show"],
    summary: "Shows what is known about a purchase that no customer claimed.",
    positionals: [purchasePositional],
    options: [.environment, .project] + Option.database,
    onlyReads: true, example: "deed unclaimed show apple:2000000123"
) { invocation throws(CommandEnd) in
    let purchase = try invocation.purchase()
    let environment = try invocation.environment()
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(useCases.unclaimed.find(purchase, of: project, in: environment))
        invocation.show(answer.wholeJSON, text: answer.text)
    }
}

private let attachCommand = CommandSpec(
    path: ["unclaimed", "attach"],
    summary: "Gives a purchase that no customer claimed to a customer.",
    positionals: [purchasePositional],
    options: [.value("customer", "ID", "the new holder", isRequired: true)]
        + reasons + [.environment, .idempotencyKey, .project] + Option.terms + Option.database,
    example: "deed unclaimed attach apple:2000000123 --customer u1 --reason \"sent us the invoice\""
) { invocation throws(CommandEnd) in
    let purchase = try invocation.purchase()
    let stream = try invocation.stream(of: invocation["customer"] ?? "")
    let terms = try invocation.terms()
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let wish = useCases.unclaimed.attaching(purchase, to: stream, reason: reason, by: sender)
        try invocation.fulfil(wish, on: terms, useCases) { answer in
            (answer.json, "\(stream.customer) now holds \(purchase).")
        }
    }
}

extension Invocation {
    fileprivate func purchase() throws(CommandEnd) -> PurchaseID {
        try purchase(positional(0) ?? "", named: "the purchase")
    }

    fileprivate func purchase(
        _ text: String, named name: String
    ) throws(CommandEnd) -> PurchaseID {
        guard let purchase = PurchaseID(text) else {
            throw usage("\(name) must be a purchase's id like apple:2000000123")
        }
        return purchase
    }
}

extension UnclaimedListAnswer {
    fileprivate var table: String {
        if purchases.isEmpty { return "No purchase of \(project) in \(environment) is unclaimed." }
        let more = next.map { ["There is more; continue with: --after \($0)"] } ?? []
        return (purchases.map(\.line) + more).joined(separator: "\n")
    }
}

extension UnclaimedAnswer {
    fileprivate var line: String {
        let products = purchase.products.map(\.text).joined(separator: ", ")
        let tokens = tokens.isEmpty ? "no token" : "token \(tokens.joined(separator: ", "))"
        return
            "\(stream.customer.unclaimed ?? purchase.id)   \(products)   since \(since.text)   \(tokens)"
    }

    fileprivate var text: String {
        let transactions = purchase.evidence.map(\.effective).map { fact in
            let end = fact.expires.map { " until \($0.text)" } ?? ""
            let revoked = fact.revocation.map { ", revoked at \($0.at.text)" } ?? ""
            return "  transaction \(fact.transaction)   \(fact.product)   "
                + "\(fact.purchased.text)\(end)\(revoked)"
        }
        return ([line] + transactions).joined(separator: "\n")
    }
}
