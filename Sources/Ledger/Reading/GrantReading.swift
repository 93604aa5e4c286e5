package import Core
import Postgres
import SQL

extension Ledger {
    /// Up to `limit` grants that fit, the newest first, behind a place in that order.
    package func grants(
        of project: ProjectID, _ environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(Fault) -> [GrantLead] {
        let binds: [Bind] = [
            .text(project.text), .text(environment.rawValue),
            .int8(last?.givenAt.milliseconds ?? .max), .text(last?.grant.text ?? ""),
            .text(filter.actor?.text), .text(filter.entitlement?.text), .text(filter.reason),
            .int8(filter.from?.milliseconds ?? .min), .int8(filter.to?.milliseconds ?? .max),
            .int8(filter.activeAt?.milliseconds), .int8(Int64(limit)),
        ]
        let call =
            if let ticket = filter.ticket {
                Call(statement: .listTicketGrants, binds: binds + [.text(ticket.text)])
            } else {
                Call(statement: .listGrants, binds: binds)
            }
        return try list(call) { rows, row throws(LedgerError) in
            GrantLead(
                customer: try rows.identifier(row, 0),
                place: GrantPlace(
                    givenAt: Instant(milliseconds: rows.int8(row, 2)),
                    grant: try rows.identifier(row, 1)))
        }
    }
}
