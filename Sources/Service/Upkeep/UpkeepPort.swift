package import Core

/// Customers with due work that no call requests, and the means to do it.
package protocol UpkeepPort: Sendable {
    /// Has commands decided after everything that clients wait for: those of a shard together, in order. In a
    /// rehearsal their results are rolled back.
    func appendAll(
        _ commands: [Command], at pace: UpkeepPace, isRehearsal: Bool
    ) -> [CommandResult]
    /// When something is due, for each shard in which anything ever will be.
    func dueShards() throws(Fault) -> [(shard: Shard, at: Instant)]
    /// Some customers with due work in a shard, or in one project's part of it, the most overdue first.
    func dueCustomers(
        in shard: Shard, of project: ProjectID?, at now: Instant, after last: DueCustomer?,
        limit: Int
    ) throws(Fault) -> [DueCustomer]
    func outdatedProjects() throws(Fault) -> [OutdatedProject]
    /// Some customers of a shard whose rows follow an older catalog; none is added once the first were
    /// listed.
    func outdatedCustomers(
        of outdated: OutdatedProject, in shard: Shard, after last: Stream?, limit: Int
    ) throws(Fault) -> [Stream]
}

extension UpkeepPort {
    /// Has the command of each item decided, a page per commit, and passes on each result. Throws faults that
    /// concern more than one of them.
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
    /// Whether it concerns a shard or the database, and not a single customer.
    fileprivate var isOfMany: Bool { isOfWholeDatabase || self == .busy || self == .logBlocked }
}

extension CommandError {
    /// Upkeep is never refused.
    fileprivate var asFault: Fault {
        switch self {
        case .fault(let fault): fault
        case .refused(let refusal): .broken(refusal.sentence)
        }
    }
}

extension Result where Failure == Fault {
    var fault: Fault? {
        if case .failure(let fault) = self { fault } else { nil }
    }
}
