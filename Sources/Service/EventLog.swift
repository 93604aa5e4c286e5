package import Core

/// The log: commands go in, and states and events come out.
package protocol EventLog: Sendable {
    /// Decides a command on its stream's state; returns when its events are durable.
    func append(_ command: Command) throws(CommandError) -> Outcome
    /// The same without blocking: responds exactly once.
    func submit(_ command: Command, respond: @escaping @Sendable (CommandResult) -> Void)
    /// Notes that this many more, or fewer, commands are about to come.
    func announce(_ change: Int)
    /// A customer and its project now.
    func customer(of stream: Stream) throws(Fault) -> CustomerSnapshot
    /// The same without blocking: responds exactly once.
    func read(
        _ stream: Stream, respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void)
    func project(_ project: ProjectID) throws(Fault) -> ProjectState
    /// Some events of a stream after a version, oldest first.
    func events(of stream: Stream, after version: Int64, limit: Int) throws(Fault) -> [LogEntry]
}

/// What reads need from the log besides single customers.
package protocol CustomerReading: Sendable {
    /// The last position of each shard, by shard number.
    func heads() throws(Fault) -> [Int64]
    /// Many customers of one project, and the project, as they are now, in one round trip.
    func customers(_ streams: [Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>]
    /// Throws if reads may come from a server that others do not write to.
    func requireCertainty() throws(Fault)
}

/// Lists of projects and customers, and lookups that start without a customer.
package protocol Directory: Sendable {
    func projects() throws(Fault) -> [ListedProject]
    /// Some customers of a project after one of them; an empty result is the end.
    func customers(
        of project: ProjectID, after last: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer]
    /// Every app of every project: a store's news names the app but no project.
    func apps() throws(Fault) -> [ListedApp]
    /// Every key of every project that is not revoked.
    func liveKeys() throws(Fault) -> [LiveKey]
    /// The stream of the customer who has an order; `nil` if none does.
    func owner(
        of order: OrderID, in project: ProjectID, _ environment: Environment
    ) throws(Fault) -> Stream?
    /// Whether some project is being reconciled.
    func isReconciling() throws(Fault) -> Bool
    /// Some purchases that no customer claimed after one of them, in order of store and id.
    func unclaimed(
        of project: ProjectID, _ environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(Fault) -> [ListedUnclaimed]
}

/// What a project's keys and people granted.
package protocol GrantListing: Sendable {
    /// Some grants that fit, the newest first, behind a place in that order.
    func grants(
        of project: ProjectID, _ environment: Environment, _ filter: GrantFilter,
        after last: GrantPlace?, limit: Int
    ) throws(Fault) -> GrantLeads
}

/// Lookups by the name of anything.
package protocol Finding: Sendable {
    /// Where the words lead, up to `limit` of each kind.
    func leads(
        _ words: FindWords, in project: ProjectID, _ environments: [Environment], limit: Int
    ) throws(Fault) -> FoundLeads
}

/// Lookups by a store account.
package protocol StoreAccounts: Sendable {
    /// Some customers whose evidence names that store account.
    func customers(
        of account: AppTransactionID, in project: ProjectID, _ environment: Environment, limit: Int
    ) throws(Fault) -> [CustomerID]
    /// Some customers with a requested refund that can still be answered, the most urgent first.
    func refundRequests(
        of project: ProjectID, _ environment: Environment, at now: Instant,
        after last: RefundPlace?, limit: Int
    ) throws(Fault) -> [RefundPlace]
    /// Where refunds were requested that are unanswered and can be answered after an instant.
    func askedRefunds(after instant: Instant) throws(Fault) -> [ProjectPart]
}
