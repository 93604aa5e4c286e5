package import Core
import JSON
import Postgres
import SQL

extension Ledger {
    /// Returns some customers whose evidence names that store account, in order. Rows lead to the customers. If a
    /// customer's events do not support the row, the call fails.
    package func customers(
        of account: AppTransactionID, in project: ProjectID, _ environment: Environment, limit: Int
    ) throws(Fault) -> [CustomerID] {
        let call = Statement.findAccount(
            .text(project.text), .text(environment.rawValue),
            .text(JSON.array([.string(account.text)]).text), .int8(Int64(limit)))
        let customers = try readable(
            call,
            of: { rows, row in
                UnreadSubject(
                    project.text, environment.rawValue, rows.text(row, 0), row: "customers")
            }
        ) { rows, row throws(LedgerError) -> CustomerID in try rows.identifier(row, 0) }
        let streams = customers.map {
            Stream(project: project, environment: environment, customer: $0)
        }
        for (stream, snapshot) in zip(streams, streams.isEmpty ? [] : try self.customers(streams)) {
            // An unreadable customer still counts as belonging to the account.
            guard let state = try? snapshot.get().customer else { continue }
            // Rows about an erased customer are ignored.
            if state.isErased || state.appTransactions.contains(account) { continue }
            throw .rowUnproven(of: stream, account)
        }
        return customers
    }

    /// Returns some customers with a refund request that can still be answered, starting after a given place. The most
    /// urgent come first.
    package func refundRequests(
        of project: ProjectID, _ environment: Environment, at now: Instant,
        after last: RefundPlace?,
        limit: Int
    ) throws(Fault) -> [RefundPlace] {
        let place: [Bind] = [
            .int8(last?.answerBy.milliseconds ?? .min), .text(last?.customer.text ?? ""),
        ]
        let listed = RowList { place, limit in
            let binds: [Bind] = [
                .text(project.text), .text(environment.rawValue), .int8(now.milliseconds),
            ]
            return Call(statement: .listRefundRequests, binds: binds + place + [limit])
        } place: { rows, row in
            [.int8(rows.int8(row, 1)), .text(rows.text(row, 0))]
        } subject: { rows, row in
            UnreadSubject(project.text, environment.rawValue, rows.text(row, 0), row: "customers")
        } item: { rows, row throws(LedgerError) -> RefundPlace in
            RefundPlace(
                answerBy: Instant(milliseconds: rows.int8(row, 1)),
                customer: try rows.identifier(row, 0))
        }
        return try page(after: place, limit: limit, listed)
    }

    /// Returns the projects and environments with unanswered refund requests that can still be answered after an
    /// instant.
    package func askedRefunds(after instant: Instant) throws(Fault) -> [ProjectPart] {
        try readable(
            Statement.listAskedRefunds(.int8(instant.milliseconds)),
            of: { rows, row in
                UnreadSubject(rows.text(row, 0), rows.text(row, 1), "", row: "customers")
            }
        ) { rows, row throws(LedgerError) -> ProjectPart in
            guard let environment = Environment(rawValue: rows.text(row, 1)) else {
                throw .unreadable("the environment of a refund")
            }
            return ProjectPart(
                project: try rows.identifier(row, 0), environment: environment)
        }
    }
}

extension Fault {
    fileprivate static func rowUnproven(
        of stream: Stream, _ account: AppTransactionID
    ) -> Fault {
        .rowUnproven(
            "A row of deed.customers says that in \(stream.project), \(stream.environment), "
                + "\(stream.customer) has the account \(account), but no event does: something other than "
                + "Deed wrote the row. Deed does not rely on it.")
    }
}
