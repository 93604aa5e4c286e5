package import Core

/// The event log, which accepts commands and provides states and events.
package protocol EventLog: Sendable {
    /// Decides a command based on its stream's state. Returns once the resulting events are durable.
    func append(_ command: Command) throws(CommandError) -> Outcome
    /// Like `append`, but without blocking. Calls `respond` exactly once.
    func submit(_ command: Command, respond: @escaping @Sendable (CommandResult) -> Void)
    /// Announces this many more commands, or fewer if the number is negative.
    func announce(_ change: Int)
    /// The current states of a customer and its project.
    func customer(of stream: Stream) throws(Fault) -> CustomerSnapshot
    /// Like `customer`, but without blocking. Responds exactly once.
    func read(
        _ stream: Stream, respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void)
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// Up to `limit` events of a stream after a version, oldest first.
    func events(of stream: Stream, after version: Int64, limit: Int) throws(Fault) -> [LogEntry]
}

/// Access to the log for reads that go beyond a single customer.
package protocol CustomerReading: Sendable {
    /// The last position of each shard, by shard number.
    func heads() throws(Fault) -> [Int64]
    /// Several customers of one project, and the project itself, in one round trip.
    func customers(_ streams: [Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>]
    /// The edition's catalog.
    func catalog(_ edition: CatalogEdition, of project: ProjectID) throws(Fault) -> Catalog
    /// Throws if reads may come from a server that other instances no longer write to.
    func requireCertainty() throws(Fault)
}

/// Lists of projects and customers, and lookups that start without a customer.
package protocol Directory: Sendable {
    func projects() throws(Fault) -> [ListedProject]
    /// A project's customers after `last`; empty if there are no more.
    func customers(
        of project: ProjectID, after last: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer]
    /// The apps of all projects. A store's notification names the app but not the project.
    func apps() throws(Fault) -> [ListedApp]
    /// The keys of all projects, except revoked ones.
    func liveKeys() throws(Fault) -> [LiveKey]
    /// The stream of the customer to whom an order belongs; `nil` if the order is unknown.
    func owner(
        of order: OrderID, in project: ProjectID, _ environment: Environment
    ) throws(Fault) -> Stream?
    /// Whether any project is being reconciled.
    func isReconciling() throws(Fault) -> Bool
    /// Unclaimed purchases after `last`, sorted by store and id.
    func unclaimed(
        of project: ProjectID, _ environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(Fault) -> [ListedUnclaimed]
}

/// Lists grants made in a project.
package protocol GrantListing: Sendable {
    /// Matching grants after a position in the list, which shows the newest ones first.
    func grants(
        of project: ProjectID, _ environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(Fault) -> GrantLeads
}

/// Finds objects by their names.
package protocol Finding: Sendable {
    /// The customers to whom the words lead, up to `limit` for each kind of name.
    func leads(
        _ words: FindWords, in project: ProjectID, _ environments: [Environment], limit: Int
    ) throws(Fault) -> FoundLeads
}

/// Finds customers by a store account.
package protocol StoreAccounts: Sendable {
    /// The customers whose evidence names this store account.
    func customers(
        of account: AppTransactionID, in project: ProjectID, _ environment: Environment, limit: Int
    ) throws(Fault) -> [CustomerID]
    /// The customers with a refund request that can still be answered, most urgent first.
    func refundRequests(
        of project: ProjectID, _ environment: Environment, at now: Instant,
        after last: RefundPlace?, limit: Int
    ) throws(Fault) -> [RefundPlace]
    /// The parts of projects with unanswered refund requests that can still be answered after this instant.
    func askedRefunds(after instant: Instant) throws(Fault) -> [ProjectPart]
}
