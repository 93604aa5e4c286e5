package import Core

/// The content of one page about a customer, all from the same snapshot.
package struct LookAnswer: Sendable {
    package let customer: CustomerAnswer
    /// One explanation for each entitlement that the customer has ever held, based on the events
    /// that were read.
    package let explanations: [ExplanationAnswer]
    /// The newest events that were known at the requested instant, oldest first.
    package let events: EventsAnswer
    /// The number of earlier events.
    package let earlier: Int64
}

extension Customers {
    /// Returns everything about the customer, with an explanation of each entitlement and up to `limit` events: the
    /// newest ones, or the last ones before a version. Unless the request names an earlier instant, the amount of data
    /// read does not grow with the customer's history.
    package func look(
        at stream: Stream, _ at: Instant?, known: Instant?, before: Int64?, limit: Int
    ) throws(Fault) -> LookAnswer {
        let view = try view(of: stream, known: known)
        let at = at ?? now()
        let customer = CustomerAnswer(
            view: view, entitlements: EntitlementsAnswer(view, at: at),
            subscriptions: view.customer.subscriptions(at: at, catalog: view.project.catalog))
        let end = min(view.customer.version, before.map { max(0, $0 - 1) } ?? .max)
        let (entries, earlier) = try newest(of: stream, upTo: end, limit, known)
        var behind = entries.map(\.recorded)
        if view.sandbox != nil {
            let version = try ledger.customer(of: stream.inSandbox).customer.version
            behind += try newest(of: stream.inSandbox, upTo: version, limit, known).0
                .map(\.recorded)
        }
        let names = try ledger.project(stream.project).names(of: behind.map(\.actor))
        return LookAnswer(
            customer: customer,
            explanations: customer.entitlements.entitlements.all.map { entitlement in
                explain(entitlement.id, view, at: at, behind, names)
            },
            events: EventsAnswer(
                stream: stream, entries: entries, position: view.position, next: nil,
                actorNames: names), earlier: earlier)
    }

    private func explain(
        _ entitlement: EntitlementID, _ view: CustomerView, at: Instant,
        _ events: [RecordedEvent], _ names: [Actor: String]
    ) -> ExplanationAnswer {
        let explanation = view.customer.explanation(
            of: entitlement, at: at, catalog: view.project.catalog)
        let sources = Set(explanation.reasons.map(\.source))
        return ExplanationAnswer(
            stream: view.stream, entitlement: entitlement, at: at, explanation: explanation,
            position: view.position, mergedInto: view.customer.mergedInto,
            events: events.filter { recorded in
                sources.contains { recorded.event.isAbout($0) }
            }, actorNames: names)
    }

    /// Returns the last events up to a version, oldest first, and the number of events before them.
    private func newest(
        of stream: Stream, upTo end: Int64, _ limit: Int, _ known: Instant?
    ) throws(Fault) -> ([LogEntry], Int64) {
        let start = max(0, end - Int64(limit))
        if end == 0 { return ([], 0) }
        let entries = try ledger.events(of: stream, after: start, limit: Int(end - start))
        return (entries.filter { $0.recorded.recordedAt <= known ?? .distantFuture }, start)
    }
}
