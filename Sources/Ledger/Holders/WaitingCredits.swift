package import Core
import Crypto
import Postgres
import SQL
import Threading

extension Ledger {
    private static let creditPage: Int64 = 500

    /// Credits what waits in the shard for products that the project's catalog knows by now, and
    /// returns how many customers were looked at.
    ///
    /// Each customer's balance is brought to what it is worth by a command, so that nothing counts
    /// twice when another instance does the same. What was looked at is forgotten afterwards: who
    /// dies in between leaves it to the next run.
    func settleWaitingCredits(
        of project: ProjectID, knowing catalog: Catalog, version: Int64, in shard: Shard
    ) throws(LedgerError) -> Int {
        var count = 0
        var last: WaitingRow?
        while true {
            let page = try waitingCredits(of: project, in: shard, after: last)
            guard let end = page.last else { return count }
            let known = page.filter { catalog.product($0.credit.key) != nil }
            let customers = Dictionary(grouping: known, by: \.stream)
            var settled: [WaitingRow] = []
            let commands = customers.map { Command.settling($1.map(\.credit), of: $0, version) }
            for (command, answer) in zip(commands, appendAll(commands)) {
                let outcome = try answer.settled
                let catalog = outcome.project.catalog
                settled += (customers[command.stream] ?? [])
                    .filter { catalog.product($0.credit.key) != nil }
            }
            try forget(settled)
            count += settled.isEmpty ? 0 : Set(settled.map(\.stream)).count
            last = end
        }
    }

    /// Has all commands decided in as few commits as it takes.
    package func appendAll(_ commands: [Command]) -> [Result<Outcome, CommandError>] {
        let answers = Monitor<[Int: PendingCommand.Answer]>([:])
        for (place, command) in commands.enumerated() {
            submit(command) { answer in answers.change { $0[place] = answer } }
        }
        return answers.wait { answers in
            answers.count == commands.count ? commands.indices.compactMap { answers[$0] } : nil
        }
    }

    private func waitingCredits(
        of project: ProjectID, in shard: Shard, after last: WaitingRow?
    ) throws(LedgerError) -> [WaitingRow] {
        let call = Statement.listWaitingCredits(
            .int2(shard.number), .text(project.text), .text(last?.stream.customer.text ?? ""),
            .text(last?.stream.environment.rawValue ?? ""),
            .text(last?.credit.purchase.store.rawValue ?? ""),
            .text(last?.credit.purchase.original.text ?? ""),
            .text(last?.credit.transaction.text ?? ""), .int8(Ledger.creditPage))
        return try rows(call) { rows, row throws(LedgerError) in
            guard let environment = Environment(rawValue: rows.text(row, 1)),
                let store = Store(rawValue: rows.text(row, 2))
            else { throw .unreadable("the environment or store of a credit that waits") }
            let stream = Stream(
                project: project, environment: environment,
                customer: try rows.identifier(row, 0))
            let credit = WaitingCredit(
                purchase: PurchaseID(store: store, original: try rows.identifier(row, 3)),
                transaction: try rows.identifier(row, 4), product: try rows.identifier(row, 5))
            return WaitingRow(stream: stream, credit: credit)
        }
    }

    private func forget(_ waiting: [WaitingRow]) throws(LedgerError) {
        if waiting.isEmpty { return }
        var settled = WaitingCreditRows()
        for row in waiting { settled.add(row.credit, of: row.stream) }
        let call = Table.waitingCredits.remove(settled.rows())
        try writing { connection throws(LedgerError) in try connection.execute([call]) }
    }
}

private struct WaitingRow: Sendable {
    let stream: Stream
    let credit: WaitingCredit
}

extension Command {
    /// The same for every instance that finds the same credits waiting under the same catalog.
    fileprivate static func settling(
        _ waiting: [WaitingCredit], of stream: Stream, _ version: Int64
    ) -> Command {
        let names = waiting.map { "\($0.purchase)/\($0.transaction)" }.joined(separator: "\n")
        let digest = SHA256.digest(Array(names.utf8))
        let cause = Cause(
            text: "catalog:\(version)/\(digest.hex.prefix(16))", digest: digest.bytes)
        return .customer(stream, actor: .catalog, cause: cause) { state, catalog, _ in
            state.settling(waiting, by: catalog)
        }
    }
}

extension PendingCommand.Answer {
    /// The outcome; a command that cannot be refused was not decided.
    var settled: Outcome {
        get throws(LedgerError) {
            switch self {
            case .success(let outcome): return outcome
            case .failure(.fault(let fault)): throw .notSettled(fault)
            case .failure(.refused(let refusal)): throw .notSettled(.broken(refusal.sentence))
            }
        }
    }
}
