package import Core
import Postgres
import SQL

extension Ledger {
    /// The maximum number of rows to examine if not all of them match.
    private static let grantLook = 20_000

    /// Returns up to `limit` matching grants, newest first, after a place in that order.
    package func grants(
        of project: ProjectID, _ environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(Fault) -> GrantLeads {
        let look = filter.leavesOutLittle ? limit : max(limit, Ledger.grantLook)
        let call = Statement.listing(
            filter, of: project, environment, after: last, limit: limit, look: look)
        let rows = try list(call) { rows, row throws(LedgerError) in
            let place = (try? GrantID(rows.text(row, 1))).map {
                GrantPlace(givenAt: Instant(milliseconds: rows.int8(row, 2)), grant: $0)
            }
            guard rows.bool(row, 3) else {
                return (lead: GrantLead?.none, place: place, fits: false)
            }
            let lead = try rows.readable(row, unread) { rows, row in
                UnreadSubject(
                    project.text, environment.rawValue, rows.text(row, 0), row: "customer_grants")
            } _: { rows, row throws(LedgerError) -> GrantLead in
                guard let place else { throw .unreadable("the id of a grant") }
                return GrantLead(customer: try rows.identifier(row, 0), place: place)
            }
            return (lead: lead, place: place, fits: true)
        }
        let leads = rows.compactMap(\.lead)
        let fitting = rows.filter(\.fits)
        // The list continues even after unreadable rows.
        let isShortened = fitting.count == limit && leads.count < limit
        return GrantLeads(
            leads: leads,
            lookedUntil: isShortened
                ? fitting.compactMap(\.place).last : rows.first { !$0.fits }?.place)
    }
}

extension Statement {
    /// Finds grants by the index of all grants.
    static let listAnyGrants = Statement.listGrants.filled([
        "found": "g.project || '/' || g.environment = $1::text || '/' || $2::text"
    ])
    /// Finds grants by the index of tickets.
    static let listTicketGrants = Statement.listGrants.filled(["found": "g.ticket = $13::text"])

    /// Returns the call that lists the matching grants among the `look` newest.
    fileprivate static func listing(
        _ filter: GrantFilter, of project: ProjectID, _ environment: Environment,
        after last: GrantPlace?, limit: Int, look: Int
    ) -> Call {
        let binds: [Bind] = [
            .text(project.text), .text(environment.rawValue),
            .int8(last?.givenAt.milliseconds ?? .max), .text(last?.grant.text ?? ""),
            .text(filter.actor?.text), .text(filter.entitlement?.text), .text(filter.reason),
            .int8(filter.from?.milliseconds ?? .min), .int8(filter.to?.milliseconds ?? .max),
            .int8(filter.activeAt?.milliseconds), .int8(Int64(limit)), .int8(Int64(look)),
        ]
        guard let ticket = filter.ticket else {
            return Call(statement: .listAnyGrants, binds: binds)
        }
        return Call(statement: .listTicketGrants, binds: binds + [.text(ticket.text)])
    }
}
