import API
import Commands
import Core
import Service

let trailCommand = CommandSpec(
    path: ["trail"],
    summary: "Lists what people and their keys did, and what they were refused, newest first.",
    options: [
        .value("actor", "NAME", "only entries by this key or person, as in key:k_7fj2 or cli:ann"),
        .value("customer", "ID", "only entries about this customer"),
        .value(
            "action", "NAME", "only an event's type such as grant.given, or only a refused call"),
        .value("ticket", "ID", "only entries for this support case"),
        .value("from", "INSTANT", "only entries at this instant or later"),
        .value("to", "INSTANT", "only entries before this instant"),
        .value("environment", "NAME", "only entries in production or sandbox (default: both)"),
        .value("after", "PLACE", "only entries after the end of an earlier page"),
        .value("limit", "COUNT", "at most this many (default: 100)"), .project,
    ] + Option.database,
    onlyReads: true, example: "deed trail --ticket T-2"
) { invocation throws(CommandEnd) in
    let filter = try invocation.trailFilter()
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 100
    let project = try invocation.project()
    let after = try invocation.place(by: TrailPlace.init, atEndOf: "page")
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(
            useCases.trails.list(of: project, filter, after: after, limit: limit))
        invocation.show(answer.json, text: answer.table)
    }
}

extension Invocation {
    fileprivate func trailFilter() throws(CommandEnd) -> TrailFilter {
        var filter = TrailFilter()
        filter.actor = try id("actor")
        filter.customer = try id("customer")
        filter.action = try action()
        filter.ticket = try id("ticket")
        (filter.from, filter.to) = try period()
        filter.environment = try word("environment")
        return filter
    }

    /// Returns the type of act to search for, or a refused call such as `POST /v1/find`.
    private func action() throws(CommandEnd) -> String? {
        guard let action = self["action"] else { return nil }
        let acts = EventType.allCases.filter(\.isAct).map(\.name)
        if action.contains(" ") || acts.contains(action) { return action }
        let hint = nearest(to: action, among: acts).map { "; the nearest type is \($0)" } ?? ""
        throw usage(
            "--action names neither a type of act nor a call such as \"POST /v1/find\"\(hint)")
    }
}

extension TrailAnswer {
    fileprivate var table: String {
        if entries.isEmpty, next == nil { return "No entry of \(project) matches." }
        let more = next.map { ["There is more; continue with: --after \($0.text)"] } ?? []
        return (entries.map { $0.line(actorNames) } + more).joined(separator: "\n")
    }
}

extension TrailEntry {
    fileprivate func line(_ names: [Actor: String]) -> String {
        let name = names[actor].map { " (\($0))" } ?? ""
        switch self {
        case .act(let act):
            let (reason, ticket) = (act.why.reason, act.why.ticket)
            let whom = act.stream.isOfProject ? "" : "   \(act.stream.customer)"
            return "\(place.at.text)   \(act.type)\(whom)   by \(actor)\(name)"
                + (reason.map { ": \($0)" } ?? "") + (ticket.map { "   ticket \($0)" } ?? "")
                + "   \(act.position)"
        case .refusal(let call):
            let whom = call.customer.map { "   \($0)" } ?? ""
            let refused = call.isRefused ? "   refused: \(call.code)" : ""
            return
                "\(place.at.text)\(refused)   \(call.call)\(whom)   by \(actor)\(name)"
                + (call.reason.map { ": \($0)" } ?? "")
                + (call.ticket.map { "   ticket \($0)" } ?? "")
        }
    }
}
