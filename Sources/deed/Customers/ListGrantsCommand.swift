import API
import Commands
import Core
import Service

let listGrantsCommand = CommandSpec(
    path: ["grant", "list"], summary: "Lists the grants that staff gave, newest first.",
    options: [
        .value("ticket", "ID", "only grants for this support case"),
        .value("actor", "NAME", "only grants by this key or person, as in key:k_7fj2 or cli:ann"),
        .value("entitlement", "ID", "only grants of this entitlement"),
        .value("reason", "WORDS", "only grants with these words in the reason"),
        .value("from", "INSTANT", "only grants given at this instant or later"),
        .value("to", "INSTANT", "only grants given before this instant"),
        .value("active-at", "INSTANT", "only grants that give access at this instant"),
        .value("after", "PLACE", "only grants after this place, printed at the end of a page"),
        .value("limit", "COUNT", "at most this many (default: 100)"),
        .environment, .project,
    ] + Option.database,
    onlyReads: true, example: "deed grant list --ticket T-7"
) { invocation throws(CommandEnd) in
    let filter = try invocation.grantFilter()
    let environment = try invocation.environment()
    let limit = try invocation.integer("limit", in: 1...1000) ?? 100
    let after = try invocation.place(by: GrantPlace.init, atEndOf: "page")
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(
            useCases.grantLists.list(
                of: project, in: environment, filter, after: after, limit: limit))
        invocation.show(answer.json, text: answer.table)
    }
}

extension Invocation {
    fileprivate func grantFilter() throws(CommandEnd) -> GrantFilter {
        var filter = GrantFilter()
        filter.ticket = try id("ticket")
        filter.actor = try id("actor")
        filter.entitlement = try id("entitlement")
        let reason: Reason? = try id("reason")
        if reason?.isBlank == true {
            throw usage("--reason is blank; give words from the reason")
        }
        filter.reason = reason?.text
        (filter.from, filter.to) = try period()
        filter.activeAt = try instant("active-at")
        return filter
    }
}

extension GrantListAnswer {
    fileprivate var table: String {
        if grants.isEmpty, next == nil {
            return "No grant of \(project) in \(environment) matches."
        }
        let more =
            next.map { next in
                grants.isEmpty
                    ? [
                        "None of the newest grants match; for older ones, continue with: --after \(next.text)"
                    ]
                    : ["There is more; continue with: --after \(next.text)"]
            } ?? []
        return (grants.map { $0.line(actorNames) } + more).joined(separator: "\n")
    }
}

extension ListedGrant {
    fileprivate func line(_ names: [Actor: String]) -> String {
        let start = bounds.start.map { "since \($0.text)" } ?? "after access that has no end"
        let end = bounds.end.map { "until \($0.text)" } ?? "with no end"
        let fate = grant.revocation.map { ", revoked at \($0.at.text)" } ?? ""
        let given = grant.givenAt.map { "given at \($0.text)" } ?? ""
        let name = grant.givenBy.flatMap { names[$0] }.map { " (\($0))" } ?? ""
        let giver = grant.givenBy.map { " by \($0)\(name)" } ?? ""
        let ticket = grant.given.ticket.map { "   ticket \($0)" } ?? ""
        return "\(customer)   \(grant.id)   \(grant.given.entitlement)   \(start), \(end)\(fate)   "
            + "\(given)\(giver): \(grant.given.reason)\(ticket)"
    }
}
