package import Core
import Crypto
import Postgres
import SQL

/// What a look at the clock came to.
package struct Publication: Hashable, Sendable {
    /// Customers of whom something may have been due.
    package internal(set) var customers = 0
    package internal(set) var notices = 0
    /// The next instant at which something is due, as far as is known by now.
    package internal(set) var next: Instant?

    mutating func add(_ other: Publication) {
        customers += other.customers
        notices += other.notices
    }
}

extension Ledger {
    private static let publishingPage = 500
    /// How many customers of a shard are listed at once.
    private static let dueLimit = 100_000

    /// Publishes what the clock has brought, shard by shard, until nothing is due or `isWanted` says no.
    /// A rehearsal publishes nothing, and tells what would be.
    ///
    /// Who is due is read without locks; what is due is decided on locked shards, by the customers' own
    /// events. So several may do this at once, and each boundary is published once.
    package func publishBoundaries(
        of project: ProjectID? = nil, in shard: Shard? = nil, isRehearsal: Bool = false,
        while isWanted: () -> Bool = { true }, progress: (Publication) -> Void = { _ in }
    ) throws(Fault) -> Publication {
        if !isRehearsal { try startPublishing() }
        var publication = Publication()
        for (place, next) in try nextBoundaries() where shard == nil || shard == place {
            var isDue = next <= settings.clock()
            while isDue, isWanted() {
                let due = try dueStreams(of: place, project)
                for start in stride(from: 0, to: due.count, by: Ledger.publishingPage)
                where isWanted() {
                    let end = min(start + Ledger.publishingPage, due.count)
                    publication.add(try publish(Array(due[start..<end]), isRehearsal))
                    progress(publication)
                }
                isDue = due.count == Ledger.dueLimit && !isRehearsal
            }
        }
        publication.next = try nextBoundaries().map(\.next).min()
        return publication
    }

    /// When something is due, of each shard in which anything will ever be.
    private func nextBoundaries() throws(Fault) -> [(shard: Shard, next: Instant)] {
        try list(Statement.findNextBoundary(), over: watching) { rows, row in
            (Shard(number: rows.int2(row, 0)), Instant(milliseconds: rows.int8(row, 1)))
        }
    }

    private func dueStreams(
        of shard: Shard, _ project: ProjectID?
    ) throws(Fault) -> [Stream] {
        let call = Statement.listDueBoundaries(
            .int2(shard.number), .int8(settings.clock().milliseconds),
            .int8(Int64(Ledger.dueLimit)), .text(project?.text))
        return try list(call) { rows, row throws(LedgerError) in
            try Stream(
                project: rows.text(row, 0), environment: rows.text(row, 1),
                customer: rows.text(row, 2))
        }
    }

    private func publish(
        _ streams: [Stream], _ isRehearsal: Bool
    ) throws(Fault) -> Publication {
        do throws(LedgerError) {
            return try pool.settled { connection throws(LedgerError) in
                var batch = try connection.lockAndLoad(
                    Set(streams), cache: cache, clocks)
                for stream in streams { batch.publishDue(of: stream) }
                let publication = Publication(
                    customers: streams.count, notices: batch.entries.count)
                // What was begun and is not committed is taken back.
                if isRehearsal { return publication }
                try connection.execute(batch.publication(of: streams))
                cache.observe(batch.heads)
                return publication
            }
        } catch {
            throw error.fault
        }
    }

    /// Has boundaries published from now on in each project where that never happened before.
    private func startPublishing() throws(Fault) {
        let projects = try list(Statement.listUnpublishedProjects()) {
            rows, row throws(LedgerError) in try rows.identifier(row, 0) as ProjectID
        }
        for project in projects {
            do throws(CommandError) {
                _ = try append(.startPublishing(project))
            } catch {
                switch error {
                case .fault(let fault): throw fault
                case .refused(let refusal): throw .broken(refusal.sentence)
                }
            }
        }
    }
}

extension Command {
    fileprivate static func startPublishing(_ project: ProjectID) -> Command {
        let text = "clock:start"
        let cause = Cause(text: text, digest: SHA256.digest(Array(text.utf8)).bytes)
        return .project(project, actor: .clock, cause: cause) { state, _ in
            state.exists && state.publishesSince == nil ? [.publicationStarted] : []
        }
    }
}
