package import Core
import Wording

/// Finds customers with work that is due without any call, and does the work.
package protocol UpkeepPort: Sendable {
    /// Carries out commands with a lower priority than everything that clients wait for. The
    /// commands of a shard are decided together and in order. The results of a rehearsal are rolled
    /// back.
    func appendAll(
        _ commands: [Command], at pace: UpkeepPace, isRehearsal: Bool
    ) -> [CommandResult]
    /// Returns the next due instant of each shard with due work.
    func dueShards() throws(Fault) -> [(shard: Shard, at: Instant)]
    /// Returns the customers with due work in a shard, or in one project's part of it, most overdue first.
    func dueCustomers(
        in shard: Shard, of project: ProjectID?, at now: Instant, after last: DueCustomer?,
        limit: Int
    ) throws(Fault) -> [DueCustomer]
    func outdatedProjects() throws(Fault) -> [OutdatedProject]
    /// Returns the shard's customers whose rows follow an older catalog. Customers who become outdated after the first
    /// page are not added.
    func outdatedCustomers(
        of outdated: OutdatedProject, in shard: Shard, after last: Stream?, limit: Int
    ) throws(Fault) -> [Stream]
}

extension UpkeepPort {
    /// Has one command decided for each item, with one commit per page, and passes each result on.
    /// Throws faults that affect several items.
    func settle<Item>(
        _ items: [Item], at pace: UpkeepPace, isRehearsal: Bool = false,
        while goesOn: () -> Bool = { true }, _ command: (Item) -> Command,
        each: (Item, Result<Outcome, Fault>) -> Void
    ) throws(Fault) {
        for page in items.pages(of: pace.page) where goesOn() {
            let results = appendAll(page.map(command), at: pace, isRehearsal: isRehearsal)
            var common: Fault?
            for (item, result) in zip(page, results.map { $0.mapError(\.asFault) }) {
                if let fault = result.fault, fault.isOfMany {
                    common = common ?? fault
                } else {
                    each(item, result)
                }
            }
            if let common { throw common }
        }
    }
}

extension Fault {
    /// Whether the fault concerns a shard or the database rather than a single customer.
    fileprivate var isOfMany: Bool { isOfWholeDatabase || self == .busy || self == .logBlocked }
}

extension Result where Failure == Fault {
    var fault: Fault? {
        if case .failure(let fault) = self { fault } else { nil }
    }
}
