/// What a commit does for the tables although no event of its decision asks for it.
package enum Upkeep: Hashable, Sendable {
    /// Publishes what the clock and new catalogs brought the customer, and writes the customer's own row.
    case publishing
    /// The same, writes every row of the customer by the catalog of now, and forgets that these credits wait.
    case projecting(settled: [WaitingCredit])
    /// Writes every row of a customer or a project, over existing ones.
    case mending
    /// Notes that every customer of the project has rows by that version of its catalog.
    case concluding(catalogVersion: Int64)
}

/// A customer for whom something may have to be published, and since when.
package typealias DueCustomer = (stream: Stream, at: Instant)

/// A project whose customers have rows by an older catalog.
package typealias OutdatedProject = (project: ProjectID, catalogVersion: Int64)

/// How upkeep goes about its work.
package struct UpkeepPace: Sendable {
    /// How many commands are sent together.
    package let page: Int
    /// How long a shard is waited for that another session has locked, in milliseconds.
    package let patience: Int64
    /// Nothing is written once another instance has taken it over.
    package let lease: Lease?

    /// Of a service, which leaves the processors to reads in between, and in which no shard waits for another one.
    package static let service = UpkeepPace(page: 50, patience: 300, lease: nil)

    /// Of a run that wants to come to its end, and that comes to each shard once.
    package static func run(_ lease: Lease?) -> UpkeepPace {
        UpkeepPace(page: 500, patience: 3000, lease: lease)
    }
}

extension Command {
    /// Publishes what is due of a customer.
    package static func publishing(_ stream: Stream) -> Command { keeping(stream, .publishing) }

    /// Writes the rows of a customer or a project anew.
    package static func mending(_ stream: Stream) -> Command { keeping(stream, .mending) }

    /// Ends the projection of a project's customers by a version of its catalog.
    package static func concluding(_ outdated: OutdatedProject) -> Command {
        keeping(
            .ofProject(outdated.project), .concluding(catalogVersion: outdated.catalogVersion))
    }

    /// Its events, if any, name causes of their own, so that it may be repeated at will.
    private static func keeping(_ stream: Stream, _ upkeep: Upkeep) -> Command {
        Command(stream: stream, actor: .clock, cause: Cause(text: "upkeep", digest: [])) { _ in
            Decision([], for: stream.customer, upkeep)
        }
    }

    /// Brings a customer to the catalog of now, and credits what waited for products that it knows. Nothing counts
    /// twice when another instance does the same.
    package static func projecting(_ stream: Stream, because cause: Cause) -> Command {
        var command = Command(stream: stream, actor: .catalog, cause: cause) { situation in
            let catalog = situation.project.catalog
            let known = situation.waitingCredits.filter { catalog.product($0.key) != nil }
            let events = situation.customer(stream.customer).settling(known, by: catalog)
            return Decision(events, for: stream.customer, .projecting(settled: known))
        }
        command.settlesCredits = true
        return command
    }

    /// Closes the orders of a customer whose time is over.
    package static func closingStaleOrders(
        of stream: Stream, because cause: Cause
    ) -> Command {
        .customer(stream, actor: .clock, cause: cause) { state, _, now in
            state.closingStaleOrders(now: now)
        }
    }

    /// Brings the customer what waits under a token that is the customer's already. A row alone gives nothing: whose
    /// the token is was proven before this is decided.
    package static func claimingWaiting(
        _ token: AccountToken, for stream: Stream, because cause: Cause
    ) -> Command {
        .claiming(token, for: stream, actor: .clock, cause: cause) { _ in [] }
    }
}

extension Actor {
    /// Who does what the clock brought.
    package static let clock = Actor(prefix: "deed:", random: "clock")
    /// Who does what a new catalog brought.
    package static let catalog = Actor(prefix: "deed:", random: "catalog")
}
