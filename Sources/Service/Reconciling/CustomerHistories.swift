package import Core
import Wording

/// Requests the store's history of all of a customer's purchases. This happens after a query
/// without an answer, and in rounds that cover all customers.
extension StoreRound {
    private static let historyPage = 200

    func askForHistories(of apps: [App]) throws(CommandError) {
        for app in apps {
            let name = StoreApp(project: project, key: app.key)
            if isRehearsal { try tellWhatIsAhead(of: app, name) } else { try askAll(of: app, name) }
        }
    }

    /// Estimates the work without requesting any history. Used by rehearsals.
    private func tellWhatIsAhead(of app: App, _ name: StoreApp) throws(CommandError) {
        let round = try obtain(port.books.historyRound(of: name))
        let isOfAll = round?.isFilled != true || plan.asksEveryHistory
        let ahead = try obtain(port.books.countHistories(of: name, asFilled: isOfAll))
        count { $0.lookedAt += ahead.all }
        tellEstimate(ahead, of: app)
    }

    private func askAll(of app: App, _ name: StoreApp) throws(CommandError) {
        var round = try round(of: name)
        let ahead = try obtain(port.books.countHistories(of: name, asFilled: false))
        let others = self.ahead ?? WorkAhead(customers: 0, milliseconds: 0)
        self.ahead = WorkAhead(
            customers: others.customers + ahead.all,
            milliseconds: others.milliseconds + ahead.milliseconds(at: profile(of: app)))
        // Reports the estimate before any question is asked.
        count { _ in }
        tellEstimate(ahead, of: app)
        if round.isSlow, ahead.missing == 0 { limitCalls(of: app, to: slowCalls) }
        var unknown = UnknownPurchases()
        var last: HistoryQuestion?
        asking: while ahead.all > 0 {
            let page = try obtain(
                port.books.historyQuestions(
                    of: name, after: last, limit: StoreRound.historyPage))
            for question in page {
                if callsLeft[app.key, default: 0] <= 0 { break asking }
                let mayGoOn = try attempt(app) { () throws(StoreQuestionError) in
                    try ask(question, app, &unknown)
                }
                count { $0.lookedAt += 1 }
                if !mayGoOn { break asking }
            }
            last = page.last
            if page.count < StoreRound.historyPage { break }
        }
        let strangers = unknown.believed(of: app.key)
        for place in strangers { try obtain(port.books.endHistoryQuestion(of: place)) }
        if !strangers.isEmpty {
            remark(
                "The store does not know the purchases of some customers (\(strangers.count)); these purchases stay as "
                    + "they are.", of: app)
        }
        noteDoubted(unknown, of: app)
        let left = try obtain(port.books.countHistories(of: name, asFilled: false))
        round.wasWhole = round.wasWhole || round.isFilled && left.all == 0
        try obtain(port.books.keep(round, of: name))
        tellRest(left, after: round, of: app)
    }

    /// Returns the current round, or a new one if one was requested or none exists.
    private func round(of name: StoreApp) throws(CommandError) -> HistoryRound {
        let known = try obtain(port.books.historyRound(of: name))
        var round = known ?? HistoryRound(isSlow: true, wasWhole: false)
        if round.isFilled {
            if !plan.asksEveryHistory { return round }
            let ahead = try obtain(port.books.countHistories(of: name, asFilled: false))
            // A requested round continues as long as there are questions left in it.
            if !round.isSlow, ahead.all > ahead.missing { return round }
        }
        round.isSlow = !plan.asksEveryHistory
        // If the process crashes here, some questions are asked twice but none are forgotten.
        round.isFilled = false
        try obtain(port.books.keep(round, of: name))
        try obtain(port.books.fillHistoryQuestions(of: name, in: nil, because: nil))
        // As long as an app has no customers, its round does not count as started.
        round.isFilled = try obtain(port.books.countHistories(of: name, asFilled: false)).all > 0
        try obtain(port.books.keep(round, of: name))
        return round
    }

    private func tellEstimate(_ ahead: HistoryCount, of app: App) {
        if ahead.all == 0 { return }
        remark(
            "The histories of \(ahead.all) customers will be requested: \(ahead.all) calls or more, about "
                + "\(ahead.milliseconds(at: profile(of: app)) / 60_000 + 1) min.", of: app)
    }

    /// Reports what remains to be done. A run is not sound if data is known to be missing or has
    /// never been read completely.
    private func tellRest(_ left: HistoryCount, after round: HistoryRound, of app: App) {
        if left.all == 0 { return }
        let sentence =
            Remedy.requestRemainingHistories.after(
                "The histories of \(left.all) customers still have to be requested.")
        if left.missing > 0 || !round.wasWhole {
            note("history_unread", sentence, of: app.key.id.text)
        } else {
            remark(sentence, of: app)
        }
    }

    /// In a run without the history step, reports what data is missing.
    func tellMissing(of apps: [App]) throws(CommandError) {
        if plan.steps.contains(.history) { return }
        for app in apps {
            let name = StoreApp(project: project, key: app.key)
            let left = try obtain(port.books.countHistories(of: name, asFilled: false))
            if left.missing == 0 { continue }
            note(
                "history_unread",
                Remedy.requestHistories.after(
                    "The histories of \(left.missing) customers are known to have gaps."),
                of: app.key.id.text)
        }
    }

    /// Records that data about a purchase is missing. The purchase's whole history is then
    /// requested until the store answers.
    func keepMissing(
        _ place: StorePurchase, of customer: CustomerID, newestAt: Instant?,
        because error: StoreQuestionError
    ) throws(StoreQuestionError) {
        if isRehearsal { return }
        let question = HistoryQuestion(
            place, of: customer, newestAt: newestAt ?? .distantPast, obstacle: error.sentence)
        try asking(port.books.keep(question))
    }

    private func ask(
        _ question: HistoryQuestion, _ app: App, _ unknown: inout UnknownPurchases
    ) throws(StoreQuestionError) {
        do throws(StoreQuestionError) {
            try askForWhole(question, app, &unknown)
        } catch {
            // Records the obstacle: a question that is asked for the first time does not have one
            // yet.
            try keepMissing(
                question.place, of: question.customer, newestAt: question.newestAt, because: error)
            throw error
        }
    }

    /// Requests all purchases of one customer, which may belong to several store accounts.
    private func askForWhole(
        _ question: HistoryQuestion, _ app: App, _ unknown: inout UnknownPurchases
    ) throws(StoreQuestionError) {
        var told: Set<PurchaseID> = []
        var (isNew, isAnswered, isKnown) = (false, true, true)
        for purchase in try asking(purchases(question, of: app)) where !told.contains(purchase) {
            let place = StorePurchase(
                app: question.place.app, environment: question.place.environment, purchase: purchase
            )
            do throws(StoreQuestionError) {
                let answer = try believing { () throws(StoreQuestionError) in
                    try recordHistory(of: place, app)
                }
                unknown.learnKnown(place)
                told.formUnion(answer.told)
                isNew = isNew || answer.isNew
            } catch {
                // If a purchase's data is known to be missing, the store must have known the
                // purchase.
                if case .trouble(let trouble) = error, question.obstacle == nil,
                    trouble.meaning == .purchaseUnknown
                {
                    isKnown = false
                    continue
                }
                try keepMissing(
                    place, of: question.customer, newestAt: question.newestAt, because: error)
                guard case .trouble(let trouble) = error, mayGoOn(after: trouble, of: app) else {
                    throw error
                }
                note(trouble, of: app)
                isAnswered = isAnswered && place != question.place
            }
        }
        if isAnswered, isKnown { try asking(port.books.endHistoryQuestion(of: question.place)) }
        if isAnswered, !isKnown { unknown.learnUnknown(question.place) }
        if isNew { count { ($0.found, $0.mended) = ($0.found + 1, $0.mended + 1) } }
    }

    /// Returns the purchase in question, then the customer's other purchases in the app. Purchases made in Xcode are
    /// left out, because stores do not know them.
    private func purchases(
        _ question: HistoryQuestion, of app: App
    ) throws(Fault) -> [PurchaseID] {
        let stream = Stream(
            project: project, environment: question.place.environment, customer: question.customer)
        let others = try intake.ledger.customer(of: stream).customer.purchases.filter { purchase in
            purchase.id.store == app.key.store
                && purchase.evidence.last?.effective.app == app.key.id
                && purchase.id != question.place.purchase
        }
        return ([question.place.purchase] + others.map(\.id)).filter { !$0.original.isOfXcode }
    }

    private func recordHistory(
        of place: StorePurchase, _ app: App
    ) throws(StoreQuestionError) -> (told: Set<PurchaseID>, isNew: Bool) {
        try wanted()
        let call = StoreCall.history(of: place.purchase.original)
        let answer = try questions.wholeAnswer(to: call, place.app, place.environment)
        let proven = try questions.prove(answer, app)
        try questions.requireSubject(of: call, in: proven, answer, app, of: project)
        if answer.environment != place.environment {
            throw .trouble(.foreign("it is from \(answer.environment.rawValue)"))
        }
        let facts = proven.flatMap(\.proven).flatMap(\.facts.transactions)
        return (Set(facts.map(\.purchase)), try questions.recordNews(proven, of: project))
    }
}

extension HistoryCount {
    /// The typical duration of a call, in milliseconds.
    private static let usualCall: Int64 = 150

    /// Returns roughly how long all requests will take within the store's limits, with one call for
    /// each.
    package func milliseconds(at store: (any StoreProfile)?) -> Int64 {
        ofEnvironment.reduce(0) { sum, one in
            let allowed = store?.historyPause(in: one.key) ?? 0
            return sum + one.value * max(allowed, HistoryCount.usualCall)
        }
    }
}

extension StoreQuestionError {
    fileprivate var sentence: String {
        switch self {
        case .trouble(let trouble): trouble.withRemedy
        case .command(.refused(let refusal)): refusal.withRemedy
        case .command(.fault(let fault)): fault.withRemedy
        }
    }
}
