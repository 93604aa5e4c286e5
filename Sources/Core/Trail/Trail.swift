/// Criteria for finding entries in a project's audit trail. `nil` matches anything.
package struct TrailFilter: Hashable, Sendable {
    package var actor: Actor?
    package var customer: CustomerID?
    /// An event's type, or a refused call such as `POST /v1/customers/{customer}/grants`.
    package var action: String?
    package var ticket: Ticket?
    package var from: Instant?
    package var to: Instant?
    package var environment: Environment?

    package init() {}
}

/// A position in the trail, newest first. At the same instant, events from the log come before refusals.
package enum TrailPlace: Hashable, Sendable {
    case act(Instant, Position)
    case refusal(Instant, id: String)

    package var at: Instant {
        switch self {
        case .act(let at, _), .refusal(let at, _): at
        }
    }

    /// Returns whether this position comes before the other one in the list and is therefore newer.
    package func precedes(_ other: TrailPlace) -> Bool {
        if at != other.at { return at > other.at }
        switch (self, other) {
        case (.act(_, let one), .act(_, let two)):
            return (one.shard.number, one.sequence) > (two.shard.number, two.sequence)
        case (.act, .refusal): return true
        case (.refusal, .act): return false
        case (.refusal(_, let one), .refusal(_, let two)):
            return two.utf8.lexicographicallyPrecedes(one.utf8)
        }
    }
}

/// A recorded action that was taken by a person or with a person's key.
package struct RecordedAct: Sendable {
    package let position: Position
    package let stream: Stream
    package let version: Int64
    package let type: String
    package let at: Instant
    package let actor: Actor
    package let why: Why

    /// Why the person acted, if the event can be read.
    package struct Why: Hashable, Sendable {
        package let reason: String?
        package let ticket: String?

        package init(reason: String?, ticket: String?) {
            (self.reason, self.ticket) = (reason, ticket)
        }
    }

    package init(
        position: Position, stream: Stream, version: Int64, type: String, why: Why, at: Instant,
        actor: Actor
    ) {
        self.position = position
        self.stream = stream
        self.version = version
        self.type = type
        self.at = at
        self.actor = actor
        self.why = why
    }

    package var place: TrailPlace { .act(at, position) }
}

/// A call with a person's key that is not in the log, because Deed refused it or it only asked a
/// store. The record of such a call cannot be verified.
package struct RefusedCall: Hashable, Sendable {
    /// How long a refusal is kept, in milliseconds, and how many refusals are kept for a project.
    package static let keptFor: Int64 = 90 * CivilDate.millisecondsPerDay
    package static let countLimit: Int64 = 100_000

    package let project: ProjectID
    package let at: Instant
    package let id: String
    package let key: KeyID
    package let call: String
    package let status: Int
    package let code: String
    package var customer: CustomerID?
    package var environment: Environment?
    package var reason: Reason?
    package var ticket: Ticket?

    package init(
        project: ProjectID, at: Instant, id: String, key: KeyID, call: String, status: Int,
        code: String
    ) {
        self.project = project
        self.at = at
        self.id = id
        self.key = key
        self.call = call
        self.status = status
        self.code = code
    }

    package var isRefused: Bool { status >= 400 }
    package var place: TrailPlace { .refusal(at, id: id) }
    package var actor: Actor {
        Actor(prefix: RefusedCall.isPerson(key.text) ? "person:" : "key:", random: key.text)
    }

    /// Returns the id of the key or person behind the actor; `nil` for other actors.
    package static func caller(named actor: Actor) -> String? {
        for (prefix, isOfPeople) in [("key:", false), ("person:", true)] {
            guard actor.text.hasPrefix(prefix) else { continue }
            let id = String(actor.text.dropFirst(prefix.utf8.count))
            return isPerson(id) == isOfPeople ? id : nil
        }
        return nil
    }

    /// Returns whether the id belongs to a person. People can make calls, as keys can.
    private static func isPerson(_ id: String) -> Bool { id.hasPrefix("pe_") }
}

/// The matching actions, and the position that the search reached.
package struct FoundActs: Sendable {
    package let acts: [RecordedAct]
    /// The last position that was examined; `nil` if no further actions can follow.
    package let lookedUntil: TrailPlace?

    package init(acts: [RecordedAct], lookedUntil: TrailPlace?) {
        self.acts = acts
        self.lookedUntil = lookedUntil
    }
}
