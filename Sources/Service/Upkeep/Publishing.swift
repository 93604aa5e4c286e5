package import Core

/// The result of one check of the clock.
package struct Publication: Hashable, Sendable {
    /// The number of customers for whom something may have been due.
    package var customers = 0
    package var notices = 0
    /// The next instant at which something is known to be due.
    package var next: Instant?
    /// Why some changes could not be published. All other changes were published.
    package var fault: Fault?

    package init(customers: Int = 0, notices: Int = 0) {
        self.customers = customers
        self.notices = notices
    }

    fileprivate mutating func add(_ result: Result<Outcome, Fault>) {
        customers += 1
        switch result {
        case .success(let outcome): notices += outcome.events.count
        case .failure(let fault): self.fault = self.fault ?? fault
        }
    }
}

/// Publishes the changes that the clock has caused.
///
/// Several instances may publish at the same time. Each boundary is published only once. A shard that cannot be
/// written, or a customer with unreadable events, does not delay others.
package struct Publishing: Sendable {
    /// The maximum number of customers of a shard that are listed at once.
    private static let limit = 100_000

    private let work: any UpkeepPort
    private let now: @Sendable () -> Instant

    package init(_ work: any UpkeepPort, now: @escaping @Sendable () -> Instant) {
        self.work = work
        self.now = now
    }

    /// Publishes in every shard until nothing is due or `goesOn` returns false.
    package func publish(
        while goesOn: () -> Bool = { true }
    ) throws(Fault) -> Publication {
        var publication = Publication()
        let now = now()
        for due in try work.dueShards() where due.at <= now {
            do throws(Fault) {
                try publish(in: due.shard, at: .service, while: goesOn, &publication)
            } catch {
                if error.isOfWholeDatabase { throw error }
                // A shard that another session has locked is left for the next check. If it stays
                // locked, the commands that wait for it report that.
                if error != .busy { publication.fault = publication.fault ?? error }
            }
        }
        publication.next = try work.dueShards().map(\.at).min()
        return publication
    }

    /// Publishes in one shard for a reconciliation. A rehearsal only reports what it would have
    /// published.
    package func publish(
        of project: ProjectID, in shard: Shard, under lease: Lease?, isRehearsal: Bool = false
    ) throws(Fault) -> Publication {
        var publication = Publication()
        do throws(Fault) {
            try publish(
                of: project, in: shard, at: .run(lease), isRehearsal: isRehearsal, &publication)
        } catch {
            if error.isOfWholeDatabase { throw error }
            publication.fault = publication.fault ?? error
        }
        return publication
    }

    private func publish(
        of project: ProjectID? = nil, in shard: Shard, at pace: UpkeepPace,
        isRehearsal: Bool = false, while goesOn: () -> Bool = { true },
        _ publication: inout Publication
    ) throws(Fault) {
        var last: DueCustomer?
        while goesOn() {
            let due = try work.dueCustomers(
                in: shard, of: project, at: now(), after: last, limit: Publishing.limit)
            try work.settle(
                due.map(\.stream), at: pace, isRehearsal: isRehearsal, while: goesOn,
                Command.publishing
            ) { publication.add($1) }
            if due.count < Publishing.limit { return }
            last = due.last
        }
    }
}
