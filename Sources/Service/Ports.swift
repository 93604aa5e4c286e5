package import Core

/// What the use cases of the log need; taking evidence in has more of its own (`Intake`). They are wired in
/// one place, and tests bring their own.
package struct Ports: Sendable {
    package var ledger: LedgerPort
    package var directory: DirectoryPort
    package var accounts: AccountPort
    package var reading: ReadingPort
    package var credentials: CredentialsPort
    package var secrets: SecretsPort
    package var now: @Sendable () -> Instant
    /// The machine's clock: for real durations, whatever a test has made of `now`.
    package var machineClock: @Sendable () -> Instant

    package init(
        ledger: LedgerPort, directory: DirectoryPort, accounts: AccountPort, reading: ReadingPort,
        credentials: CredentialsPort, secrets: SecretsPort,
        now: @escaping @Sendable () -> Instant,
        machineClock: (@Sendable () -> Instant)? = nil
    ) {
        self.ledger = ledger
        self.directory = directory
        self.accounts = accounts
        self.reading = reading
        self.credentials = credentials
        self.secrets = secrets
        self.now = now
        self.machineClock = machineClock ?? now
    }

    /// By when evidence may have been signed: a store's clock is near the machine's, or near one that
    /// a test has put ahead of it.
    package var evidenceClock: Instant { max(now(), machineClock()) }
}

/// What the use cases need of the log.
package struct LedgerPort: Sendable {
    package typealias Submit =
        @Sendable (Command, _ respond: @escaping @Sendable (CommandResult) -> Void) -> Void
    package typealias Read =
        @Sendable (
            Stream, _ respond: @escaping @Sendable (Result<CustomerSnapshot, Fault>) -> Void
        ) -> Void
    package typealias Events =
        @Sendable (Stream, _ after: Int64, _ limit: Int) throws(Fault) -> [LogEntry]

    /// Decides a command on its stream's state; returns when its events are durable.
    package var append: @Sendable (Command) throws(CommandError) -> Outcome
    /// Does not block; responds exactly once.
    package var submit: Submit
    /// Tells that a command is on its way.
    package var announce: @Sendable () -> Announcement
    /// A customer and its project now.
    package var customer: @Sendable (Stream) throws(Fault) -> CustomerSnapshot
    /// Does not block; responds exactly once.
    package var read: Read
    package var project: @Sendable (ProjectID) throws(Fault) -> ProjectState
    /// Some events of a stream after a version, oldest first.
    package var events: Events

    package init(
        append: @escaping @Sendable (Command) throws(CommandError) -> Outcome,
        submit: @escaping Submit, announce: @escaping @Sendable () -> Announcement,
        customer: @escaping @Sendable (Stream) throws(Fault) -> CustomerSnapshot,
        read: @escaping Read,
        project: @escaping @Sendable (ProjectID) throws(Fault) -> ProjectState,
        events: @escaping Events
    ) {
        self.append = append
        self.submit = submit
        self.announce = announce
        self.customer = customer
        self.read = read
        self.project = project
        self.events = events
    }
}

/// What is listed, and found without knowing whose it is.
package struct DirectoryPort: Sendable {
    package typealias Customers =
        @Sendable (ProjectID, _ after: Stream?, _ limit: Int) throws(Fault) -> [ListedCustomer]
    package typealias Unclaimed =
        @Sendable (ProjectID, Environment, _ after: PurchaseID?, _ limit: Int) throws(Fault) ->
        [ListedUnclaimed]

    package var projects: @Sendable () throws(Fault) -> [ListedProject]
    /// Some customers of a project after one of them; there are no more when none comes.
    package var customers: Customers
    /// Every app of every project: a store's news name the app and no project.
    package var apps: @Sendable () throws(Fault) -> [ListedApp]
    /// Every key of every project that was not revoked.
    package var keys: @Sendable () throws(Fault) -> [LiveKey]
    /// The stream of the customer who has an order; `nil` when none does.
    package var owner: @Sendable (OrderID, ProjectID, Environment) throws(Fault) -> Stream?
    /// Whether some project is being reconciled.
    package var isReconciling: @Sendable () throws(Fault) -> Bool
    /// Some purchases that no customer claimed after one of them, in order of store and id.
    package var unclaimed: Unclaimed

    package init(
        projects: @escaping @Sendable () throws(Fault) -> [ListedProject],
        customers: @escaping Customers,
        apps: @escaping @Sendable () throws(Fault) -> [ListedApp],
        keys: @escaping @Sendable () throws(Fault) -> [LiveKey],
        owner: @escaping @Sendable (OrderID, ProjectID, Environment) throws(Fault) -> Stream?,
        isReconciling: @escaping @Sendable () throws(Fault) -> Bool,
        unclaimed: @escaping Unclaimed
    ) {
        self.projects = projects
        self.customers = customers
        self.apps = apps
        self.keys = keys
        self.owner = owner
        self.isReconciling = isReconciling
        self.unclaimed = unclaimed
    }
}

/// What is found by the account of a store.
package struct AccountPort: Sendable {
    package typealias Holders =
        @Sendable (AppTransactionID, ProjectID, Environment, _ limit: Int) throws(Fault) ->
        [CustomerID]
    package typealias RefundRequests =
        @Sendable (ProjectID, Environment, _ now: Instant, _ after: RefundPlace?, _ limit: Int)
        throws(Fault) -> [RefundPlace]

    /// Some customers whose evidence names that account of a store.
    package var holders: Holders
    /// Some customers with a requested refund that can still be answered.
    package var refundRequests: RefundRequests

    package init(holders: @escaping Holders, refundRequests: @escaping RefundRequests) {
        self.holders = holders
        self.refundRequests = refundRequests
    }
}

/// What reads need of the log in addition to single customers.
package struct ReadingPort: Sendable {
    /// The last position of each shard, by the shard's number.
    package var heads: @Sendable () throws(Fault) -> [Int64]
    /// Many customers of one project and the project now, in one round trip.
    package var customers: @Sendable ([Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>]
    /// Throws where what is read now may be of a server that others do not write to.
    package var requireCertainty: @Sendable () throws(Fault) -> Void

    package init(
        heads: @escaping @Sendable () throws(Fault) -> [Int64],
        customers:
            @escaping @Sendable ([Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>],
        requireCertainty: @escaping @Sendable () throws(Fault) -> Void
    ) {
        self.heads = heads
        self.customers = customers
        self.requireCertainty = requireCertainty
    }
}

/// Chance and digests.
package struct SecretsPort: Sendable {
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// SHA-256.
    package var digest: @Sendable ([UInt8]) -> [UInt8]
    /// The same as lower-case hexadecimal digits.
    package var hexDigest: @Sendable ([UInt8]) -> String

    package init(
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8],
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        hexDigest: @escaping @Sendable ([UInt8]) -> String
    ) {
        self.randomBytes = randomBytes
        self.digest = digest
        self.hexDigest = hexDigest
    }
}
