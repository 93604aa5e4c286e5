package import Core
import Postgres
import SQL

// How far the stores' records have been read.
extension Ledger {
    /// Returns a project's customers with subscriptions in these apps about which the store should be asked, most
    /// overdue first.
    package func dueInquiries(
        of project: ProjectID, _ apps: [AppID], by instant: Instant, after last: DueInquiry?,
        limit: Int
    ) throws(Fault) -> [DueInquiry] {
        let place: [Bind] = [
            .int8(last?.at.milliseconds ?? .min), .text(last?.stream.environment.rawValue ?? ""),
            .text(last?.stream.customer.text ?? ""),
        ]
        let listed = RowList { place, limit in
            let binds: [Bind] = [
                .text(project.text), .texts(apps.map(\.text)), .int8(instant.milliseconds),
            ]
            return Call(statement: .listDueInquiries, binds: binds + place + [limit])
        } place: { rows, row in
            [.int8(rows.int8(row, 2)), .text(rows.text(row, 0)), .text(rows.text(row, 1))]
        } subject: { rows, row in
            UnreadSubject(project.text, rows.text(row, 0), rows.text(row, 1), row: "customers")
        } item: { rows, row throws(LedgerError) -> DueInquiry in
            DueInquiry(
                stream: try Stream(
                    project: project.text, environment: rows.text(row, 0),
                    customer: rows.text(row, 1)),
                at: Instant(milliseconds: rows.int8(row, 2)))
        }
        return try page(after: place, limit: limit, listed)
    }

    package func historyMark(of purchase: StorePurchase) throws(Fault) -> HistoryMark? {
        try list(Call(statement: .findHistory, binds: purchase.binds)) { rows, row in
            HistoryMark(
                since: rows.optionalInt8(row, 0).map(Instant.init(milliseconds:)),
                revision: rows.optionalText(row, 1),
                restsUntil: rows.optionalInt8(row, 2).map(Instant.init(milliseconds:)))
        }.first
    }

    package func keep(_ mark: HistoryMark, of purchase: StorePurchase) throws(Fault) {
        try requireWritable()
        let told: [Bind] = [
            .int8(mark.since?.milliseconds), .text(mark.revision),
            .int8(mark.restsUntil?.milliseconds),
        ]
        _ = try list(Call(statement: .keepHistory, binds: purchase.binds + told)) { _, _ in () }
    }

    /// Returns the time up to which all of the store's notifications to an app's server have been read.
    package func notificationMark(
        of app: StoreApp, in environment: Environment
    ) throws(Fault) -> Instant? {
        let call = Call(
            statement: .findNotificationMark,
            binds: app.binds + [.text(environment.rawValue)])
        return try list(call) { rows, row in Instant(milliseconds: rows.int8(row, 0)) }.first
    }

    package func markNotifications(
        of app: StoreApp, in environment: Environment, until instant: Instant
    ) throws(Fault) {
        try requireWritable()
        let call = Call(
            statement: .markNotifications,
            binds: app.binds + [.text(environment.rawValue), .int8(instant.milliseconds)])
        _ = try list(call) { _, _ in () }
    }
}

extension StoreApp {
    var binds: [Bind] {
        [.text(project.text), .text(key.store.rawValue), .text(key.id.text)]
    }
}

extension StorePurchase {
    var binds: [Bind] {
        app.binds + [.text(environment.rawValue), .text(purchase.original.text)]
    }
}
