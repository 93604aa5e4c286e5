/// A customer as answers see it: in production together with the sandbox purchases that the project
/// lets count there.
package struct CustomerView: Sendable {
    package let stream: Stream
    package let customer: CustomerState
    package let project: ProjectState
    /// The place in the customer's shard up to which it holds.
    package let position: Position
    /// The same of the sandbox; `nil` when nothing of it counts.
    package let sandbox: Position?
    /// What the customer has there, for whom the sandbox counts. It is never spent in production.
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
    /// Whether answers about the stream include the same customer's sandbox.
    package func includesSandbox(of stream: Stream) -> Bool {
        stream.environment == .production && !project.sandboxApps(for: stream.customer).isEmpty
    }
}

/// A customer's entitlements, and the place in the log up to which they hold.
package struct EntitlementsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let entitlements: Entitlements
    package let position: Position
    /// The version of the project's rules that it was derived by.
    package let rules: Int64
    /// Up to where the sandbox holds that it includes; `nil` when it includes none.
    package let sandbox: Position?

    package init(_ view: CustomerView, at instant: Instant) {
        stream = view.stream
        entitlements = view.customer.entitlements(at: instant, catalog: view.project.catalog)
        position = view.position
        rules = view.project.rulesVersion
        sandbox = view.sandbox
    }
}
