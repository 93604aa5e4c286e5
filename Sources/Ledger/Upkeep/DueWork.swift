package import Core
import Postgres
import SQL

/// Finds customers with due work that no call has requested. The rows are read without locks,
/// because the customers' own events determine what to do.
extension Ledger {
    package func dueShards() throws(Fault) -> [(shard: Shard, at: Instant)] {
        let look = published.begin()
        let call = Statement.findNextBoundary(
            .int2s(Shard.all.map(\.number)), .int8s(look.passed))
        let found = try list(call, over: watching) { rows, row in
            (
                shard: Shard(number: rows.int2(row, 0)),
                at: rows.optionalInt8(row, 1).map(Instant.init(milliseconds:)),
                recordedAt: Instant(milliseconds: rows.int8(row, 2))
            )
        }
        published.note(found, by: look)
        return found.compactMap { found in found.at.map { (found.shard, $0) } }
    }

    package func dueCustomers(
        in shard: Shard, of project: ProjectID?, at now: Instant, after last: DueCustomer?,
        limit: Int
    ) throws(Fault) -> [DueCustomer] {
        // A project's own run also looks for due work that the usual checks missed.
        let passed = project == nil ? published.passed(shard) : .min
        let place: [Bind] = [
            .int8(last?.at.milliseconds ?? passed), .text(last?.stream.customer.text ?? ""),
            .text(last?.stream.project.text ?? ""),
            .text(last?.stream.environment.rawValue ?? ""),
        ]
        let listed = RowList { place, limit in
            let binds: [Bind] = [
                .int2(shard.number), .int8(now.milliseconds), limit, .text(project?.text),
            ]
            return Call(statement: .listDueBoundaries, binds: binds + place)
        } place: { rows, row in
            [
                .int8(rows.int8(row, 3)), .text(rows.text(row, 2)), .text(rows.text(row, 0)),
                .text(rows.text(row, 1)),
            ]
        } subject: { rows, row in
            UnreadSubject(
                rows.text(row, 0), rows.text(row, 1), rows.text(row, 2), row: "customers")
        } item: { rows, row throws(LedgerError) -> DueCustomer in
            let stream = try Stream(
                project: rows.text(row, 0), environment: rows.text(row, 1),
                customer: rows.text(row, 2))
            return (stream, Instant(milliseconds: rows.int8(row, 3)))
        }
        return try page(after: place, limit: limit, listed)
    }

    package func outdatedProjects() throws(Fault) -> [OutdatedProject] {
        try readable(
            Statement.listOutdatedProjects(),
            of: { rows, row in UnreadSubject(rows.text(row, 0), "", "", row: "projects") }
        ) { rows, row throws(LedgerError) -> OutdatedProject in
            (try rows.identifier(row, 0), rows.int8(row, 1))
        }
    }

    /// Returns customers whose rows follow an older catalog. The first page locks the shard and thus waits for all
    /// commits that may have read that catalog. Later commits read the new one.
    package func outdatedCustomers(
        of outdated: OutdatedProject, in shard: Shard, after last: Stream?, limit: Int
    ) throws(Fault) -> [Stream] {
        if last == nil { try awaitCommits(in: shard) }
        let project = outdated.project.text
        let place: [Bind] = [
            .text(last?.customer.text ?? ""), .text(last?.environment.rawValue ?? ""),
        ]
        let listed = RowList { place, limit in
            let binds: [Bind] = [
                .int2(shard.number), .text(project), .int8(outdated.catalogVersion),
            ]
            return Call(statement: .listOutdatedCustomers, binds: binds + place + [limit])
        } place: { rows, row in
            [.text(rows.text(row, 0)), .text(rows.text(row, 1))]
        } subject: { rows, row in
            UnreadSubject(project, rows.text(row, 1), rows.text(row, 0), row: "customers")
        } item: { rows, row throws(LedgerError) -> Stream in
            try Stream(
                project: project, environment: rows.text(row, 1), customer: rows.text(row, 0))
        }
        return try page(after: place, limit: limit, listed)
    }

    private func awaitCommits(in shard: Shard) throws(Fault) {
        // The transaction is rolled back, because a commit might have to wait for a standby.
        try send([
            Statement.begin(), Statement.lockShards(.int2s([shard.number]), .int8s([0])),
            Statement.rollback(),
        ])
    }
}
