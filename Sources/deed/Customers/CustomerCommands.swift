import API
import Commands
import Core
import JSON
import Service

let customerCommands = [
    showCustomerCommand, explainCustomerCommand, timelineCommand, listEventsCommand,
    listBalancesCommand, listOrdersCommand,
]

/// Flags that identify a customer.
let whom: [Option] = [
    .value("customer", "ID", "the customer's id, as a flag"), .environment, .project,
]
let customerPositional = Positional(
    name: "CUSTOMER", help: "the customer's id", isRequired: false)

private let showCustomerCommand = CommandSpec(
    path: ["customer", "show"],
    summary: "Shows a customer: entitlements, purchases, grants, balances, orders.",
    positionals: [customerPositional],
    options: [
        .value("at", "INSTANT", "the instant to ask about (default: now)"),
        .value("known", "INSTANT", "only what was recorded by this instant (default: now)"),
    ] + whom + Option.database,
    onlyReads: true, example: "deed customer show u1 --at 2026-12-24T18:00:00Z"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let at = try invocation.instant("at")
    let known = try invocation.instant("known")
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try ask(useCases.customers.customer(stream, at: at, known: known))
        invocation.show(answer.json, text: answer.text)
    }
}

private let listEventsCommand = CommandSpec(
    path: ["customer", "events"], summary: "Shows a customer's events, oldest first.",
    positionals: [customerPositional],
    options: [
        .value("after", "VERSION", "only events after this version of the customer"),
        .value("limit", "COUNT", "at most this many (default: 100)"),
    ] + whom + Option.database,
    onlyReads: true, example: "deed customer events u1 --limit 20"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let after = try invocation.integer("after", in: 0...Int.max) ?? 0
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 100
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try ask(
            useCases.customers.events(of: stream, after: Int64(after), limit: limit))
        invocation.show(answer.json, text: answer.timeline)
    }
}

extension EventsAnswer {
    fileprivate var timeline: String {
        if entries.isEmpty {
            return "Nothing has happened to \"\(stream.customer)\" in \(stream.environment)."
        }
        let lines = entries.map { entry in
            "\(entry.recorded.version)   \(entry.recorded.recordedAt.text)   \(entry.type)   "
                + "by \(entry.recorded.actor)\(name(of: entry.recorded.actor))   "
                + (entry.isErased ? "erased" : entry.payload)
        }
        let more = next.map { ["There is more; continue with: --after \($0)"] } ?? []
        return (lines + more).joined(separator: "\n")
    }

    private func name(of actor: Actor) -> String { actorNames[actor].map { " (\($0))" } ?? "" }
}
