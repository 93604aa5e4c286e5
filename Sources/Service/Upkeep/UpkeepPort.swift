package import Core

/// For whom there is something to do that no call asks for, and who does it.
package protocol UpkeepPort: Sendable {
    /// Has commands decided behind all that clients wait for: those of a shard together, in their order. In a
    /// rehearsal what the commands lead to is taken back.
    func appendAll(
        _ commands: [Command], at pace: UpkeepPace, isRehearsal: Bool
    ) -> [CommandResult]
    /// When something is due, of each shard in which anything will ever be.
    func dueShards() throws(Fault) -> [(shard: Shard, at: Instant)]
    /// Some customers of a shard, or of one project there, for whom something is due, the most overdue first.
    func dueCustomers(
        in shard: Shard, of project: ProjectID?, at now: Instant, after last: DueCustomer?,
        limit: Int
    ) throws(Fault) -> [DueCustomer]
    func outdatedProjects() throws(Fault) -> [OutdatedProject]
    /// Some customers of a shard with rows by an older catalog; none is added once the first were listed.
    func outdatedCustomers(
        of outdated: OutdatedProject, in shard: Shard, after last: Stream?, limit: Int
    ) throws(Fault) -> [Stream]
}

extension UpkeepPort {
    /// Has the command of each item decided, a page of them in a commit, and hands on what came of each. What is wrong
    /// with more than one of them is thrown.
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
    /// Whether it is wrong with a shard or the database, and not with one customer.
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
