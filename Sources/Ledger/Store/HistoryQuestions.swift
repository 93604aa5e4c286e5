package import Core
import Postgres
import SQL

// Customers whose histories have not been requested from the stores yet.
extension Ledger {
    package func historyRound(of app: StoreApp) throws(Fault) -> HistoryRound? {
        try list(Call(statement: .findHistoryRound, binds: app.binds)) { rows, row in
            HistoryRound(
                isFilled: rows.bool(row, 0), isSlow: rows.bool(row, 1), wasWhole: rows.bool(row, 2))
        }.first
    }

    package func keep(_ round: HistoryRound, of app: StoreApp) throws(Fault) {
        try writeQuestion(
            .keepHistoryRound,
            app.binds + [.bool(round.isFilled), .bool(round.isSlow), .bool(round.wasWhole)])
    }

    /// Adds a question for each customer who has a purchase in the app, in one environment or both, shard by shard.
    package func fillHistoryQuestions(
        of app: StoreApp, in environment: Environment?, because obstacle: String?
    ) throws(Fault) {
        for shard in Shard.all {
            try writeQuestion(
                .fillHistoryQuestions,
                [.int2(shard.number)] + app.binds
                    + [.text(environment?.rawValue), .text(obstacle)])
        }
    }

    package func countHistories(
        of app: StoreApp, asFilled: Bool
    ) throws(Fault) -> HistoryCount {
        let calls =
            asFilled
            ? Shard.all.map { shard in
                Call(statement: .countHistoryCustomers, binds: [.int2(shard.number)] + app.binds)
            } : [Call(statement: .countHistoryQuestions, binds: app.binds)]
        var count = HistoryCount()
        for call in calls {
            let found = try list(call) { rows, row in
                (Environment(rawValue: rows.text(row, 0)), rows.int8(row, 1), rows.int8(row, 2))
            }
            for (environment, all, missing) in found {
                count.ofEnvironment[environment ?? .production, default: 0] += all
                count.missing += missing
            }
        }
        return count
    }

    /// Returns an app's questions, newest first.
    package func historyQuestions(
        of app: StoreApp, after last: HistoryQuestion?, limit: Int
    ) throws(Fault) -> [HistoryQuestion] {
        let place: [Bind] = [
            .int8(last?.newestAt.milliseconds ?? .max),
            .text(last?.place.purchase.original.text ?? ""),
            .text(last?.place.environment.rawValue ?? ""),
        ]
        let listed = RowList { place, limit in
            Call(statement: .listHistoryQuestions, binds: app.binds + place + [limit])
        } place: { rows, row in
            [.int8(rows.int8(row, 3)), .text(rows.text(row, 1)), .text(rows.text(row, 0))]
        } subject: { rows, row in
            UnreadSubject(
                app.project.text, rows.text(row, 0), rows.text(row, 2), row: "history_questions")
        } item: { rows, row throws(LedgerError) -> HistoryQuestion in
            HistoryQuestion(
                StorePurchase(
                    app: app, environment: Environment(rawValue: rows.text(row, 0)) ?? .production,
                    purchase: PurchaseID(
                        store: app.key.store, original: try rows.identifier(row, 1))),
                of: try rows.identifier(row, 2),
                newestAt: Instant(milliseconds: rows.int8(row, 3)),
                obstacle: rows.optionalText(row, 4))
        }
        return try page(after: place, limit: limit, listed)
    }

    package func keep(_ question: HistoryQuestion) throws(Fault) {
        try writeQuestion(
            .keepHistoryQuestion,
            question.place.binds + [
                .text(question.customer.text), .int8(question.newestAt.milliseconds),
                .text(question.obstacle),
            ])
    }

    package func endHistoryQuestion(of purchase: StorePurchase) throws(Fault) {
        try writeQuestion(.endHistoryQuestion, purchase.binds)
    }

    private func writeQuestion(_ statement: Statement, _ binds: [Bind]) throws(Fault) {
        try requireWritable()
        _ = try list(Call(statement: statement, binds: binds)) { _, _ in () }
    }
}
