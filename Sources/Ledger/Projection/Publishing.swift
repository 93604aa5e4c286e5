package import Core
import Postgres
import SQL

/// What a look at the clock came to.
package struct Publication: Hashable, Sendable {
    /// Customers for whom something may have been due.
    package internal(set) var customers = 0
    package internal(set) var notices = 0
    /// The next instant at which something is due, as far as is known by now.
    package internal(set) var next: Instant?
    /// What kept some of it from being published; the rest was.
    package internal(set) var fault: Fault?
    /// The customers for whom nothing could be published, each because of what is its own.
    package internal(set) var blamed: [Stream: Fault] = [:]

    mutating func add(_ other: Publication) {
        customers += other.customers
        notices += other.notices
        fault = fault ?? other.fault
        blamed.merge(other.blamed) { _, fault in fault }
    }
}

extension Ledger {
    /// How many customers are published in a commit: by the job, which leaves the processors to reads in
    /// between, and by a night, which wants to come to its end.
    private static let (publishingPage, longPublishingPage) = (50, 500)
    /// How many customers of a shard are listed together.
    private static let dueLimit = 100_000
    /// How long a shard is waited for that another session has locked, in milliseconds: by the job, for which others
    /// wait, and by a night, which comes to it once.
    private static let (lockPatience, longLockPatience) = (300, 3000)

    /// Publishes what the clock has brought, shard by shard, until nothing is due or `isWanted` says no.
    /// A rehearsal publishes nothing, and tells what would be.
    ///
    /// Who is due is read without locks; what is due is decided on locked shards, by the customers' own
    /// events. So several may do this at the same time, and each boundary is published once. A shard that cannot
    /// be written, and a customer whose events cannot be read, delay no other. Those `resting` are left out.
    package func publishBoundaries(
        of project: ProjectID? = nil, in shard: Shard? = nil, isRehearsal: Bool = false,
        resting: Set<Stream> = [], while isWanted: () -> Bool = { true },
        progress: (Publication) -> Void = { _ in }
    ) throws(Fault) -> Publication {
        var publication = Publication()
        let pageSize = shard == nil ? Ledger.publishingPage : Ledger.longPublishingPage
        for place in try shards(shard) {
            do throws(LedgerError) {
                var last: DueCustomer?
                var isMore = true
                while isMore, isWanted() {
                    let due = try dueCustomers(of: place, project, after: last)
                    let wanted = due.map(\.stream).filter { !resting.contains($0) }
                    for page in wanted.pages(of: pageSize) where isWanted() {
                        publication.add(
                            try publish(page, isRehearsal, isPatient: shard != nil))
                        progress(publication)
                    }
                    last = due.last
                    isMore = due.count == Ledger.dueLimit
                }
            } catch {
                if error.isOfWholeDatabase { throw error.fault }
                // The job comes again at once; the commands that wait for the shard tell if it stays locked.
                if error.isLockedOut, shard == nil { continue }
                publication.fault =
                    publication.fault
                    ?? (error.isLockedOut ? .busy : error.publishingFault(in: place))
            }
        }
        if shard == nil { publication.next = try nextBoundaries().map(\.next).min() }
        return publication
    }

    /// The one that is wanted, or those in which anything is due.
    private func shards(_ wanted: Shard?) throws(Fault) -> [Shard] {
        if let wanted { return [wanted] }
        let now = settings.clock()
        return try nextBoundaries().filter { $0.next <= now }.map(\.shard)
    }

    /// When something is due, of each shard in which anything will ever be.
    private func nextBoundaries() throws(Fault) -> [(shard: Shard, next: Instant)] {
        try list(Statement.findNextBoundary(), over: watching) { rows, row in
            (Shard(number: rows.int2(row, 0)), Instant(milliseconds: rows.int8(row, 1)))
        }
    }

    private struct DueCustomer {
        let stream: Stream
        let at: Int64
    }

    private func dueCustomers(
        of shard: Shard, _ project: ProjectID?, after last: DueCustomer?
    ) throws(LedgerError) -> [DueCustomer] {
        let call = Statement.listDueBoundaries(
            .int2(shard.number), .int8(settings.clock().milliseconds),
            .int8(Int64(Ledger.dueLimit)), .text(project?.text), .int8(last?.at ?? .min),
            .text(last?.stream.customer.text ?? ""), .text(last?.stream.project.text ?? ""),
            .text(last?.stream.environment.rawValue ?? ""))
        return try rows(call) { rows, row throws(LedgerError) in
            DueCustomer(
                stream: try Stream(
                    project: rows.text(row, 0), environment: rows.text(row, 1),
                    customer: rows.text(row, 2)),
                at: rows.int8(row, 3))
        }
    }

    /// Publishes what is due of some customers of a shard; of all but those who are to blame where it cannot be
    /// done of all of them at once.
    private func publish(
        _ streams: [Stream], _ isRehearsal: Bool, isPatient: Bool
    ) throws(LedgerError) -> Publication {
        if !isRehearsal, let barrier { throw .impeded(barrier) }
        var publication = Publication()
        let blamed = try sparingOthers(streams) { streams throws(LedgerError) in
            publication.add(try publishAtOnce(streams, isRehearsal, isPatient: isPatient))
        }
        for (stream, error) in blamed {
            let fault = error.publishingFault(in: stream.shard)
            publication.add(Publication(customers: 1, fault: fault, blamed: [stream: fault]))
        }
        return publication
    }

    /// Works on some customers of a shard at once; where that cannot be, on halves of them, so that those who
    /// are to blame keep no other from it. Gives them, each with what is the matter.
    func sparingOthers(
        _ streams: [Stream], _ work: ([Stream]) throws(LedgerError) -> Void
    ) throws(LedgerError) -> [Stream: LedgerError] {
        do throws(LedgerError) {
            try work(streams)
            return [:]
        } catch {
            if error.isOfWholeDatabase || error.isBlocked || error.isLockedOut { throw error }
            if streams.count == 1 { return [streams[0]: error] }
            var blamed: [Stream: LedgerError] = [:]
            for half in streams.pages(of: (streams.count + 1) / 2) {
                blamed.merge(try sparingOthers(half, work)) { error, _ in error }
            }
            return blamed
        }
    }

    private func publishAtOnce(
        _ streams: [Stream], _ isRehearsal: Bool, isPatient: Bool
    ) throws(LedgerError) -> Publication {
        try pool.settled { connection throws(LedgerError) in
            var batch = try connection.lockAndLoad(
                Set(streams), cache: cache, clocks,
                lockPatience: isPatient ? Ledger.longLockPatience : Ledger.lockPatience)
            for stream in streams { batch.publishDue(of: stream) }
            let publication = Publication(
                customers: streams.count, notices: batch.entries.count)
            // What was begun and is not committed is taken back.
            if isRehearsal { return publication }
            try connection.execute(batch.publication(of: streams))
            cache.observe(batch.heads)
            return publication
        }
    }
}

extension LedgerError {
    /// What took too long would take too long again: that the database is away is not the reason.
    fileprivate func publishingFault(in shard: Shard) -> Fault {
        guard isTooLong else { return fault }
        return .broken(
            "Boundaries of shard \(shard.number) could not be published: the database gave up on a "
                + "statement that took too long. Look for what slows the database down.")
    }
}

extension Array {
    func pages(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
