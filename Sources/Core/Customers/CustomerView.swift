/// A customer as shown in answers: the production data, and the sandbox purchases that count there.
package struct CustomerView: Sendable {
    package let stream: Stream
    package let customer: CustomerState
    package let project: ProjectState
    /// The position in the customer's shard up to which the view is current.
    package let position: Position
    /// The position in the sandbox's shard; `nil` if sandbox purchases do not count.
    package let sandbox: Position?
    /// The customer's sandbox balances, if the sandbox counts. They can never be spent in production.
    package let sandboxBalances: Balances?

    package init(_ snapshot: CustomerSnapshot, of stream: Stream) {
        self.init(snapshot, of: stream, including: nil)
    }

    package init(
        _ own: CustomerSnapshot, of stream: Stream, including sandbox: CustomerSnapshot?
    ) {
        self.stream = stream
        let apps = own.project.sandboxApps(for: stream.customer)
        customer = sandbox.map { own.customer.including($0.customer, of: apps) } ?? own.customer
        project = own.project
        position = own.position
        self.sandbox = sandbox?.position
        sandboxBalances = sandbox?.customer.balances
    }
}

extension CustomerSnapshot {
    /// Returns whether answers about the stream include the customer's sandbox purchases.
    package func includesSandbox(of stream: Stream) -> Bool {
        stream.environment == .production && !project.sandboxApps(for: stream.customer).isEmpty
    }
}

/// A customer's entitlements, and the position in the log up to which they are current.
package struct EntitlementsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entitlements: Entitlements
    package let position: Position
    /// The version of the project's rules from which the entitlements were derived.
    package let rules: Int64
    /// The position in the sandbox up to which they are current; `nil` if they do not include any
    /// sandbox data.
    package let sandbox: Position?
    /// The customer into whom this one was merged.
    package let mergedInto: CustomerID?

    package init(_ view: CustomerView, at instant: Instant) {
        stream = view.stream
        entitlements = view.customer.entitlements(at: instant, catalog: view.project.catalog)
        position = view.position
        rules = view.project.rulesVersion
        sandbox = view.sandbox
        mergedInto = view.customer.mergedInto
    }
}
