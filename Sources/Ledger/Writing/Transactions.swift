import Core
import Postgres
import SQL

extension Connection {
    /// Sends the calls in one round trip and passes the rows of each call to `each`, which throws
    /// if it cannot read them.
    mutating func read(
        _ calls: [Call], each: (Int, borrowing Rows) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        var unreadable: LedgerError?
        do throws(PostgresError) {
            try run(calls) { index, rows in
                if unreadable != nil { return }
                do throws(LedgerError) {
                    try each(index, rows)
                } catch {
                    unreadable = error
                }
            }
        } catch {
            throw .postgres(error)
        }
        if let unreadable { throw unreadable }
    }

    /// Returns one item for each row of the call's result.
    mutating func list<Item>(
        _ call: Call, _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(LedgerError) -> [Item] {
        var items: [Item] = []
        try read([call]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count { items.append(try item(rows, row)) }
        }
        return items
    }

    mutating func execute(_ calls: [Call]) throws(LedgerError) {
        try read(calls) { _, _ in }
    }

    /// Runs `body`, and rolls back anything that it left uncommitted.
    fileprivate mutating func settle<Outcome>(
        _ body: (inout Connection) throws(LedgerError) -> Outcome
    ) throws(PostgresError) -> Result<Outcome, LedgerError> {
        let result: Result<Outcome, LedgerError>
        do throws(LedgerError) {
            result = .success(try body(&self))
        } catch {
            if case .postgres(let error) = error {
                // A link also leaves a server that no longer accepts writes.
                if error.kind == .connection || error.isReadOnly { throw error }
            }
            // The next connection is compared with what has been seen of the log.
            if case .logShrunk = error {
                throw PostgresError(.connection, serverMessage: error.description)
            }
            result = .failure(error)
        }
        if !isIdle { try run([Statement.rollback()]) }
        return result
    }
}

extension Link {
    /// Runs `body` with a connection. If `body` leaves a transaction open, rolls it back.
    mutating func settled<Outcome>(
        _ body: (inout Connection) throws(LedgerError) -> Outcome
    ) throws(LedgerError) -> Outcome {
        try rethrowing(as: LedgerError.postgres) { () throws(PostgresError) in
            try use { connection throws(PostgresError) in try connection.settle(body) }
        }.get()
    }

    /// Returns one item for each row of the call's result.
    mutating func list<Item>(
        _ call: Call, _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(LedgerError) -> [Item] {
        try settled { connection throws(LedgerError) in try connection.list(call, item) }
    }
}

extension Pool {
    /// Runs `body` with a connection from the pool, and runs it again if the connection proves
    /// broken. Running `body` twice must be safe, unless it is said not to be repeatable.
    func settled<Outcome>(
        isRepeatable: Bool = true,
        _ body: (inout Connection) throws(LedgerError) -> Outcome
    ) throws(LedgerError) -> Outcome {
        do throws(LedgerError) {
            return try attempt(body)
        } catch {
            guard isRepeatable, case .postgres(let reason) = error, reason.kind == .connection
            else { throw error }
            return try attempt(body)
        }
    }

    private func attempt<Outcome>(
        _ body: (inout Connection) throws(LedgerError) -> Outcome
    ) throws(LedgerError) -> Outcome {
        try rethrowing(as: LedgerError.postgres) { () throws(PostgresError) in
            try use { connection throws(PostgresError) in try connection.settle(body) }
        }.get()
    }
}
