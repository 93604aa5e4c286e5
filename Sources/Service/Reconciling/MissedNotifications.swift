import Core
import Wording

/// Reads the notifications that the store sent to an app's server since the last run, and records
/// them as if they had just arrived.
extension StoreRound {
    private static let window: Int64 = 86_400_000
    /// The shortest window in milliseconds. A window with too many pages is halved until it is this short.
    private static let shortestWindow: Int64 = 60_000
    private static let pageLimit = 500
    /// How far consecutive readings overlap, in milliseconds. If the store sent a notification
    /// late, it also appears late in the store's list.
    private static let overlap: Int64 = 2 * 86_400_000
    /// A safety margin in milliseconds. The store decides how far back a question may reach by its own clock, at the
    /// time when the question arrives.
    private static let margin: Int64 = 3_600_000

    func readNotifications(of app: App) throws(StoreQuestionError) {
        var refusing: [Environment] = []
        var isRead = false
        for environment in [Environment.production, .sandbox] {
            do throws(StoreQuestionError) {
                let answering = try readNotifications(of: app, in: environment)
                isRead = true
                // A store that replaces the real one always represents the sandbox.
                if let answering, answering != environment { break }
            } catch {
                guard case .trouble(.unauthorized) = error else { throw error }
                refusing.append(environment)
            }
        }
        for environment in refusing {
            try judgeRefusal(by: environment, of: app, isOtherRead: isRead)
        }
    }

    /// Decides whether a refusal is a failure. Production rejects the key of an app that was never
    /// released. An app whose notifications have been read once must have been released.
    private func judgeRefusal(
        by environment: Environment, of app: App, isOtherRead: Bool
    ) throws(StoreQuestionError) {
        let name = StoreApp(project: project, key: app.key)
        let mark = try asking(port.books.notificationMark(of: name, in: environment))
        guard isOtherRead, mark == nil else { throw .trouble(.unauthorized) }
        remark(
            "The store rejected the key in \(environment.rawValue), so nothing was read there. That is "
                + "normal for production if the app was never released.", of: app)
    }

    /// Reads one window after another, so that an interrupted run can continue. Returns the
    /// environment that answered.
    private func readNotifications(
        of app: App, in environment: Environment
    ) throws(StoreQuestionError) -> Environment? {
        let name = StoreApp(project: project, key: app.key)
        let now = intake.now()
        let mark = try asking(port.books.notificationMark(of: name, in: environment))
        let reach = profile(of: app)?.newsReach(in: environment) ?? 0
        let earliest = now.advanced(byMilliseconds: StoreRound.margin - reach)
        var start = max(earliest, mark?.advanced(byMilliseconds: -StoreRound.overlap) ?? earliest)
        // If the store keeps its list for less time than it claims, the range shrinks step by step.
        var step = StoreRound.margin
        var isBegun = false
        var length = StoreRound.window
        // Notifications from before this instant may already be known from a window that was split.
        var crowdedUntil = start
        var answering: Environment?
        var known = Set<String>()
        var isUnbroken = !isRehearsal
        var endless = 0
        while start < now {
            let end = min(start.advanced(byMilliseconds: length), now)
            var window = Window(
                filter: NotificationFilter(start: start, end: end), known: known, isFirst: !isBegun)
            do throws(StoreQuestionError) {
                try readPatiently(&window, of: app, name, environment)
            } catch {
                // Earlier windows were readable, so the store must have everything after them, and
                // this refusal is a mistake.
                guard error.isTooFarBack, !isBegun, end < now else { throw error }
                start = start.advanced(byMilliseconds: step)
                step = min(2 * step, StoreRound.window)
                continue
            }
            answering = window.answering ?? answering
            if !isBegun {
                tellUnread(from: mark ?? earliest, until: start, of: app)
                try replace(from: mark, until: start, name, environment, window.answering)
            }
            isBegun = true
            // If some notifications could not be verified, the next run reads them and everything
            // after them again.
            isUnbroken = isUnbroken && window.isWhole
            switch window.end {
            case .outOfCalls:
                noteOutOfCalls("notifications", of: app)
                return answering
            case .tooManyPages:
                known.formUnion(window.seen)
                crowdedUntil = max(crowdedUntil, end)
                let half = (end.milliseconds - start.milliseconds) / 2
                if half >= StoreRound.shortestWindow {
                    length = half
                    continue
                }
                try passOverEndless(&endless, of: app)
                isUnbroken = false
            case .reached: endless = 0
            }
            if isUnbroken {
                try asking(port.books.markNotifications(of: name, in: environment, until: end))
            }
            known = end < crowdedUntil ? known.union(window.seen) : window.seen
            if 2 * window.pages <= StoreRound.pageLimit {
                length = min(2 * length, StoreRound.window)
            }
            start = end
        }
        return answering
    }

    /// Skips a period with too many pages in order to read later notifications. Throws after several of these periods
    /// in a row.
    private func passOverEndless(_ count: inout Int, of app: App) throws(StoreQuestionError) {
        count += 1
        let trouble = StoreTrouble.endlessPages(limit: StoreRound.pageLimit)
        if count >= StoreRound.patience { throw .trouble(trouble) }
        note(trouble, of: app)
    }

    /// Reads a window, and reads it again if part of it cannot be verified. Unreadable parts are
    /// recorded if later windows may be readable.
    private func readPatiently(
        _ window: inout Window, of app: App, _ name: StoreApp, _ environment: Environment
    ) throws(StoreQuestionError) {
        do throws(StoreQuestionError) {
            try read(&window, of: app, name, environment)
            for _ in 1..<StoreRound.patience where !window.unproven.isEmpty && window.isWhole {
                var again = Window(
                    filter: window.filter, known: window.known.union(window.seen),
                    isFirst: window.isFirst)
                try read(&again, of: app, name, environment)
                again.seen.formUnion(window.seen)
                window = again
            }
            for trouble in window.unproven { note(trouble, of: app) }
        } catch {
            guard case .trouble(let trouble) = error, !(window.isFirst && error.isTooFarBack),
                mayGoOn(after: trouble, of: app)
            else { throw error }
            note(trouble, of: app)
            window.isWhole = false
        }
        window.isWhole = window.isWhole && window.unproven.isEmpty
    }

    /// Makes up for the loss of all notifications since the mark: requests every customer's history, in
    /// the environment that answered, or in both. Moves the mark so that this happens only once.
    private func replace(
        from mark: Instant?, until start: Instant, _ app: StoreApp, _ environment: Environment,
        _ answering: Environment?
    ) throws(StoreQuestionError) {
        guard let mark, mark < start, !isRehearsal else { return }
        try asking(
            port.books.fillHistoryQuestions(
                of: app, in: answering,
                because: "The notifications from \(mark.text) until \(start.text)."))
        try asking(port.books.markNotifications(of: app, in: environment, until: start))
    }

    /// Reports the period that the store's list no longer covers.
    private func tellUnread(from first: Instant, until start: Instant, of app: App) {
        if start <= first { return }
        remark(
            Remedy.readHistories.after(
                "From \(first.text) to \(start.text), nothing could be read: the store's history of "
                    + "notifications does not reach that far back."),
            of: app)
    }

    /// The notifications that were sent between two instants.
    private struct Window {
        let filter: NotificationFilter
        /// Notifications that are already known from the previous window, which may overlap this
        /// one, or from a longer window that was split.
        let known: Set<String>
        /// Whether this is the first window to be read. It may reach back further than the store's list.
        let isFirst: Bool
        var seen = Set<String>()
        var pages = 0
        /// Whether all notifications were read and all new ones recorded.
        var isWhole = true
        /// Why some notifications could not be verified.
        var unproven: [StoreTrouble] = []
        /// The environment that answered, if the store was asked.
        var answering: Environment?
        var end = End.reached

        /// Why the reading of a window ended.
        enum End { case reached, tooManyPages, outOfCalls }
    }

    private func read(
        _ window: inout Window, of app: App, _ name: StoreApp, _ environment: Environment
    ) throws(StoreQuestionError) {
        var call: StoreCall? = .notifications(window.filter)
        var names = Set<String>()
        while let page = call {
            if window.pages >= StoreRound.pageLimit { window.end = .tooManyPages }
            if callsLeft[app.key, default: 0] <= 0 { window.end = .outOfCalls }
            if window.end != .reached { return }
            let answer = try rethrowing(as: StoreQuestionError.trouble) {
                () throws(StoreTrouble) in
                try requireWanted()
                return try ask(page, name, environment)
            }
            window.pages += 1
            window.answering = answer.environment
            try take(answer, into: &window, of: app)
            call = answer.next.flatMap { page.page(after: $0) }
            if let next = answer.next, !names.insert(next).inserted {
                throw .trouble(.endlessPages(limit: window.pages))
            }
        }
    }

    /// Records the notifications of one page, oldest first.
    private func take(
        _ answer: StoreAnswer, into window: inout Window, of app: App
    ) throws(StoreQuestionError) {
        var proven: [ProvenEvidence] = []
        for raw in answer.evidence {
            do throws(RefusedEvidence) {
                let one = try questions.prove(raw, app, in: answer.environment)
                guard let head = one.notification else { continue }
                if window.seen.insert(head.id).inserted, !window.known.contains(head.id) {
                    proven.append(one)
                }
            } catch {
                window.unproven.append(.foreign("\(error.code): \(error.sentence)"))
            }
        }
        proven.sort { $0.record.signedAt < $1.record.signedAt }
        var commands: [Command] = []
        for one in proven {
            commands.append(
                try rethrowing(
                    as: StoreQuestionError.init, submissions.replaying(one, for: project)))
        }
        count { $0.lookedAt += Int64(proven.count) }
        try rethrowing(as: StoreQuestionError.command) { () throws(CommandError) in
            let results = port.books.appendAll(
                commands, at: .run(lease), isRehearsal: isRehearsal)
            for (one, result) in zip(proven, results) {
                try take(result, from: one, into: &window, of: app)
            }
        }
    }

    private func take(
        _ result: CommandResult, from one: ProvenEvidence, into window: inout Window, of app: App
    ) throws(CommandError) {
        do throws(CommandError) {
            let outcome = try result.get()
            if isRehearsal {
                learn([one.facts], of: app, in: one.environment)
            } else {
                submissions.notice(outcome, in: project)
            }
            if outcome.items.contains(where: { $0.result == .recorded }) {
                count { ($0.found, $0.mended) = ($0.found + 1, $0.mended + (isRehearsal ? 0 : 1)) }
            }
        } catch {
            window.isWhole = false
            try passOver(error, of: app.key.id.text)
        }
    }

    func asking<Answer>(
        _ answer: @autoclosure () throws(Fault) -> Answer
    ) throws(StoreQuestionError) -> Answer {
        try rethrowing(as: { StoreQuestionError.command(.fault($0)) }, answer)
    }
}

extension StoreQuestionError {
    fileprivate var isTooFarBack: Bool {
        if case .trouble(let trouble) = self { trouble.meaning == .tooFarBack } else { false }
    }
}
