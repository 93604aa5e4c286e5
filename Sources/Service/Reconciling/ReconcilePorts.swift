package import Core

/// What a reconciliation needs.
package struct ReconcilePort {
    package var rights: any ReconcileRights
    package var notes: any RunNotes
    package var steps: any ReconcileSteps
    package var books: any StoreBooks & HistoryQuestions & UpkeepPort
    package var pause: (_ milliseconds: Int64) -> Void
    /// For durations, in milliseconds.
    package var monotonicClock: () -> Int64

    package init(
        rights: any ReconcileRights, notes: any RunNotes, steps: any ReconcileSteps,
        books: any StoreBooks & HistoryQuestions & UpkeepPort,
        pause: @escaping (_ milliseconds: Int64) -> Void, monotonicClock: @escaping () -> Int64
    ) {
        (self.rights, self.notes, self.steps, self.books) = (rights, notes, steps, books)
        (self.pause, self.monotonicClock) = (pause, monotonicClock)
    }
}

/// Gives the right to reconcile.
package protocol ReconcileRights {
    associatedtype Right: ReconcileRight
    /// The right, or `nil` while another run has it.
    func reconcileRight() throws(Fault) -> Right?
}

/// The right to reconcile. Only one run per database has it at a time.
package protocol ReconcileRight {
    /// Whether it is still held, as far as is known.
    var isHeld: Bool { get }
    /// If another run takes it over, nothing is written any more.
    var lease: Lease { get }
    func giveBack()
}

/// The steps of a run that ask no store.
package protocol ReconcileSteps {
    /// Checks rows that recording the run's start will rewrite.
    func prepare() throws(Fault)
    /// Does parts of one step side by side, while this run holds the lease.
    func reconcile(
        _ parts: [ReconcilePart], of id: ReconciliationID, under lease: Lease
    ) -> [Result<PartReport, Fault>]
}

package protocol RunNotes {
    func notedParts(
        of project: ProjectID, in id: ReconciliationID
    ) throws(Fault) -> [ReconcilePart: NotedPart]
    func note(
        _ part: ReconcilePart, _ counts: StepCounts, isDone: Bool, of project: ProjectID,
        in id: ReconciliationID
    ) throws(Fault)
    /// Deletes notes about completed runs.
    func forgetParts(of project: ProjectID) throws(Fault)
}

/// Remaining work, as the rows show it.
package protocol LeftWork: Sendable {
    /// Customers of a shard with expired orders, and how many there are.
    func staleOrders(
        of project: ProjectID, in shard: Shard, at now: Instant
    ) throws(Fault) -> [(stream: Stream, count: Int64)]
    /// A project's queued evidence. Items tried often count as found.
    func intakeCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// A project's unclaimed purchases. Those whose token has a customer count as found.
    func unclaimedCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// Tokens that belong to a customer although purchases still wait under them.
    func claimableTokens(
        of project: ProjectID
    ) throws(Fault) -> [(token: AccountToken, stream: Stream)]
    /// Unclaimed purchases that continue one that a customer holds, and what says so.
    func continuing(of project: ProjectID) throws(Fault) -> [(stream: Stream, facts: Facts)]
}

/// Compares rows with the log, and the log with itself.
package protocol DriftFinder {
    /// Compares the project's own rows before recording the run's start rewrites them.
    func prepare(_ project: ProjectID) throws(Fault)
    /// Compares rows of a project's customers in a shard, or the project's own rows and names.
    /// Takes a sample unless all are wanted.
    func compareRows(
        of project: ProjectID, in shard: Shard?, isFull: Bool
    ) throws(Fault) -> RowDrift
    /// Walks the part of a shard's chain that follows the last proof, and notes how far it is
    /// sound.
    func walkChain(of shard: Shard, isRehearsal: Bool) throws(Fault) -> StepCounts
}

/// How far the stores' records were read.
package protocol StoreBooks: Sendable {
    /// Customers of a project and these apps whose subscriptions are due for an inquiry, most
    /// overdue first.
    func dueInquiries(
        of project: ProjectID, _ apps: [AppID], by instant: Instant, after last: DueInquiry?,
        limit: Int
    ) throws(Fault) -> [DueInquiry]
    func historyMark(of purchase: StorePurchase) throws(Fault) -> HistoryMark?
    func keep(_ mark: HistoryMark, of purchase: StorePurchase) throws(Fault)
    /// The time up to which all of the store's notifications to an app's server were read.
    func notificationMark(
        of app: StoreApp, in environment: Environment
    ) throws(Fault) -> Instant?
    func markNotifications(
        of app: StoreApp, in environment: Environment, until instant: Instant
    ) throws(Fault)
}

/// Histories that are still to be requested, kept from run to run.
package protocol HistoryQuestions: Sendable {
    func historyRound(of app: StoreApp) throws(Fault) -> HistoryRound?
    func keep(_ round: HistoryRound, of app: StoreApp) throws(Fault)
    /// Adds a question for each customer with a purchase in the app, in one environment or both.
    func fillHistoryQuestions(
        of app: StoreApp, in environment: Environment?, because obstacle: String?
    ) throws(Fault)
    /// How many questions there are, or would be after filling.
    func countHistories(of app: StoreApp, asFilled: Bool) throws(Fault) -> HistoryCount
    /// Questions of an app, newest first.
    func historyQuestions(
        of app: StoreApp, after last: HistoryQuestion?, limit: Int
    ) throws(Fault) -> [HistoryQuestion]
    func keep(_ question: HistoryQuestion) throws(Fault)
    func endHistoryQuestion(of purchase: StorePurchase) throws(Fault)
}
