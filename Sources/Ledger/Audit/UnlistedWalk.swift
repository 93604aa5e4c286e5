import Core

/// Finds customers that have events but no rows in the projections. The search walks through the
/// whole log. If several projects are compared in turn, they share a single walk.
package final class UnlistedWalk {
    /// The maximum number of unlisted customers to remember and compare together. After a repair, the next walk finds
    /// the others.
    private let limit: Int
    private var found: [Shard: [CustomerName]] = [:]

    package init(limit: Int = 10_000) {
        self.limit = limit
    }

    func customers(
        in shard: Shard, of project: ProjectID, _ auditor: Auditor
    ) throws(LedgerError) -> [CustomerName] {
        if found[shard] == nil {
            let left = limit - found.values.reduce(0) { $0 + $1.count }
            let all = try auditor.unlistedCustomers(in: shard, of: nil, left)
            // Many unlisted customers in one project must not hide those of another project.
            if all.count >= left {
                return try auditor.unlistedCustomers(in: shard, of: project, limit)
            }
            found[shard] = all
        }
        return (found[shard] ?? []).filter { $0.project == project.text }
    }
}
