package import Core
import Postgres
import SQL
import Threading

extension Ledger {
    /// How many customers of a shard are listed together where several shards are.
    private static let sharedDueLimit = 25_000

    /// Publishes what is due of a project in several shards, over two connections: while the database works for
    /// one, what the other writes is decided. Gives what became of each shard that came to its end before
    /// `isWanted` said no.
    package func publishBoundaries(
        of project: ProjectID, inAll shards: [Shard], isRehearsal: Bool = false,
        while isWanted: () -> Bool = { true }
    ) throws(Fault) -> [Shard: Publication] {
        let fault = isRehearsal ? nil : try startPublishing(project)
        let half = (shards.count + 1) / 2
        let others = Array(shards.dropFirst(half))
        let isStopped = Monitor(false)
        let beside = Monitor<[Shard: Publication]?>(nil)
        startThread("boundaries") { [self] in
            let published = publishTogether(project, others, isRehearsal) {
                isStopped.change(wake: .none) { !$0 }
            }
            beside.change { $0 = published }
        }
        let published = publishTogether(
            project, Array(shards.prefix(half)), isRehearsal, while: isWanted)
        if !isWanted() { isStopped.change { $0 = true } }
        // Nothing is told while the other one is still at work.
        return published.merging(beside.wait { $0 }) { one, _ in one }.mapValues { publication in
            var publication = publication
            publication.fault = fault ?? publication.fault
            return publication
        }
    }

    /// One connection's share of that: each commit holds customers of as many shards as it takes to fill it.
    private func publishTogether(
        _ project: ProjectID, _ shards: [Shard], _ isRehearsal: Bool, while isWanted: () -> Bool
    ) -> [Shard: Publication] {
        var published = Dictionary(uniqueKeysWithValues: shards.map { ($0, Publication()) })
        do throws(LedgerError) {
            var open = shards.map { (shard: $0, last: DueCustomer?.none) }
            while !open.isEmpty {
                let due = try dueCustomers(of: open, project, limit: Ledger.sharedDueLimit)
                for page in due.flatMap(\.self).map(\.stream).pages(of: Ledger.publishingPage) {
                    guard isWanted() else { return [:] }
                    for (shard, part) in try publishAtOnce(page, isRehearsal, isPatient: false) {
                        published[shard, default: Publication()].add(part)
                    }
                }
                open = zip(open, due).filter { $1.count == Ledger.sharedDueLimit }.map {
                    ($0.shard, $1.last)
                }
            }
            return published
        } catch {
            // Whichever shard is to blame, the others are not to wait for it; and a connection that broke may
            // be there again.
            return publishEach(
                project, shards, isRehearsal, after: isRehearsal ? [:] : published, while: isWanted)
        }
    }

    private func publishEach(
        _ project: ProjectID, _ shards: [Shard], _ isRehearsal: Bool,
        after published: [Shard: Publication], while isWanted: () -> Bool
    ) -> [Shard: Publication] {
        var published = published
        for shard in shards {
            var rest = Publication()
            do throws(Fault) {
                rest = try publishBoundaries(
                    of: project, in: shard, isRehearsal: isRehearsal, while: isWanted)
            } catch {
                rest.fault = error
            }
            published[shard, default: Publication()].add(rest)
            guard isWanted() else { return [:] }
        }
        return published
    }
}
