package import Core

/// The log. Commands go in, and states and events come out.
package protocol EventLog: Sendable {
    /// Decides a command on its stream's state. Returns once its events are durable.
    func append(_ command: Command) throws(CommandError) -> Outcome
    /// Like `append`, without blocking. Responds exactly once.
    func submit(_ command: Command, respond: @escaping @Sendable (CommandResult) -> Void)
    /// Announces this many more commands, or fewer if negative.
    func announce(_ change: Int)
    /// The current states of a customer and its project.
    func customer(of stream: Stream) throws(Fault) -> CustomerSnapshot
    /// Like `customer`, without blocking. Responds exactly once.
    func read(
        _ stream: Stream, respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void)
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// Up to `limit` events of a stream after a version, oldest first.
    func events(of stream: Stream, after version: Int64, limit: Int) throws(Fault) -> [LogEntry]
}

/// The log access that reads need in addition to single customers.
package protocol CustomerReading: Sendable {
    /// The last position of each shard, by shard number.
    func heads() throws(Fault) -> [Int64]
    /// Several customers of one project, and the project, in one round trip.
    func customers(_ streams: [Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>]
    /// Throws if reads may come from a server to which other instances no longer write.
    func requireCertainty() throws(Fault)
}

/// Lists of projects and customers, and lookups that start without a customer.
package protocol Directory: Sendable {
    func projects() throws(Fault) -> [ListedProject]
    /// Customers of a project after `last`; empty at the end.
    func customers(
        of project: ProjectID, after last: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer]
    /// Every app of every project. A store's notifications name the app, but not the project.
    func apps() throws(Fault) -> [ListedApp]
    /// Every key that has not been revoked, of every project.
    func liveKeys() throws(Fault) -> [LiveKey]
    /// The stream of the customer who has an order, or `nil`.
    func owner(
        of order: OrderID, in project: ProjectID, _ environment: Environment
    ) throws(Fault) -> Stream?
    /// Whether any project is being reconciled.
    func isReconciling() throws(Fault) -> Bool
    /// Unclaimed purchases after `last`, ordered by store and id.
    func unclaimed(
        of project: ProjectID, _ environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(Fault) -> [ListedUnclaimed]
}

/// Lists grants made in a project.
package protocol GrantListing: Sendable {
    /// Matching grants, newest first, after a place in that order.
    func grants(
        of project: ProjectID, _ environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(Fault) -> GrantLeads
}

/// Finds objects by their names.
package protocol Finding: Sendable {
    /// The places to which the words lead, up to `limit` of each kind.
    func leads(
        _ words: FindWords, in project: ProjectID, _ environments: [Environment], limit: Int
    ) throws(Fault) -> FoundLeads
}

/// Finds customers by a store account.
package protocol StoreAccounts: Sendable {
    /// Customers whose evidence names this store account.
    func customers(
        of account: AppTransactionID, in project: ProjectID, _ environment: Environment, limit: Int
    ) throws(Fault) -> [CustomerID]
    /// Customers with a refund request that can still be answered, most urgent first.
    func refundRequests(
        of project: ProjectID, _ environment: Environment, at now: Instant,
        after last: RefundPlace?, limit: Int
    ) throws(Fault) -> [RefundPlace]
    /// The project parts with unanswered refund requests that can be answered after this instant.
    func askedRefunds(after instant: Instant) throws(Fault) -> [ProjectPart]
}
