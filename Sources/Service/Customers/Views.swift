package import Core

extension Customers {
    /// Returns the customer's current state, or the state as known at the given instant.
    func view(of stream: Stream, known: Instant? = nil) throws(Fault) -> CustomerView {
        let own = try snapshot(of: stream, known: known)
        guard own.includesSandbox(of: stream) else { return CustomerView(own, of: stream) }
        let sandbox = try snapshot(of: stream.inSandbox, known: known)
        return CustomerView(own, of: stream, including: sandbox)
    }

    /// Returns the customer's current state. Does not block. Calls `then` exactly once.
    package func view(
        of stream: Stream, then: @escaping @Sendable (Result<CustomerView, Fault>) -> Void
    ) {
        ledger.read(stream) { [ledger] own in
            guard case .success(let own) = own, own.includesSandbox(of: stream) else {
                then(own.map { CustomerView($0, of: stream) })
                return
            }
            ledger.read(stream.inSandbox) { sandbox in
                then(sandbox.map { CustomerView(own, of: stream, including: $0) })
            }
        }
    }

    /// Returns the current states of several customers of one project. An unreadable customer gets a fault. Takes one
    /// round trip, or two if sandbox purchases count.
    package func views(
        of streams: [Stream]
    ) throws(Fault) -> [Stream: Result<CustomerView, Fault>] {
        let snapshots = try reading.customers(streams)
        let including = zip(streams, snapshots).filter { stream, own in
            (try? own.get().includesSandbox(of: stream)) ?? false
        }
        let sandboxes = including.isEmpty ? [] : try reading.customers(including.map(\.0.inSandbox))
        let sandboxOf = Dictionary(
            zip(including.map(\.0), sandboxes), uniquingKeysWith: { first, _ in first })
        var views: [Stream: Result<CustomerView, Fault>] = [:]
        for (stream, own) in zip(streams, snapshots) {
            views[stream] = Result { () throws(Fault) in
                CustomerView(
                    try own.get(), of: stream, including: try sandboxOf[stream]?.get())
            }
        }
        return views
    }

    /// Returns the current states of a customer and its project, or their states as known at the given instant.
    private func snapshot(
        of stream: Stream, known: Instant?
    ) throws(Fault) -> CustomerSnapshot {
        let snapshot = try ledger.customer(of: stream)
        guard let known else { return snapshot }
        var project = ProjectState(
            folding: try history(of: .ofProject(stream.project)), known: known)
        if let edition = project.lackedEdition {
            project.supply(try reading.catalog(edition, of: stream.project))
        }
        return CustomerSnapshot(
            customer: CustomerState(folding: try history(of: stream), known: known),
            project: project, position: snapshot.position)
    }
}
