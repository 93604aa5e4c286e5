import API
import Commands
import Core
import Service

let refundCommands = [listRefundsCommand]

private let listRefundsCommand = CommandSpec(
    path: ["refund", "list"],
    summary: "Lists refunds that customers asked the store for, the most urgent first.",
    options: [
        .value("after", "PLACE", "only refunds after the place printed at the end of a list"),
        .value("limit", "COUNT", "for at most this many customers (default: 100)"),
        .environment, .project,
    ] + Option.database,
    onlyReads: true, example: "deed refund list"
) { invocation throws(CommandEnd) in
    let environment = try invocation.environment()
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 100
    let after = try invocation.place(by: RefundPlace.init, atEndOf: "list")
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(
            useCases.refunds.requests(of: project, in: environment, after: after, limit: limit))
        invocation.show(answer.json, text: answer.table)
    }
}

extension RefundRequestsAnswer {
    fileprivate var table: String {
        var lines = requests.map(\.line)
        if unread > 0 { lines.append("Some customers cannot be read (\(unread)); see: deed audit") }
        if lines.isEmpty {
            return "No refund of \(project) in \(environment) is waiting for an answer."
        }
        if let next { lines.append("There is more; continue with: --after \(next.text)") }
        return lines.joined(separator: "\n")
    }
}

extension RefundRequest {
    fileprivate var line: String {
        [
            "answer by \(fact.answerBy.text)", customer?.text ?? "no customer",
            fact.purchase.description, "transaction \(fact.transaction)", product?.text,
            fact.reasonName,
            consumption.isDelivered.map { $0 ? "delivered" : "not delivered" }
                ?? "not in the catalog",
            consumption.usedMilliPercent.map { "\($0 / 1000) % used" },
        ].compactMap(\.self).joined(separator: "   ")
    }
}
