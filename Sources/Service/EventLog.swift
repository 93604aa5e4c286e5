package import Core

/// The event log, which accepts commands and provides states and events.
package protocol EventLog: Sendable {
    /// Evaluates the command against the current state of its stream. Returns once the resulting
    /// events are durable.
    func append(_ command: Command) throws(CommandError) -> Outcome
    /// Works like `append`, but without blocking. Calls `respond` exactly once.
    func submit(_ command: Command, respond: @escaping @Sendable (CommandResult) -> Void)
    /// Announces that this many more commands are on their way, or fewer if the number is negative.
    func announce(_ change: Int)
    /// Returns the current states of a customer and its project.
    func customer(of stream: Stream) throws(Fault) -> CustomerSnapshot
    /// Works like `customer`, but without blocking. Responds exactly once.
    func read(
        _ stream: Stream, respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void)
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// Returns up to `limit` events of a stream after a version, oldest first.
    func events(of stream: Stream, after version: Int64, limit: Int) throws(Fault) -> [LogEntry]
}

/// Access to the log for reads that go beyond a single customer.
package protocol CustomerReading: Sendable {
    /// Returns the last position of each shard, by shard number.
    func heads() throws(Fault) -> [Int64]
    /// Returns several customers of one project, and the project itself, in one round trip.
    func customers(_ streams: [Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>]
    func catalog(_ edition: CatalogEdition, of project: ProjectID) throws(Fault) -> Catalog
    /// Throws if reads may come from a server that other instances no longer write to.
    func requireCertainty() throws(Fault)
}

/// Lists of projects and customers, and lookups that start without a customer.
package protocol Directory: Sendable {
    func projects() throws(Fault) -> [ListedProject]
    /// Returns a project's customers after `last`; empty if there are no more.
    func customers(
        of project: ProjectID, after last: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer]
    /// Returns the apps of all projects. A store's notification names the app but not the project.
    func apps() throws(Fault) -> [ListedApp]
    /// Returns the keys of all projects, except revoked ones.
    func liveKeys() throws(Fault) -> [LiveKey]
    /// Returns the stream of the customer to whom an order belongs; `nil` if the order is unknown.
    func owner(
        of order: OrderID, in project: ProjectID, _ environment: Environment
    ) throws(Fault) -> Stream?
    /// Returns whether any project is being reconciled.
    func isReconciling() throws(Fault) -> Bool
    /// Returns unclaimed purchases after `last`, sorted by store and id.
    func unclaimed(
        of project: ProjectID, _ environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(Fault) -> [ListedUnclaimed]
}

/// Lists grants made in a project.
package protocol GrantListing: Sendable {
    /// Returns matching grants after a position in the list, which shows the newest ones first.
    func grants(
        of project: ProjectID, _ environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(Fault) -> GrantLeads
}

/// Finds objects by their names.
package protocol Finding: Sendable {
    /// Returns the customers to whom the search words lead, up to `limit` for each kind of name.
    func leads(
        _ words: FindWords, in project: ProjectID, _ environments: [Environment], limit: Int
    ) throws(Fault) -> FoundLeads
}

/// Finds customers by a store account.
package protocol StoreAccounts: Sendable {
    /// Returns the customers whose evidence names this store account.
    func customers(
        of account: AppTransactionID, in project: ProjectID, _ environment: Environment, limit: Int
    ) throws(Fault) -> [CustomerID]
    /// Returns the customers with a refund request that can still be answered, most urgent first.
    func refundRequests(
        of project: ProjectID, _ environment: Environment, at now: Instant,
        after last: RefundPlace?, limit: Int
    ) throws(Fault) -> [RefundPlace]
    /// Returns the parts of projects with unanswered refund requests that can still be answered after this instant.
    func askedRefunds(after instant: Instant) throws(Fault) -> [ProjectPart]
}
