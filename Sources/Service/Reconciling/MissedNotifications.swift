import Core

/// What the store told an app's server since it was read last, recorded as if it came now.
extension StoreRound {
    private static let window: Int64 = 86_400_000
    /// Stores list late what they sent late.
    private static let overlap: Int64 = 2 * 86_400_000
    /// How far back stores tell of what they sent; the shorter is the sandbox's.
    private static let reaches: [Int64] = [180 * 86_400_000, 30 * 86_400_000]
    private static let startTooFarBack: Int64 = 4_000_012

    func readNotifications(of app: App) throws(StoreQuestionError) {
        var refusal: StoreTrouble?
        var isRead = false
        for environment in [Environment.production, .sandbox] {
            do throws(StoreQuestionError) {
                let answering = try readNotifications(of: app, in: environment)
                isRead = true
                // A store that stands in for the real one is the sandbox, whatever it is asked for.
                if let answering, answering != environment { break }
            } catch {
                // An app that was never released is no app of production: there its key is not taken.
                guard case .trouble(.unauthorized) = error else { throw error }
                refusal = refusal ?? .unauthorized
            }
        }
        if let refusal, !isRead { throw .trouble(refusal) }
    }

    /// Reads window by window, so that a run that is cut short is gone on with; gives who answered.
    private func readNotifications(
        of app: App, in environment: Environment
    ) throws(StoreQuestionError) -> Environment? {
        let name = StoreApp(project: project, key: app.key)
        let now = ports.now()
        var reaches =
            environment == .production ? StoreRound.reaches[...] : StoreRound.reaches[1...]
        var start = try start(of: name, environment, at: now, reach: reaches.removeFirst())
        var answering: Environment?
        var known = Set<String>()
        var isUnbroken = !isRehearsal
        while start < now {
            if callsLeft[app.key, default: 0] <= 0 {
                remark("More notifications wait for the next run.", of: app)
                return answering
            }
            let end = min(start.advanced(byMilliseconds: StoreRound.window), now)
            do throws(StoreQuestionError) {
                var window = Window(
                    filter: NotificationFilter(start: start, end: end), known: known)
                answering = try read(&window, of: app, name, environment)
                known = window.seen
                // What is not proven is read again the next time, with all behind it.
                isUnbroken = isUnbroken && window.isWhole
                if isUnbroken {
                    try asking { () throws(Fault) in
                        try port.marks.keepNotifications(name, environment, end)
                    }
                }
                start = end
            } catch {
                guard case .trouble(.refused(StoreRound.startTooFarBack, _)) = error,
                    let reach = reaches.popFirst()
                else { throw error }
                start = now.advanced(byMilliseconds: -reach)
            }
        }
        return answering
    }

    private func start(
        of app: StoreApp, _ environment: Environment, at now: Instant, reach: Int64
    ) throws(StoreQuestionError) -> Instant {
        let earliest = now.advanced(byMilliseconds: -reach)
        let mark = try asking { () throws(Fault) in try port.marks.notifications(app, environment) }
        return max(earliest, mark?.advanced(byMilliseconds: -StoreRound.overlap) ?? earliest)
    }

    /// Notifications that were sent between two instants.
    private struct Window {
        let filter: NotificationFilter
        /// Those of the window before, which may end with what this one begins with.
        let known: Set<String>
        var seen = Set<String>()
        /// Whether all of them were proven.
        var isWhole = true
    }

    private func read(
        _ window: inout Window, of app: App, _ name: StoreApp, _ environment: Environment
    ) throws(StoreQuestionError) -> Environment {
        var call: StoreCall? = .notifications(window.filter)
        var answering = environment
        var pages = Set<String>()
        while let page = call {
            let answer: StoreAnswer
            do throws(StoreTrouble) {
                try requireWanted()
                answer = try ask(page, name, environment)
            } catch {
                throw .trouble(error)
            }
            answering = answer.environment
            try take(answer, into: &window, of: app)
            call = answer.next.flatMap { page.page(after: $0) }
            if let next = answer.next, !pages.insert(next).inserted {
                throw .trouble(.endlessPages(limit: pages.count))
            }
        }
        return answering
    }

    /// Records a page, oldest first.
    private func take(
        _ answer: StoreAnswer, into window: inout Window, of app: App
    ) throws(StoreQuestionError) {
        var proven: [ProvenEvidence] = []
        for raw in answer.evidence {
            do throws(RefusedEvidence) {
                let one = try questions.prove(raw, app, in: answer.environment)
                guard let head = one.notification else { continue }
                if !window.known.contains(head.id), window.seen.insert(head.id).inserted {
                    proven.append(one)
                }
            } catch {
                window.isWhole = false
                note(.foreign("\(error.code): \(error.sentence)"), of: app)
            }
        }
        proven.sort { $0.record.signedAt < $1.record.signedAt }
        var commands: [Command] = []
        for one in proven {
            commands.append(
                try mapping { () throws(NotificationError) in
                    try submissions.replaying(one, for: project)
                })
        }
        count { $0.lookedAt += Int64(proven.count) }
        if isRehearsal {
            for (one, command) in zip(proven, commands) { try rehearse(one, command, of: app) }
        } else {
            try record(commands)
        }
    }

    private func record(_ commands: [Command]) throws(StoreQuestionError) {
        for result in port.appendAll(commands) {
            do throws(CommandError) {
                let outcome = try result.get()
                submissions.notice(outcome, in: project)
                if outcome.items.contains(where: { $0.result == .recorded }) {
                    count { ($0.found, $0.mended) = ($0.found + 1, $0.mended + 1) }
                }
            } catch {
                throw .command(error)
            }
        }
    }

    private func rehearse(
        _ one: ProvenEvidence, _ command: Command, of app: App
    ) throws(StoreQuestionError) {
        do throws(CommandError) {
            let rehearsal = try port.rehearse(command)
            if rehearsal.items.contains(where: { $0.result == .recorded }) {
                count { $0.found += 1 }
            }
            learn(rehearsal, from: one.facts, of: app, in: one.environment)
        } catch {
            throw .command(error)
        }
    }

    private func learn(
        _ rehearsal: Rehearsal, from facts: Facts, of app: App, in environment: Environment
    ) {
        let names = Set(facts.transactions.map(\.purchase) + facts.renewals.map(\.purchase))
        let name = StoreApp(project: project, key: app.key)
        for purchase in rehearsal.customers.flatMap(\.purchases) where names.contains(purchase.id) {
            let place = StorePurchase(app: name, environment: environment, purchase: purchase.id)
            learned.learn(purchase, at: place, now: ports.now())
        }
    }

    func asking<Answer>(
        _ body: () throws(Fault) -> Answer
    ) throws(StoreQuestionError) -> Answer {
        do throws(Fault) { return try body() } catch { throw .command(.fault(error)) }
    }

    private func mapping<Answer>(
        _ body: () throws(NotificationError) -> Answer
    ) throws(StoreQuestionError) -> Answer {
        do throws(NotificationError) { return try body() } catch { throw StoreQuestionError(error) }
    }
}
