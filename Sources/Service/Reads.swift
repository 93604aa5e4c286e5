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
        let (state, position) = try ledger.state(stream)
        let instant = at ?? now()
        guard case .customer(let current) = state else {
            throw .broken("a project's stream was read as a customer's")
        }
        let customer = try known.map { known throws(Fault) in
            try past(of: stream, known: known)
        }
        return EntitlementsAnswer(
            stream: stream,
            entitlements: (customer ?? current).entitlements(at: instant, catalog: Catalog()),
            position: position)
    }

    /// The state that a reader saw at `known`.
    private func past(of stream: Stream, known: Instant) throws(Fault) -> CustomerState {
        var state = CustomerState()
        while true {
            let page = try ledger.events(stream, state.version, 1000)
            for entry in page {
                if entry.recorded.recordedAt > known { return state }
                state.apply(entry.recorded.event)
            }
            if page.isEmpty { return state }
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
