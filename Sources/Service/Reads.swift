package import Core

/// A customer's entitlements, and the place in the log up to which they hold.
package struct EntitlementsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entitlements: Entitlements
    package let position: Position
    /// The version of the project's rules that it was derived by.
    let rules: Int64
    /// Up to where the sandbox holds that it includes; `nil` when it includes none.
    let sandbox: Position?

    package init(_ snapshot: CustomerSnapshot, of stream: Stream, at instant: Instant) {
        self.stream = stream
        entitlements = snapshot.customer.entitlements(
            at: instant, catalog: snapshot.project.catalog)
        position = snapshot.position
        rules = snapshot.project.rulesVersion
        sandbox = nil
    }
}

/// Why a customer may use something, or why not.
package struct ExplanationAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entitlement: EntitlementID
    package let at: Instant
    package let explanation: Explanation
    package let position: Position
}

/// A customer's balances, and the place in the log up to which they hold.
package struct BalancesAnswer: Hashable, Sendable {
    package let stream: Stream
    package let balances: Balances
    package let position: Position
}

/// Some events of a stream.
package struct EventsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entries: [LogEntry]
    package let position: Position
    /// The version to ask for next; `nil` when there is no more.
    package let next: Int64?
}

extension Ports {
    /// What the customer may use at `at` (now, when it is not given), from what was recorded by
    /// `known` (everything, when that is not given).
    package func entitlements(
        of stream: Stream, at: Instant?, known: Instant?
    ) throws(Fault) -> EntitlementsAnswer {
        let snapshot = try snapshot(of: stream, known: known)
        return EntitlementsAnswer(snapshot, of: stream, at: at ?? now())
    }

    /// The facts, rules and boundaries behind the answer about one entitlement.
    package func explanation(
        of entitlement: EntitlementID, for stream: Stream, at: Instant?, known: Instant?
    ) throws(Fault) -> ExplanationAnswer {
        let snapshot = try snapshot(of: stream, known: known)
        let at = at ?? now()
        return ExplanationAnswer(
            stream: stream, entitlement: entitlement, at: at,
            explanation: snapshot.customer.explanation(
                of: entitlement, at: at, catalog: snapshot.project.catalog),
            position: snapshot.position)
    }

    /// What the customer has of each currency now.
    package func balances(of stream: Stream) throws(Fault) -> BalancesAnswer {
        let snapshot = try ledger.customer(stream)
        return BalancesAnswer(
            stream: stream, balances: snapshot.customer.balances, position: snapshot.position)
    }

    /// A customer and its project, as they were known at an instant if one is given.
    private func snapshot(
        of stream: Stream, known: Instant?
    ) throws(Fault) -> CustomerSnapshot {
        let snapshot = try ledger.customer(stream)
        guard let known else { return snapshot }
        return CustomerSnapshot(
            customer: CustomerState(folding: try history(of: stream), known: known),
            project: ProjectState(
                folding: try history(of: .ofProject(stream.project)), known: known),
            position: snapshot.position)
    }

    /// Every event of a stream.
    private func history(of stream: Stream) throws(Fault) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        while true {
            let page = try ledger.events(stream, events.last?.version ?? 0, 1000)
            if page.isEmpty { return events }
            events += page.map(\.recorded)
        }
    }

    /// Up to `limit` events of a customer after a version.
    package func events(
        of stream: Stream, after version: Int64, limit: Int
    ) throws(Fault) -> EventsAnswer {
        let head = try reading.heads()[Int(stream.shard.number)]
        let entries = try ledger.events(stream, version, limit + 1)
        let page = Array(entries.prefix(limit))
        return EventsAnswer(
            stream: stream, entries: page,
            position: Position(shard: stream.shard, sequence: head),
            next: entries.count > limit ? page.last?.recorded.version : nil)
    }
}
