package import Core

/// The dependencies of a reconciliation.
package struct ReconcilePort {
    package var rights: any ReconcileRights
    package var notes: any RunNotes
    package var steps: any ReconcileSteps
    package var books: any StoreBooks & HistoryQuestions & UpkeepPort
    package var pause: (_ milliseconds: Int64) -> Void
    /// A clock for measuring durations, in milliseconds.
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

/// Grants the right to reconcile.
package protocol ReconcileRights {
    associatedtype Right: ReconcileRight
    /// Returns the right, or `nil` while another run has it.
    func reconcileRight() throws(Fault) -> Right?
}

/// The right to reconcile, which only one run per database can have at a time.
package protocol ReconcileRight {
    /// Whether the run still has the right, as far as this instance knows.
    var isHeld: Bool { get }
    /// The lease that grants the right. If another run takes over the lease, this run writes nothing more.
    var lease: Lease { get }
    func giveBack()
}

/// The steps of a run that do not ask any store.
package protocol ReconcileSteps {
    /// Checks rows that will be rewritten when the run's start is recorded.
    func prepare() throws(Fault)
    /// Does several parts of one step in parallel, as long as this run holds the lease.
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
    /// Deletes the notes about completed parts of the project's runs.
    func forgetParts(of project: ProjectID) throws(Fault)
}

/// The work that remains to be done, according to the tables' rows.
package protocol LeftWork: Sendable {
    /// Returns customers in a shard who have expired orders, and the number of such orders.
    func staleOrders(
        of project: ProjectID, in shard: Shard, at now: Instant
    ) throws(Fault) -> [(stream: Stream, count: Int64)]
    /// Returns the counts of a project's queued evidence. Items with many tries count as findings.
    func intakeCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// Returns the counts of a project's unclaimed purchases. Purchases whose token belongs to a customer count as
    /// findings.
    func unclaimedCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// Returns tokens that belong to a customer but under which purchases are still waiting.
    func claimableTokens(
        of project: ProjectID
    ) throws(Fault) -> [(token: AccountToken, stream: Stream)]
    /// Returns unclaimed purchases that continue a purchase held by a customer, each with the fact that shows this.
    func continuing(of project: ProjectID) throws(Fault) -> [(stream: Stream, facts: Facts)]
}

/// Compares the tables' rows with the log, and checks the log itself.
package protocol DriftFinder {
    /// Compares the project's own rows before they are rewritten. Recording the run's start rewrites them.
    func prepare(_ project: ProjectID) throws(Fault)
    /// Compares the rows of a project's customers in a shard, or the project's own rows and names.
    /// Takes a sample unless all rows are wanted.
    func compareRows(
        of project: ProjectID, in shard: Shard?, isFull: Bool
    ) throws(Fault) -> RowDrift
    /// Verifies the part of a shard's chain after the last verified position, and records how far it is sound.
    func walkChain(of shard: Shard, isRehearsal: Bool) throws(Fault) -> StepCounts
}

/// Records how far the stores' data has been read.
package protocol StoreBooks: Sendable {
    /// Returns customers of a project and of these apps whose subscriptions are due for an inquiry, most overdue first.
    func dueInquiries(
        of project: ProjectID, _ apps: [AppID], by instant: Instant, after last: DueInquiry?,
        limit: Int
    ) throws(Fault) -> [DueInquiry]
    func historyMark(of purchase: StorePurchase) throws(Fault) -> HistoryMark?
    func keep(_ mark: HistoryMark, of purchase: StorePurchase) throws(Fault)
    /// Returns the instant up to which all of the store's notifications to an app's server have been read.
    func notificationMark(
        of app: StoreApp, in environment: Environment
    ) throws(Fault) -> Instant?
    func markNotifications(
        of app: StoreApp, in environment: Environment, until instant: Instant
    ) throws(Fault)
}

/// The histories that still have to be requested. They are stored from one run to the next.
package protocol HistoryQuestions: Sendable {
    func historyRound(of app: StoreApp) throws(Fault) -> HistoryRound?
    func keep(_ round: HistoryRound, of app: StoreApp) throws(Fault)
    /// For each customer who has a purchase in the app, adds a question for one environment or for
    /// both.
    func fillHistoryQuestions(
        of app: StoreApp, in environment: Environment?, because obstacle: String?
    ) throws(Fault)
    /// Returns the number of questions that are left or, with `asFilled`, that would be left after
    /// the questions are filled in.
    func countHistories(of app: StoreApp, asFilled: Bool) throws(Fault) -> HistoryCount
    /// Returns the questions about an app's customers, newest first.
    func historyQuestions(
        of app: StoreApp, after last: HistoryQuestion?, limit: Int
    ) throws(Fault) -> [HistoryQuestion]
    func keep(_ question: HistoryQuestion) throws(Fault)
    func endHistoryQuestion(of purchase: StorePurchase) throws(Fault)
}
