import Core

/// Finds customers with events but without a row in the projections. Only a walk through the whole log finds
/// them; one walk serves all projects that are compared in turn.
package final class UnlistedWalk {
    /// How many customers without a row are remembered and compared at once; after a repair the next walk
    /// finds the rest.
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
            // If there are too many, one project's must not hide another's.
            if all.count >= left {
                return try auditor.unlistedCustomers(in: shard, of: project, limit)
            }
            found[shard] = all
        }
        return (found[shard] ?? []).filter { $0.project == project.text }
    }
}
