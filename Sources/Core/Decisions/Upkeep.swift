/// Work on the tables in a commit that no event asks for.
package enum Upkeep: Hashable, Sendable {
    /// Publishes what the clock and new catalogs changed for the customer, and writes the
    /// customer's own row.
    case publishing
    /// Does the same, rewrites all of the customer's rows by the current catalog, and removes these
    /// waiting credits.
    case projecting(settled: [WaitingCredit])
    /// Rewrites every row of a customer or a project.
    case mending
    /// Notes that the rows of all of the project's customers follow this version of its catalog.
    case concluding(catalogVersion: Int64)
}

/// A customer with something that may be due for publishing, and since when.
package typealias DueCustomer = (stream: Stream, at: Instant)

/// A project whose customers' rows follow an older catalog.
package typealias OutdatedProject = (project: ProjectID, catalogVersion: Int64)

/// How fast upkeep works.
package struct UpkeepPace: Sendable {
    /// How many commands are sent at once.
    package let page: Int
    /// How many milliseconds to wait for a shard locked by another session.
    package let patience: Int64
    /// If another instance takes over this lease, nothing more is written.
    package let lease: Lease?

    /// For a service: leaves processors to reads in between, and no shard waits for another.
    package static let service = UpkeepPace(page: 50, patience: 300, lease: nil)

    /// For a run that should finish and visits each shard once.
    package static func run(_ lease: Lease?) -> UpkeepPace {
        UpkeepPace(page: 500, patience: 3000, lease: lease)
    }
}

extension Command {
    /// Publishes what is due for a customer.
    package static func publishing(_ stream: Stream) -> Command { keeping(stream, .publishing) }

    /// Rewrites the rows of a customer or a project.
    package static func mending(_ stream: Stream) -> Command { keeping(stream, .mending) }

    /// Notes that a project's customers are projected to a version of its catalog.
    package static func concluding(_ outdated: OutdatedProject) -> Command {
        keeping(
            .ofProject(outdated.project), .concluding(catalogVersion: outdated.catalogVersion))
    }

    /// A command for upkeep. Its events, if any, have causes of their own, so it may be repeated
    /// freely.
    private static func keeping(_ stream: Stream, _ upkeep: Upkeep) -> Command {
        Command(
            stream: stream, actor: .clock, cause: .upkeep, concernsMerged: true
        ) { _ in Decision([], for: stream.customer, upkeep) }
    }

    /// Projects a customer by the current catalog, and credits transactions that waited for
    /// products it now knows. If another instance does the same, nothing counts twice.
    package static func projecting(_ stream: Stream, because cause: Cause) -> Command {
        var command = Command(
            stream: stream, actor: .catalog, cause: cause, concernsMerged: true
        ) { situation in
            let catalog = situation.project.catalog
            let known = situation.waitingCredits.filter { catalog.product($0.key) != nil }
            let events = situation.customer(stream.customer).settling(known, by: catalog)
            return Decision(events, for: stream.customer, .projecting(settled: known))
        }
        command.settlesCredits = true
        return command
    }

    /// Closes a customer's expired orders.
    package static func closingStaleOrders(
        of stream: Stream, because cause: Cause
    ) -> Command {
        .customer(stream, actor: .clock, cause: cause, concernsMerged: true) { state, _, now in
            state.closingStaleOrders(now: now)
        }
    }

    /// Gives the customer the purchases waiting under a token that is already the customer's. A row
    /// alone gives nothing: the token's owner is proven before this is decided.
    package static func claimingWaiting(
        _ token: AccountToken, for stream: Stream, because cause: Cause
    ) -> Command {
        .claiming(token, for: stream, actor: .clock, cause: cause) { _ in [] }
    }

    /// Decides again who holds the unclaimed purchase of a stream, by facts that are recorded there.
    /// They give no event but its move, so none needs their evidence.
    package static func placing(
        _ facts: Facts, of stream: Stream, because cause: Cause
    ) -> Command {
        let submission = Submission([.init(index: 0, facts: facts)], by: .store)
        var command = Command(stream: stream, actor: .clock, cause: cause) {
            situation throws(Refusal) in
            var decision = try submission.decide(situation)
            // If the purchase has left since it was read, nothing is decided.
            let isNew = decision.parts.contains { $0.events.contains { $0.fact != nil } }
            decision.parts =
                isNew
                ? []
                : decision.parts.map { Decision.Part(customer: $0.customer, events: $0.events) }
            return decision
        }
        command.purchases = submission.purchases
        command.tokens = submission.tokens
        command.customers = submission.keepers
        return command
    }
}

extension Actor {
    /// The actor of changes caused by the clock.
    package static let clock = Actor(prefix: "deed:", random: "clock")
    /// The actor of changes caused by a new catalog.
    package static let catalog = Actor(prefix: "deed:", random: "catalog")
}
