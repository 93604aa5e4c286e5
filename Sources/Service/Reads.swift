package import Core

/// A customer's entitlements, and the place in the log up to which they hold.
package struct EntitlementsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entitlements: Entitlements
    package let position: Position
}

/// Some events of a stream.
package struct EventsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entries: [LogEntry]
    /// The version to ask for next; `nil` when there is no more.
    package let next: Int64?
}

extension Ports {
    /// What the customer may use at `at` (now, when it is not given), from what was recorded by
    /// `known` (everything, when that is not given).
    package func entitlements(
        of stream: Stream, at: Instant?, known: Instant?
    ) throws(Fault) -> EntitlementsAnswer {
        let snapshot = try ledger.customer(stream)
        var (customer, project) = (snapshot.customer, snapshot.project)
        if let known {
            customer = CustomerState(folding: try history(of: stream), known: known)
            project = ProjectState(
                folding: try history(of: .ofProject(stream.project)), known: known)
        }
        return EntitlementsAnswer(
            stream: stream,
            entitlements: customer.entitlements(at: at ?? now(), catalog: project.catalog),
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
        let entries = try ledger.events(stream, version, limit + 1)
        let page = Array(entries.prefix(limit))
        return EventsAnswer(
            stream: stream, entries: page,
            next: entries.count > limit ? page.last?.recorded.version : nil)
    }
}
