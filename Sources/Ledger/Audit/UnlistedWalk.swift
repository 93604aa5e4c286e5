import Core

/// Finds customers of whom the log has events, and the projections no row. Only a walk of the whole log tells; one is
/// enough for all projects that are compared one after the other.
package final class UnlistedWalk {
    /// How many customers without a row are kept in mind, and compared at once; after a repair the rest is
    /// found.
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
            // Where there are too many, one project's must not hide another's.
            if all.count >= left {
                return try auditor.unlistedCustomers(in: shard, of: project, limit)
            }
            found[shard] = all
        }
        return (found[shard] ?? []).filter { $0.project == project.text }
    }
}
