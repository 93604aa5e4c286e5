package import Core
import Crypto
import JSON
import Postgres
import SQL

extension Ledger {
    /// Returns the places in a project's rows that match these words, in one round trip: up to `limit` of each kind,
    /// plus one.
    package func leads(
        _ words: FindWords, in project: ProjectID, _ environments: [Environment], limit: Int
    ) throws(Fault) -> FoundLeads {
        let question = FindQuestion(words, project, environments, limit: limit)
        let parts = question.parts
        return try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                var found = FoundLeads()
                try connection.read(parts.map(\.call)) { index, rows throws(LedgerError) in
                    let leads = try question.leads(of: parts[index].kind, rows, unread)
                    if leads.count > limit || question.isCutOff(parts[index].kind, rows) {
                        found.isCutOff = true
                    }
                    for lead in leads {
                        if lead.kind == .customer, lead.id != words.text {
                            found.beginning.append(lead)
                        } else {
                            found.exact.append(lead)
                        }
                    }
                }
                found.exact.sort { ($0.rank, $0.customer, $0.id) < ($1.rank, $1.customer, $1.id) }
                found.beginning.sort { ($0.customer, $0.rank) < ($1.customer, $1.rank) }
                return found
            }
        }
    }
}

/// The statements for one question.
private struct FindQuestion {
    enum Kind {
        case names, customers, event, ticket
        case accounts(Environment)
    }

    let words: FindWords
    private let project: ProjectID
    private let environments: [Environment]
    private let limit: Int64

    init(_ words: FindWords, _ project: ProjectID, _ environments: [Environment], limit: Int) {
        self.words = words
        self.project = project
        self.environments = environments
        self.limit = Int64(limit) + 1
    }

    var parts: [(kind: Kind, call: Call)] {
        let inAll = Bind.texts(environments.map(\.rawValue))
        let original = words.purchase?.original.text ?? words.text
        var parts: [(kind: Kind, call: Call)] = [
            (
                .names,
                Statement.findNames(
                    .text(project.text), inAll, .text(words.text), .text(original),
                    .text(words.purchase?.store.rawValue), .text(words.token?.text), .int8(limit))
            ),
            (
                .customers,
                Statement.findCustomers(
                    .text(project.text), inAll, .text(words.text), .text(words.end), .int8(limit))
            ),
        ]
        if let event = words.event {
            let call = Statement.findEvent(
                .int2(event.position.shard.number), .int8(event.position.sequence),
                .text(project.text), inAll)
            parts.append((.event, call))
        }
        if let ticket = try? Ticket(words.text) {
            let call = Statement.findTicket(
                .text(project.text), inAll, .text(ticket.text),
                .text(JSON.string(ticket.text).text), .int8(limit))
            parts.append((.ticket, call))
        }
        for environment in environments {
            let accounts = Statement.findAccount(
                .text(project.text), .text(environment.rawValue),
                .text(JSON.array([.string(words.text)]).text), .int8(limit))
            parts.append((.accounts(environment), accounts))
        }
        return parts
    }

    /// Returns the matches in the rows. An unreadable row is recorded and skipped.
    func leads(
        of kind: Kind, _ rows: borrowing Rows, _ unread: UnreadStreams
    ) throws(LedgerError) -> [FoundLead] {
        var leads: [FoundLead] = []
        for row in 0..<rows.count {
            let found = try rows.readable(row, unread) { rows, row in
                subject(of: kind, rows, row)
            } _: { rows, row throws(LedgerError) -> FoundLead? in
                try lead(of: kind, rows, row)
            }
            if let lead = found ?? nil { leads.append(lead) }
        }
        return leads
    }

    private func lead(
        of kind: Kind, _ rows: borrowing Rows, _ row: Int
    ) throws(LedgerError) -> FoundLead? {
        switch kind {
        case .names: return try name(rows, row)
        case .customers:
            let customer: CustomerID = try rows.identifier(row, 0)
            return FoundLead(
                .customer, customer.text, in: try environment(rows, row, 1), of: customer)
        case .event: return try event(rows, row)
        case .ticket:
            var lead = FoundLead(
                .ticket, words.text, in: try environment(rows, row, 1),
                of: try rows.identifier(row, 0))
            lead.version = rows.optionalInt8(row, 2)
            return lead
        case .accounts(let environment):
            var lead = FoundLead(
                .account, words.text, in: environment, of: try rows.identifier(row, 0))
            lead.purchase = lead.customer.unclaimed
            return lead
        }
    }

    /// Returns the subject named in the row, exactly as stored.
    private func subject(of kind: Kind, _ rows: borrowing Rows, _ row: Int) -> UnreadSubject {
        switch kind {
        case .names:
            UnreadSubject(project.text, rows.text(row, 1), rows.text(row, 2), row: "names")
        case .customers:
            UnreadSubject(project.text, rows.text(row, 1), rows.text(row, 0), row: "customers")
        case .event: UnreadSubject(project.text, rows.text(row, 1), rows.text(row, 0))
        case .ticket:
            UnreadSubject(
                project.text, rows.text(row, 1), rows.text(row, 0),
                row: rows.optionalInt8(row, 2) == nil ? "customer_grants" : nil)
        case .accounts(let environment):
            UnreadSubject(project.text, environment.rawValue, rows.text(row, 0), row: "customers")
        }
    }

    /// Returns whether a ticket has more matches than were examined.
    func isCutOff(_ kind: Kind, _ rows: borrowing Rows) -> Bool {
        guard case .ticket = kind, rows.count > 0 else { return false }
        return rows.bool(0, 3)
    }

    private func name(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) -> FoundLead {
        guard let kind = FoundKind(rawValue: rows.text(row, 0)) else {
            throw .unreadable("the kind of a name")
        }
        var lead = FoundLead(
            kind, rows.text(row, 5), in: try environment(rows, row, 1),
            of: try rows.identifier(row, 2))
        if let store = rows.optionalText(row, 3) {
            guard let store = Store(rawValue: store) else {
                throw .unreadable("the store of a purchase")
            }
            lead.purchase = PurchaseID(store: store, original: try rows.identifier(row, 4))
        }
        return lead
    }

    /// Returns the event; `nil` if its id belongs to a different event at the same place.
    private func event(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) -> FoundLead? {
        guard let asked = words.event else { return nil }
        let mark = rows.bytes(row, 3).hex
        if let wanted = asked.mark, wanted != mark { return nil }
        let position = asked.position
        var lead = FoundLead(
            .event, "\(position.shard.number)-\(position.sequence)-\(mark)",
            in: try environment(rows, row, 1), of: try rows.identifier(row, 0))
        lead.version = rows.int8(row, 2)
        lead.purchase = lead.customer.unclaimed
        return lead
    }

    private func environment(
        _ rows: borrowing Rows, _ row: Int, _ column: Int
    ) throws(LedgerError) -> Environment {
        guard let environment = Environment(rawValue: rows.text(row, column)) else {
            throw .unreadable("the environment of a name")
        }
        return environment
    }
}

extension FoundLead {
    /// The rank of a match: by kind, with production first.
    fileprivate var rank: Int {
        let kind = FoundKind.allCases.firstIndex(of: kind) ?? 0
        return 2 * kind + (environment == .production ? 0 : 1)
    }
}
