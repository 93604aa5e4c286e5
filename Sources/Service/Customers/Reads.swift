package import Core

/// Everything about a customer at one instant.
package struct CustomerAnswer: Sendable {
    package let view: CustomerView
    package let entitlements: EntitlementsAnswer
    package let subscriptions: [SubscriptionStatus]
}

/// Why a customer has or lacks an entitlement.
package struct ExplanationAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entitlement: EntitlementID
    package let at: Instant
    package let explanation: Explanation
    package let position: Position
    /// The customer into whom this one was merged.
    package let mergedInto: CustomerID?
    /// The events about each source of the entitlement.
    package let events: [RecordedEvent]
    /// The names of the keys that caused the events.
    package let actorNames: [Actor: String]
}

/// A customer's balances, and the position in the log up to which they are current.
package struct BalancesAnswer: Hashable, Sendable {
    package let stream: Stream
    package let balances: Balances
    /// The sandbox balances, if the sandbox counts for the customer.
    package let sandboxBalances: Balances?
    package let position: Position
    /// The customer into whom this one was merged.
    package let mergedInto: CustomerID?
}

/// Some events of a stream.
package struct EventsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entries: [LogEntry]
    package let position: Position
    /// The version to continue from; `nil` if there are no more events.
    package let next: Int64?
    /// The names of the keys that caused the events.
    package let actorNames: [Actor: String]
}

/// Answers questions about a customer, and says why.
package struct Customers: Sendable {
    let ledger: any EventLog
    package let reading: any CustomerReading
    package let now: @Sendable () -> Instant

    /// Returns the customer's entitlements at `at` (the current time by default), based on the events recorded up to
    /// `known` (all events by default).
    package func entitlements(
        of stream: Stream, at: Instant?, known: Instant?
    ) throws(Fault) -> EntitlementsAnswer {
        let view = try view(of: stream, known: known)
        return EntitlementsAnswer(view, at: at ?? now())
    }

    /// Returns everything about the customer, for the same two instants.
    package func customer(
        _ stream: Stream, at: Instant?, known: Instant?
    ) throws(Fault) -> CustomerAnswer {
        let view = try view(of: stream, known: known)
        let at = at ?? now()
        return CustomerAnswer(
            view: view, entitlements: EntitlementsAnswer(view, at: at),
            subscriptions: view.customer.subscriptions(at: at, catalog: view.project.catalog))
    }

    /// Returns the facts, rules and boundaries behind the answer about one entitlement.
    package func explanation(
        of entitlement: EntitlementID, for stream: Stream, at: Instant?, known: Instant?
    ) throws(Fault) -> ExplanationAnswer {
        let view = try view(of: stream, known: known)
        let at = at ?? now()
        let explanation = view.customer.explanation(
            of: entitlement, at: at, catalog: view.project.catalog)
        let events = try events(behind: explanation, in: view, known)
        return ExplanationAnswer(
            stream: stream, entitlement: entitlement, at: at, explanation: explanation,
            position: view.position, mergedInto: view.customer.mergedInto, events: events,
            actorNames: view.project.names(of: events.map(\.actor)))
    }

    /// Returns the events about the sources that the explanation's reasons name, oldest first.
    /// Events from the sandbox come last.
    private func events(
        behind explanation: Explanation, in view: CustomerView, _ known: Instant?
    ) throws(Fault) -> [RecordedEvent] {
        let sources = Set(explanation.reasons.map(\.source))
        if sources.isEmpty { return [] }
        var events = try history(of: view.stream)
        if view.sandbox != nil { events += try history(of: view.stream.inSandbox) }
        return events.filter { recorded in
            recorded.recordedAt <= known ?? .distantFuture
                && sources.contains { recorded.event.isAbout($0) }
        }
    }

    /// Returns the customer's current balance in each currency.
    package func balances(of stream: Stream) throws(Fault) -> BalancesAnswer {
        let view = try view(of: stream)
        return BalancesAnswer(
            stream: stream, balances: view.customer.balances,
            sandboxBalances: view.sandboxBalances, position: view.position,
            mergedInto: view.customer.mergedInto)
    }

    /// Returns the last position of each shard, by shard number.
    package func heads() throws(Fault) -> [Int64] { try reading.heads() }

    func history(of stream: Stream) throws(Fault) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        while true {
            let page = try ledger.events(of: stream, after: events.last?.version ?? 0, limit: 1000)
            if page.isEmpty { return events }
            events += page.map(\.recorded)
        }
    }

    /// Returns up to `limit` of a customer's events after a version.
    package func events(
        of stream: Stream, after version: Int64, limit: Int
    ) throws(Fault) -> EventsAnswer {
        let head = try heads()[Int(stream.shard.number)]
        let entries = try ledger.events(of: stream, after: version, limit: limit + 1)
        let page = Array(entries.prefix(limit))
        // The project is read after the events, so that it includes every key that they name.
        let project = try ledger.project(stream.project)
        return EventsAnswer(
            stream: stream, entries: page,
            position: Position(shard: stream.shard, sequence: head),
            next: entries.count > limit ? page.last?.recorded.version : nil,
            actorNames: project.names(of: page.map(\.recorded.actor)))
    }
}
