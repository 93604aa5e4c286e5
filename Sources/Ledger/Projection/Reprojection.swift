package import Core
import Postgres
import SQL

extension Ledger {
    private static let reprojectionPage: Int64 = 200

    /// Projects the customers of every project whose catalog changed since they were projected, publishes
    /// what it gave and took, credits what waited for a product of it, and returns how many customers were
    /// projected. A run that ends early is taken up by the next, and so is what faults: a customer, a shard or a
    /// project keeps no other from being projected.
    package func reproject(
        while goesOn: () -> Bool = { true }, faulted: (ProjectID, Fault) -> Void,
        progress: (_ customers: Int) -> Void = { _ in }
    ) throws(Fault) -> Int {
        var count = 0
        for outdated in try outdatedProjects() {
            do throws(LedgerError) {
                let catalog = try catalog(of: outdated.project)
                var fault: LedgerError?
                for shard in Shard.all {
                    if !goesOn() { return count }
                    let found = try reproject(outdated, to: catalog, in: shard) { page in
                        count += page
                        progress(count)
                    }
                    fault = fault ?? found
                }
                if let fault { throw fault }
                try writing { connection throws(LedgerError) in
                    try connection.execute([
                        Statement.markProjected(
                            .text(outdated.project.text), .int8(outdated.catalogVersion))
                    ])
                }
            } catch {
                faulted(outdated.project, error.fault)
            }
        }
        return count
    }

    /// The catalog as it is now: not older than the one for which the project is projected.
    private func catalog(of project: ProjectID) throws(LedgerError) -> Catalog {
        let stream = Stream.ofProject(project)
        return try pool.settled { connection throws(LedgerError) in
            try connection.states(of: [stream])[stream]?.project?.catalog ?? Catalog()
        }
    }

    private struct OutdatedProject {
        let project: ProjectID
        let catalogVersion: Int64
    }

    private func outdatedProjects() throws(Fault) -> [OutdatedProject] {
        try list(Statement.listOutdatedProjects()) { rows, row throws(LedgerError) in
            OutdatedProject(
                project: try rows.identifier(row, 0), catalogVersion: rows.int8(row, 1))
        }
    }

    /// Gives what kept some customers of the shard, or all of them, from being projected.
    private func reproject(
        _ outdated: OutdatedProject, to catalog: Catalog, in shard: Shard, page: (Int) -> Void
    ) throws(LedgerError) -> LedgerError? {
        var fault: LedgerError?
        do throws(LedgerError) {
            try awaitCommits(in: shard)
            var last: Stream?
            while true {
                let streams = try outdatedCustomers(of: outdated, in: shard, after: last)
                guard let end = streams.last else { break }
                let blamed = try sparingOthers(streams) { streams throws(LedgerError) in
                    try reproject(streams)
                    page(streams.count)
                }
                fault = fault ?? blamed.values.first
                last = end
            }
            // Behind the wait for commits by the old catalog: what they left is seen.
            _ = try settleWaitingCredits(
                of: outdated.project, knowing: catalog, version: outdated.catalogVersion, in: shard)
        } catch {
            if error.isOfWholeDatabase { throw error }
            return fault ?? error
        }
        return fault
    }

    private func reproject(_ streams: [Stream]) throws(LedgerError) {
        try writing { connection throws(LedgerError) in
            var batch = try connection.lockAndLoad(Set(streams), cache: cache, clocks)
            for stream in streams { batch.publishDue(of: stream) }
            try connection.execute(batch.reprojection(of: streams))
        }
    }

    /// Waits for commits that may have read the catalog before it changed: they hold the shard.
    /// Those that lock it later read the new one.
    private func awaitCommits(in shard: Shard) throws(LedgerError) {
        try pool.settled { connection throws(LedgerError) in
            // Taken back, so that it waits for no standby.
            try connection.execute([
                Statement.begin(), Statement.lockShards(.int2s([shard.number]), .int8s([0])),
                Statement.rollback(),
            ])
        }
    }

    private func outdatedCustomers(
        of outdated: OutdatedProject, in shard: Shard, after last: Stream?
    ) throws(LedgerError) -> [Stream] {
        let call = Statement.listOutdatedCustomers(
            .int2(shard.number), .text(outdated.project.text), .int8(outdated.catalogVersion),
            .text(last?.customer.text ?? ""), .text(last?.environment.rawValue ?? ""),
            .int8(Ledger.reprojectionPage))
        var streams: [Stream] = []
        try pool.settled { connection throws(LedgerError) in
            try connection.read([call]) { _, rows throws(LedgerError) in
                for row in 0..<rows.count {
                    guard let environment = Environment(rawValue: rows.text(row, 1)) else {
                        throw .unreadable("the environment of a customer")
                    }
                    streams.append(
                        Stream(
                            project: outdated.project, environment: environment,
                            customer: try rows.identifier(row, 0)))
                }
            }
        }
        return streams
    }
}
