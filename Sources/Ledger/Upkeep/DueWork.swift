package import Core
import Postgres
import SQL

/// Customers with due work that no call requests. It is read without locks: the customers' own events decide
/// what to do.
extension Ledger {
    package func dueShards() throws(Fault) -> [(shard: Shard, at: Instant)] {
        try list(Statement.findNextBoundary(), over: watching) { rows, row in
            (Shard(number: rows.int2(row, 0)), Instant(milliseconds: rows.int8(row, 1)))
        }
    }

    package func dueCustomers(
        in shard: Shard, of project: ProjectID?, at now: Instant, after last: DueCustomer?,
        limit: Int
    ) throws(Fault) -> [DueCustomer] {
        let call = Statement.listDueBoundaries(
            .int2(shard.number), .int8(now.milliseconds), .int8(Int64(limit)),
            .text(project?.text), .int8(last?.at.milliseconds ?? .min),
            .text(last?.stream.customer.text ?? ""), .text(last?.stream.project.text ?? ""),
            .text(last?.stream.environment.rawValue ?? ""))
        return try list(call) { rows, row throws(LedgerError) in
            let stream = try Stream(
                project: rows.text(row, 0), environment: rows.text(row, 1),
                customer: rows.text(row, 2))
            return (stream, Instant(milliseconds: rows.int8(row, 3)))
        }
    }

    package func outdatedProjects() throws(Fault) -> [OutdatedProject] {
        try list(Statement.listOutdatedProjects()) { rows, row throws(LedgerError) in
            (try rows.identifier(row, 0), rows.int8(row, 1))
        }
    }

    /// The first of them are listed after all commits that may have read the older catalog, since those lock
    /// the shard. Later commits read the new one.
    package func outdatedCustomers(
        of outdated: OutdatedProject, in shard: Shard, after last: Stream?, limit: Int
    ) throws(Fault) -> [Stream] {
        if last == nil { try awaitCommits(in: shard) }
        let call = Statement.listOutdatedCustomers(
            .int2(shard.number), .text(outdated.project.text), .int8(outdated.catalogVersion),
            .text(last?.customer.text ?? ""), .text(last?.environment.rawValue ?? ""),
            .int8(Int64(limit)))
        return try list(call) { rows, row throws(LedgerError) in
            try Stream(
                project: outdated.project.text, environment: rows.text(row, 1),
                customer: rows.text(row, 0))
        }
    }

    private func awaitCommits(in shard: Shard) throws(Fault) {
        try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                // Rolled back, so that it waits for no standby.
                try connection.execute([
                    Statement.begin(), Statement.lockShards(.int2s([shard.number]), .int8s([0])),
                    Statement.rollback(),
                ])
            }
        }
    }
}
