package import Core

/// What a reconciliation needs to do its work.
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
    /// Whether it is held still, as far as that can be told.
    var isHeld: Bool { get }
    /// Nothing is written once another run has taken it over.
    var lease: Lease { get }
    func giveBack()
}

/// The steps of a run that ask no store.
package protocol ReconcileSteps {
    /// Looks at what the run writes anew as it begins.
    func prepare() throws(Fault)
    /// Does parts of one step side by side, for as long as the lease is not another run's.
    func reconcile(
        _ parts: [ReconcilePart], of id: ReconciliationID, under lease: Lease
    ) -> [Result<PartReport, Fault>]
}

/// What runs have done.
package protocol RunNotes {
    func notedParts(
        of project: ProjectID, in id: ReconciliationID
    ) throws(Fault) -> [ReconcilePart: NotedPart]
    func note(
        _ part: ReconcilePart, _ counts: StepCounts, isDone: Bool, of project: ProjectID,
        in id: ReconciliationID
    ) throws(Fault)
    /// Forgets what was noted of runs that came to their end.
    func forgetParts(of project: ProjectID) throws(Fault)
}

/// What rows tell of work that was left.
package protocol LeftWork: Sendable {
    /// Customers of a shard with orders whose time is over, and how many.
    func staleOrders(
        of project: ProjectID, in shard: Shard, at now: Instant
    ) throws(Fault) -> [(stream: Stream, count: Int64)]
    /// Queued evidence of a project; found is what was tried often.
    func intakeCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// Purchases of a project that no customer claimed; found are purchases whose token has a customer.
    func unclaimedCounts(of project: ProjectID) throws(Fault) -> StepCounts
    /// Tokens of customers under which purchases wait all the same.
    func claimableTokens(
        of project: ProjectID
    ) throws(Fault) -> [(token: AccountToken, stream: Stream)]
}

/// Compares rows with the log, and the log with itself.
package protocol DriftFinder {
    /// Looks at the rows of the project itself before the run records that it began, which writes them anew.
    func prepare(_ project: ProjectID) throws(Fault)
    /// Compares the rows of a project's customers in a shard; or its own and the names of its customers; or where not
    /// all are wanted, a sample.
    func compareRows(
        of project: ProjectID, in shard: Shard?, isFull: Bool
    ) throws(Fault) -> RowDrift
    /// Walks what came to the chain of a shard since it was proven last, and notes how far it is sound.
    func walkChain(of shard: Shard, isRehearsal: Bool) throws(Fault) -> StepCounts
}

/// How far the books of stores were read.
package protocol StoreBooks: Sendable {
    /// Some customers of a project and these apps about whose subscriptions a store is to be asked by an
    /// instant, the most overdue first.
    func dueInquiries(
        of project: ProjectID, _ apps: [AppID], by instant: Instant, after last: DueInquiry?,
        limit: Int
    ) throws(Fault) -> [DueInquiry]
    func historyMark(of purchase: StorePurchase) throws(Fault) -> HistoryMark?
    func keep(_ mark: HistoryMark, of purchase: StorePurchase) throws(Fault)
    /// Up to when all that the store told an app's server was read.
    func notificationMark(
        of app: StoreApp, in environment: Environment
    ) throws(Fault) -> Instant?
    func markNotifications(
        of app: StoreApp, in environment: Environment, until instant: Instant
    ) throws(Fault)
}

/// Which histories are still to be asked for, as the database keeps it from run to run.
package protocol HistoryQuestions: Sendable {
    func historyRound(of app: StoreApp) throws(Fault) -> HistoryRound?
    func keep(_ round: HistoryRound, of app: StoreApp) throws(Fault)
    /// Makes a question of each customer with a purchase of the app, in one environment or in each.
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
