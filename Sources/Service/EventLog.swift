package import Core

/// The log: commands go in, and states and events come out.
package protocol EventLog: Sendable {
    /// Decides a command on its stream's state; returns when its events are durable.
    func append(_ command: Command) throws(CommandError) -> Outcome
    /// The same without blocking: responds exactly once.
    func submit(_ command: Command, respond: @escaping @Sendable (CommandResult) -> Void)
    /// Notes that this many more commands are on their way, or fewer.
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

/// What reads need of the log in addition to single customers.
package protocol CustomerReading: Sendable {
    /// The last position of each shard, by the shard's number.
    func heads() throws(Fault) -> [Int64]
    /// Many customers of one project and the project now, in one round trip.
    func customers(_ streams: [Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>]
    /// Throws where what is read now may be of a server that others do not write to.
    func requireCertainty() throws(Fault)
}

/// Lists of projects and customers, and what can be found without knowing its customer.
package protocol Directory: Sendable {
    func projects() throws(Fault) -> [ListedProject]
    /// Some customers of a project after one of them; there are no more when none comes.
    func customers(
        of project: ProjectID, after last: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer]
    /// Every app of every project: a store's news name the app and no project.
    func apps() throws(Fault) -> [ListedApp]
    /// Every key of every project that was not revoked.
    func liveKeys() throws(Fault) -> [LiveKey]
    /// The stream of the customer who has an order; `nil` when none does.
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

/// What is found by the account of a store.
package protocol StoreAccounts: Sendable {
    /// Some customers whose evidence names that account of a store.
    func customers(
        of account: AppTransactionID, in project: ProjectID, _ environment: Environment, limit: Int
    ) throws(Fault) -> [CustomerID]
    /// Some customers with a requested refund that can still be answered, the most urgent first.
    func refundRequests(
        of project: ProjectID, _ environment: Environment, at now: Instant,
        after last: RefundPlace?, limit: Int
    ) throws(Fault) -> [RefundPlace]
    /// Where refunds were asked for that may be answered about after an instant and were not.
    func askedRefunds(after instant: Instant) throws(Fault) -> [ProjectPart]
}
