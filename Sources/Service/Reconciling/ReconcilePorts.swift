package import Core

/// The dependencies of a reconciliation.
package struct ReconcilePort {
    /// Takes the right to reconcile; `nil` while another run has it.
    package var begin: () throws(Fault) -> (any ReconcileRight)?
    package var notes: any RunNotes
    package var steps: any ReconcileSteps
    package var books: any StoreBooks & HistoryQuestions & UpkeepPort
    package var pause: (_ milliseconds: Int64) -> Void
    /// For durations, in milliseconds.
    package var monotonicClock: () -> Int64

    package init(
        begin: @escaping () throws(Fault) -> (any ReconcileRight)?, notes: any RunNotes,
        steps: any ReconcileSteps, books: any StoreBooks & HistoryQuestions & UpkeepPort,
        pause: @escaping (_ milliseconds: Int64) -> Void, monotonicClock: @escaping () -> Int64
    ) {
        (self.begin, self.notes, self.steps, self.books) = (begin, notes, steps, books)
        (self.pause, self.monotonicClock) = (pause, monotonicClock)
    }
}

/// The right to reconcile, which one run of a database has at a time.
package protocol ReconcileRight {
    /// Whether it is still known to be held.
    var isHeld: Bool { get }
    /// Once another run has taken it over, nothing is written.
    var lease: Lease { get }
    func giveBack()
}

/// The steps of a run that ask no store.
package protocol ReconcileSteps {
    /// Checks rows that the run's own beginning will rewrite.
    func prepare() throws(Fault)
    /// Does parts of one step side by side, while the lease is this run's.
    func reconcile(
        _ parts: [ReconcilePart], of id: ReconciliationID, under lease: Lease
    ) -> [Result<PartReport, Fault>]
}

/// Notes about runs.
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
    /// Customers of a shard with expired orders, and their number.
    func staleOrders(
        of project: ProjectID, in shard: Shard, at now: Instant
    ) throws(Fault) -> [(stream: Stream, count: Int64)]
    /// A project's queued evidence; found are items tried often.
    func intakeCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// A project's unclaimed purchases; found are purchases whose token has a customer.
    func unclaimedCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// Tokens of customers under which purchases still wait.
    func claimableTokens(
        of project: ProjectID
    ) throws(Fault) -> [(token: AccountToken, stream: Stream)]
}

/// Compares rows with the log, and the log with itself.
package protocol DriftFinder {
    /// Compares the project's own rows before the run records its start, which rewrites them.
    func prepare(_ project: ProjectID) throws(Fault)
    /// Compares the rows of a project's customers in a shard, or its own rows and the names of its customers;
    /// or a sample, if not all are wanted.
    func compareRows(
        of project: ProjectID, in shard: Shard?, isFull: Bool
    ) throws(Fault) -> RowDrift
    /// Walks the part of a shard's chain that came since its last proof, and notes how far it is sound.
    func walkChain(of shard: Shard, isRehearsal: Bool) throws(Fault) -> StepCounts
}

/// How far the stores' records were read.
package protocol StoreBooks: Sendable {
    /// Some customers of a project and these apps about whose subscriptions a store should be asked by
    /// an instant, the most overdue first.
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

/// The histories that are still to be requested, stored from run to run.
package protocol HistoryQuestions: Sendable {
    func historyRound(of app: StoreApp) throws(Fault) -> HistoryRound?
    func keep(_ round: HistoryRound, of app: StoreApp) throws(Fault)
    /// Adds a question for each customer with a purchase in the app, in one environment or in both.
    func fillHistoryQuestions(
        of app: StoreApp, in environment: Environment?, because obstacle: String?
    ) throws(Fault)
    /// How many there are, or would be after filling.
    func countHistories(of app: StoreApp, asFilled: Bool) throws(Fault) -> HistoryCount
    /// Some questions of an app, the newest first.
    func historyQuestions(
        of app: StoreApp, after last: HistoryQuestion?, limit: Int
    ) throws(Fault) -> [HistoryQuestion]
    func keep(_ question: HistoryQuestion) throws(Fault)
    func endHistoryQuestion(of purchase: StorePurchase) throws(Fault)
}
