/// Table maintenance that no caller requested.
package enum Upkeep: Hashable, Sendable {
    /// Publishes the changes that the clock and new catalogs made for the customer, and writes the
    /// customer's own row.
    case publishing
    /// Also rewrites all of the customer's rows according to the current catalog, and removes these waiting credits.
    case projecting(settled: [WaitingCredit])
    /// Rewrites all rows of a customer or a project.
    case mending
    /// Records that the rows of all of the project's customers follow this version of its catalog.
    case concluding(catalogVersion: Int64)
}

/// A customer with changes that may be due for publishing, and the time at which they became due.
package typealias DueCustomer = (stream: Stream, at: Instant)

/// A project whose customers' rows follow an older catalog.
package typealias OutdatedProject = (project: ProjectID, catalogVersion: Int64)

package struct UpkeepPace: Sendable {
    /// The number of commands sent together.
    package let page: Int
    /// How long to wait for a shard that another session has locked, in milliseconds.
    package let patience: Int64
    /// If another instance takes over this lease, upkeep stops writing.
    package let lease: Lease?

    /// The pace of a running service. It leaves processor time for reads, and no shard waits for another one.
    package static let service = UpkeepPace(page: 50, patience: 300, lease: nil)

    /// Returns the pace of a complete run, which visits each shard only once.
    package static func run(_ lease: Lease?) -> UpkeepPace {
        UpkeepPace(page: 500, patience: 3000, lease: lease)
    }
}

extension Command {
    /// Publishes the customer's due changes.
    package static func publishing(_ stream: Stream) -> Command { keeping(stream, .publishing) }

    /// Rewrites the rows of a customer or a project.
    package static func mending(_ stream: Stream) -> Command { keeping(stream, .mending) }

    /// Records that a project's customers have been projected to a version of its catalog.
    package static func concluding(_ outdated: OutdatedProject) -> Command {
        keeping(
            .ofProject(outdated.project), .concluding(catalogVersion: outdated.catalogVersion))
    }

    /// Returns an upkeep command. Its events have separate causes, so the command may be repeated freely.
    private static func keeping(_ stream: Stream, _ upkeep: Upkeep) -> Command {
        Command(
            stream: stream, actor: .clock, cause: .upkeep, concernsMerged: true
        ) { _ in Decision([], for: stream.customer, upkeep) }
    }

    /// Projects a customer according to the current catalog, and credits transactions that waited
    /// for its products. If another instance does the same, nothing is credited twice.
    package static func projecting(_ stream: Stream, because cause: Cause) -> Command {
        var command = Command(
            stream: stream, actor: .catalog, cause: cause, concernsMerged: true
        ) { situation in
            let catalog = situation.project.catalog
            let waiting = situation.waitingCredits
            let customer = situation.customer(stream.customer)
            let events = customer.settling(waiting, by: catalog)
            let settled = waiting.filter { customer.isSettled($0, by: catalog) }
            return Decision(events, for: stream.customer, .projecting(settled: settled))
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

    /// Gives the customer the purchases that wait under a token that already belongs to the customer. A table row
    /// alone is not sufficient: the token's owner is proven before the decision.
    package static func claimingWaiting(
        _ token: AccountToken, for stream: Stream, because cause: Cause
    ) -> Command {
        .claiming(token, for: stream, actor: .clock, cause: cause) { _ in [] }
    }

    /// Decides again who holds a stream's unclaimed purchase, based on the facts recorded there. Only
    /// the purchase's move can result, so the command does not need the evidence for the facts.
    package static func placing(
        _ facts: Facts, of stream: Stream, because cause: Cause
    ) -> Command {
        let submission = Submission([.init(index: 0, facts: facts)], by: .store)
        var command = Command(stream: stream, actor: .clock, cause: cause) {
            situation throws(Refusal) in
            var decision = try submission.decide(situation)
            // If the purchase has since left, there is nothing to decide.
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
    /// The actor for changes caused by the clock.
    package static let clock = Actor(prefix: "deed:", random: "clock")
    /// The actor for changes caused by a new catalog.
    package static let catalog = Actor(prefix: "deed:", random: "catalog")
}
