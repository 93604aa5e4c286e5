package import Core

/// What asking stores within a reconciliation needs in addition to the usual ports.
package struct InquiryPort: Sendable {
    /// Some customers of a project and these apps about whose subscriptions a store is to be asked by an
    /// instant, the most overdue first.
    package var due:
        @Sendable (ProjectID, [AppID], _ by: Instant, _ after: DueInquiry?, _ limit: Int)
            throws(Fault) -> [DueInquiry]
    /// Has commands decided in their order, in as few commits as it takes.
    package var appendAll: @Sendable ([Command]) -> [CommandResult]
    /// What a command would lead to.
    package var rehearse: @Sendable (Command) throws(CommandError) -> Rehearsal
    package var pause: @Sendable (_ milliseconds: Int64) -> Void
    package var marks: StoreMarksPort
    package var histories: HistoryQuestionsPort

    package init(
        due:
            @escaping @Sendable (
                ProjectID, [AppID], _ by: Instant, _ after: DueInquiry?, _ limit: Int
            )
            throws(Fault) -> [DueInquiry],
        appendAll: @escaping @Sendable ([Command]) -> [CommandResult],
        rehearse: @escaping @Sendable (Command) throws(CommandError) -> Rehearsal,
        pause: @escaping @Sendable (_ milliseconds: Int64) -> Void, marks: StoreMarksPort,
        histories: HistoryQuestionsPort
    ) {
        self.due = due
        self.appendAll = appendAll
        self.rehearse = rehearse
        self.pause = pause
        self.marks = marks
        self.histories = histories
    }
}

/// Which histories are still to be asked for, as the database keeps it from run to run.
package struct HistoryQuestionsPort: Sendable {
    package var round: @Sendable (StoreApp) throws(Fault) -> HistoryRound?
    package var keepRound: @Sendable (HistoryRound, StoreApp) throws(Fault) -> Void
    /// Makes a question of each customer with a purchase of the app, in one environment or in each.
    package var fill: @Sendable (StoreApp, Environment?, _ obstacle: String?) throws(Fault) -> Void
    /// How many there are, or would be after filling.
    package var count: @Sendable (StoreApp, _ filled: Bool) throws(Fault) -> HistoryCount
    /// Some of them, the newest first.
    package var next:
        @Sendable (StoreApp, _ after: HistoryQuestion?, _ limit: Int) throws(Fault) ->
            [HistoryQuestion]
    package var keep: @Sendable (HistoryQuestion) throws(Fault) -> Void
    package var end: @Sendable (StorePurchase) throws(Fault) -> Void

    package init(
        round: @escaping @Sendable (StoreApp) throws(Fault) -> HistoryRound?,
        keepRound: @escaping @Sendable (HistoryRound, StoreApp) throws(Fault) -> Void,
        fill:
            @escaping @Sendable (StoreApp, Environment?, _ obstacle: String?) throws(Fault) ->
            Void,
        count: @escaping @Sendable (StoreApp, _ filled: Bool) throws(Fault) -> HistoryCount,
        next:
            @escaping @Sendable (StoreApp, _ after: HistoryQuestion?, _ limit: Int) throws(Fault) ->
            [HistoryQuestion],
        keep: @escaping @Sendable (HistoryQuestion) throws(Fault) -> Void,
        end: @escaping @Sendable (StorePurchase) throws(Fault) -> Void
    ) {
        self.round = round
        self.keepRound = keepRound
        self.fill = fill
        self.count = count
        self.next = next
        self.keep = keep
        self.end = end
    }
}

/// How far the books of stores were read.
package struct StoreMarksPort: Sendable {
    package var history: @Sendable (StorePurchase) throws(Fault) -> HistoryMark?
    package var keepHistory: @Sendable (HistoryMark, StorePurchase) throws(Fault) -> Void
    /// Up to when all that the store told an app's server was read.
    package var notifications: @Sendable (StoreApp, Environment) throws(Fault) -> Instant?
    package var keepNotifications:
        @Sendable (StoreApp, Environment, _ until: Instant) throws(Fault) -> Void

    package init(
        history: @escaping @Sendable (StorePurchase) throws(Fault) -> HistoryMark?,
        keepHistory: @escaping @Sendable (HistoryMark, StorePurchase) throws(Fault) -> Void,
        notifications: @escaping @Sendable (StoreApp, Environment) throws(Fault) -> Instant?,
        keepNotifications:
            @escaping @Sendable (StoreApp, Environment, _ until: Instant) throws(Fault) -> Void
    ) {
        self.history = history
        self.keepHistory = keepHistory
        self.notifications = notifications
        self.keepNotifications = keepNotifications
    }
}
