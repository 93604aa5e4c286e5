package import Core
import Postgres
import SQL

// Apps' store credentials, encrypted and stored outside the log.
extension Ledger {
    package func credentials(of app: StoreApp) throws(Fault) -> SealedCredentials? {
        try credentials(
            .text(app.project.text), .text(app.key.store.rawValue), .text(app.key.id.text)
        ).first
    }

    package func credentials(of project: ProjectID) throws(Fault) -> [SealedCredentials] {
        try credentials(.text(project.text), .text(nil), .text(nil))
    }

    /// Returns whether any data is sealed with the installation's key.
    package func hasSealed() throws(Fault) -> Bool {
        try list(Statement.hasSealed()) { rows, row in rows.bool(row, 0) }.first ?? false
    }

    package func allCredentials() throws(Fault) -> [SealedCredentials] {
        try credentials(.text(nil), .text(nil), .text(nil))
    }

    private func credentials(
        _ project: Bind, _ store: Bind, _ app: Bind
    ) throws(Fault) -> [SealedCredentials] {
        try list(Statement.findCredentials(project, store, app)) {
            rows, row throws(LedgerError) in
            try SealedCredentials(rows, row)
        }
    }

    /// Replaces the credentials that have this revision. Returns false if others were stored in the meantime.
    package func putCredentials(_ sealed: SealedCredentials) throws(Fault) -> Bool {
        try requireWritable()
        let (app, status) = (sealed.app, sealed.status)
        let call = Statement.putCredentials(
            .text(app.project.text), .text(app.key.store.rawValue), .text(app.key.id.text),
            .bytea(sealed.sealed), .bytea(sealed.keyName), .bool(status.hasKey),
            .bool(status.hasSharedSecret), .text(status.address?.url),
            .int8(sealed.changedAt.milliseconds), .text(sealed.changedBy.text),
            .int8(sealed.revision), .int8(sealed.version))
        return try !list(call) { _, _ in () }.isEmpty
    }

    /// Deletes an app's credentials that were written before this version of its project's stream.
    package func forgetCredentials(of app: StoreApp, before version: Int64) throws(Fault) {
        try requireWritable()
        let call = Statement.forgetCredentials(
            .text(app.project.text), .text(app.key.store.rawValue), .text(app.key.id.text),
            .int8(version))
        _ = try list(call) { _, _ in () }
    }

    /// Takes one call from a store's budget, which all instances share. If the budget is used up,
    /// returns when to try again.
    package func takeStoreTurn(_ turn: StoreTurn, now: Instant) throws(Fault) -> Instant? {
        try requireWritable()
        let (app, budget) = (turn.app, turn.budget)
        let call = Statement.takeStoreBudget(
            .text(app.project.text), .text(app.key.store.rawValue), .text(app.key.id.text),
            .text(turn.environment.rawValue), .text(budget.name), .int8(now.milliseconds * 1000),
            .int8(budget.pause), .int8(budget.burst))
        let answers = try list(call) { rows, row in
            (isTaken: rows.bool(row, 0), next: rows.optionalInt8(row, 1))
        }
        guard let answer = answers.first, !answer.isTaken else { return nil }
        // Another instance has just created the row, and its instant is not visible yet.
        guard let next = answer.next else { return now.advanced(byMilliseconds: 1000) }
        return Instant(milliseconds: next / 1000 + 1)
    }

    /// Informs all instances that the store accepts no such calls before this instant.
    package func restStore(_ turn: StoreTurn, until: Instant) throws(Fault) {
        try requireWritable()
        let app = turn.app
        let call = Statement.restStoreBudget(
            .text(app.project.text), .text(app.key.store.rawValue), .text(app.key.id.text),
            .text(turn.environment.rawValue), .text(turn.budget.name),
            .int8(until.milliseconds * 1000))
        _ = try list(call) { _, _ in () }
    }
}

extension SealedCredentials {
    fileprivate init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        let store = Store(rawValue: rows.text(row, 1)) ?? .unnamed
        self.init(
            app: StoreApp(
                project: try rows.identifier(row, 0),
                key: AppKey(store: store, id: try rows.identifier(row, 2))),
            sealed: rows.bytes(row, 3), keyName: rows.bytes(row, 4),
            status: CredentialsStatus(
                hasKey: rows.bool(row, 5), hasSharedSecret: rows.bool(row, 6),
                address: rows.optionalText(row, 7).flatMap { StoreAddress($0) }),
            revision: rows.int8(row, 10), version: rows.int8(row, 11),
            changedAt: Instant(milliseconds: rows.int8(row, 8)),
            changedBy: try rows.identifier(row, 9))
    }
}
