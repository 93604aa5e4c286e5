import Core

/// Asks stores about subscriptions that are overdue for an update, one at a time.
extension StoreRound {
    private static let page = 200
    /// The maximum number of purchases that a rehearsal remembers. With more purchases, it may
    /// count some of them twice.
    private static let learningLimit = 200_000
    /// How long the run asks nothing about a purchase that the store does not know, in
    /// milliseconds.
    private static let rest: Int64 = 7 * 86_400_000

    func askAboutSubscriptions(of apps: [App]) throws(CommandError) {
        var askable = Dictionary(uniqueKeysWithValues: apps.map { ($0.key, $0) })
        var unknown = UnknownPurchases()
        var last: DueInquiry?
        let now = intake.now()
        while !askable.isEmpty {
            let page = try obtain(
                port.books.dueInquiries(
                    of: project, askable.keys.map(\.id).sorted(), by: now, after: last,
                    limit: StoreRound.page))
            for due in page {
                let purchases = try readablePurchases(of: due.stream, at: now)
                try ask(about: purchases, at: now, &askable, &unknown)
            }
            last = page.last
            if page.count < StoreRound.page { break }
        }
        try ask(
            about: learnedPurchases(at: now).map { place, purchase in
                Asked(place: place, customer: .unclaimed(purchase.id), before: purchase)
            }, at: now, &askable, &unknown)
        for app in apps {
            let strangers = unknown.believed(of: app.key)
            for place in strangers { try leaveAlone(place, now) }
            if !strangers.isEmpty {
                remark(
                    "The store does not know some subscriptions (\(strangers.count)); Deed will ask about "
                        + "them again in a week.",
                    of: app)
            }
            noteDoubted(unknown, of: app)
            if let count = resting[app.key] {
                remark(
                    "The store said nothing about some subscriptions (\(count)); Deed will leave them "
                        + "alone for a week.",
                    of: app)
            }
        }
    }

    /// Asks the store about purchases that are due. A single answer may cover several of them.
    private func ask(
        about purchases: [Asked], at now: Instant, _ askable: inout [AppKey: App],
        _ unknown: inout UnknownPurchases
    ) throws(CommandError) {
        var due = purchases
        while let next = due.first {
            due.removeFirst()
            guard let app = askable[next.app.key] else { continue }
            if callsLeft[app.key, default: 0] <= 0 {
                noteOutOfCalls("subscriptions", of: app)
                askable[app.key] = nil
                continue
            }
            var told: Set<PurchaseID> = []
            let mayGoOn = try attempt(app) { () throws(StoreQuestionError) in
                do throws(StoreQuestionError) {
                    told = try inquire(next, app, beside: due, at: now)
                    unknown.learnKnown(next.place)
                } catch {
                    guard case .trouble(let trouble) = error, trouble.meaning == .purchaseUnknown
                    else { throw error }
                    unknown.learnUnknown(next.place)
                }
            }
            if told.isEmpty { count { $0.lookedAt += 1 } }
            due.removeAll { told.contains($0.before.id) }
            if !mayGoOn { askable[app.key] = nil }
        }
    }

    /// Remembers facts that a rehearsal has read and that a run would have recorded.
    func learn(_ facts: [Facts], of app: App, in environment: Environment) {
        let name = StoreApp(project: project, key: app.key)
        for facts in facts {
            let purchases = facts.transactions.map(\.purchase) + facts.renewals.map(\.purchase)
            for purchase in Set(purchases) {
                let place = StorePurchase(app: name, environment: environment, purchase: purchase)
                if learned.count >= StoreRound.learningLimit, learned[place] == nil { continue }
                learned[place, default: []].append(facts)
            }
        }
    }

    /// Returns the purchases without a customer that this rehearsal has learned of and that a run
    /// would ask about.
    private func learnedPurchases(at now: Instant) -> [(StorePurchase, Purchase)] {
        learned.map { ($0, Purchase($0.purchase).joined(with: $1)) }.filter { $1.isDue(at: now) }
    }

    /// A purchase about which the store is to be asked.
    private struct Asked {
        let place: StorePurchase
        let customer: CustomerID
        let before: Purchase
        var app: StoreApp { place.app }
    }

    /// Returns the purchases of a customer; empty if the customer's events are unreadable. An unreadable customer is
    /// recorded as an error, and the store is still asked about the others.
    private func readablePurchases(
        of stream: Stream, at now: Instant
    ) throws(CommandError) -> [Asked] {
        do throws(CommandError) {
            return try obtain(duePurchases(of: stream, at: now))
        } catch {
            try passOver(error, of: "customers")
            return []
        }
    }

    private func duePurchases(of stream: Stream, at now: Instant) throws(Fault) -> [Asked] {
        var due: [Asked] = []
        for known in try intake.ledger.customer(of: stream).customer.purchases {
            guard let app = known.evidence.last?.effective.app else { continue }
            let place = StorePurchase(
                app: StoreApp(project: project, key: AppKey(store: known.id.store, id: app)),
                environment: stream.environment, purchase: known.id)
            let before = known.joined(with: learned.removeValue(forKey: place) ?? [])
            guard before.isDue(at: now) else { continue }
            let mark = try port.books.historyMark(of: place)
            switch mark?.rest(of: before, at: now) {
            case .asUnknown: resting[place.app.key, default: 0] += 1
            case .asToldAgain: continue
            case nil: due.append(Asked(place: place, customer: stream.customer, before: before))
            }
        }
        return due
    }

    private func leaveAlone(_ place: StorePurchase, _ now: Instant) throws(CommandError) {
        if isRehearsal { return }
        var mark = try obtain(port.books.historyMark(of: place)) ?? HistoryMark()
        mark.restsUntil = now.advanced(byMilliseconds: StoreRound.rest)
        try obtain(port.books.keep(mark, of: place))
    }

    /// Requests the status of the customer's subscriptions, records it, and returns the purchases in
    /// the answer. Also requests the periods between the last known one and the answer's period.
    private func inquire(
        _ asked: Asked, _ app: App, beside others: [Asked], at now: Instant
    ) throws(StoreQuestionError) -> Set<PurchaseID> {
        try wanted()
        let proven = try believing { () throws(StoreQuestionError) in
            try standing(asked, app, at: now)
        }
        let facts = proven.flatMap(\.proven).map(\.facts)
        let told = ([asked] + others).filter { other in
            other.app == asked.app && facts.contains { $0.tells(of: other.before) }
        }
        var earlier: [ProvenPiece] = []
        var marks: [(HistoryMark, StorePurchase)] = []
        for one in told where one.before.isGap(before: facts) {
            do throws(StoreQuestionError) {
                let (more, mark) = try believing { () throws(StoreQuestionError) in
                    try history(of: one, app)
                }
                earlier += more
                marks.append((mark, one.place))
            } catch {
                // Continues even if the store does not report past periods, because its current
                // statement is accepted on its own.
                guard case .trouble(let trouble) = error, mayGoOn(after: trouble, of: app) else {
                    throw error
                }
                note(trouble, of: app)
                // Once the statement is recorded, nothing but this note shows that earlier data is
                // missing.
                try keepMissing(
                    one.place, of: one.customer,
                    newestAt: one.before.evidence.last?.effective.purchased, because: error)
            }
        }
        // The status comes last, because the subscription stays due until the status is recorded.
        let pieces = earlier + proven
        if isRehearsal {
            learn(facts, of: app, in: asked.place.environment)
        } else {
            _ = try questions.record(pieces, of: project, onlyNews: false)
            for (mark, place) in marks {
                try asking(port.books.keep(mark, of: place))
            }
        }
        let all = pieces.flatMap(\.proven).map(\.facts)
        for one in told {
            let isNew = one.before.joined(with: all).tellsMore(than: one.before)
            count {
                $0.lookedAt += 1
                $0.found += isNew ? 1 : 0
                $0.mended += isNew && !isRehearsal ? 1 : 0
            }
            try keepRest(of: one, told: all, at: now)
        }
        return Set(told.map(\.before.id))
    }

    /// Records that an answer contained nothing new. The subscription stays due, but other subscriptions come first.
    private func keepRest(
        of asked: Asked, told facts: [Facts], at now: Instant
    ) throws(StoreQuestionError) {
        let after = asked.before.joined(with: facts)
        guard !isRehearsal, after.isRead, after.isDue(at: now), let until = after.rest(from: now)
        else { return }
        let toldAt = facts.flatMap(\.transactions).map(\.signedAt).max()
        try asking(
            port.books.keep(HistoryMark(since: toldAt, restsUntil: until), of: asked.place))
    }

    /// Returns the status of the customer's subscriptions, which must include the given one.
    private func standing(
        _ asked: Asked, _ app: App, at now: Instant
    ) throws(StoreQuestionError) -> [ProvenPiece] {
        let original = asked.before.id.original
        let tokens = asked.before.tokens(dueAt: now)
        if tokens.isEmpty { return try standing(asked, app, by: .standings(of: original)) }
        var proven: [ProvenPiece] = []
        var unknown: StoreQuestionError?
        for token in tokens {
            do throws(StoreQuestionError) {
                proven += try standing(asked, app, by: .reading(token: token, of: original))
            } catch {
                guard case .trouble(let trouble) = error, trouble.meaning == .purchaseUnknown
                else { throw error }
                unknown = error
            }
        }
        if proven.isEmpty, let unknown { throw unknown }
        return proven
    }

    private func standing(
        _ asked: Asked, _ app: App, by call: StoreCall
    ) throws(StoreQuestionError) -> [ProvenPiece] {
        let answer = try questions.wholeAnswer(
            to: call, asked.app, asked.place.environment)
        let proven = try questions.prove(answer, app)
        let facts = proven.flatMap(\.proven).map(\.facts)
        guard answer.environment == asked.place.environment,
            facts.contains(where: { $0.tells(of: asked.before) })
        else { throw .trouble(.foreign("it does not name the subscription")) }
        return proven
    }

    func wanted() throws(StoreQuestionError) {
        do throws(StoreTrouble) { try requireWanted() } catch { throw .trouble(error) }
    }

    /// Returns the changes in the customer's history since it was last read. If it was never read, returns the
    /// purchases since the newest known period.
    private func history(
        of asked: Asked, _ app: App
    ) throws(StoreQuestionError) -> ([ProvenPiece], HistoryMark) {
        var mark =
            try asking(port.books.historyMark(of: asked.place)) ?? HistoryMark()
        if mark.revision == nil { mark.since = asked.before.evidence.last?.effective.purchased }
        do throws(StoreQuestionError) {
            return try history(of: asked, app, from: mark)
        } catch {
            // If the store no longer accepts its own mark, everything since then is read again.
            guard mark.revision != nil, case .trouble(.refused) = error else { throw error }
            return try history(of: asked, app, from: HistoryMark(since: mark.since))
        }
    }

    private func history(
        of asked: Asked, _ app: App, from mark: HistoryMark
    ) throws(StoreQuestionError) -> ([ProvenPiece], HistoryMark) {
        var mark = mark
        var filter = HistoryFilter()
        filter.start = mark.since
        let call = StoreCall.history(
            of: asked.before.id.original, filter, after: mark.revision)
        let answer = try questions.wholeAnswer(to: call, asked.app, asked.place.environment)
        mark.revision = answer.revision ?? mark.revision
        mark.restsUntil = nil
        return (try questions.prove(answer, app), mark)
    }
}

extension Facts {
    /// Returns whether the facts are about the purchase, under any of its names. Readings may show that a purchase has
    /// several names.
    fileprivate func tells(of purchase: Purchase) -> Bool {
        transactions.contains { purchase.isSame(as: $0) }
    }
}

/// Why this run does not ask about a subscription.
private enum Rest {
    /// The store did not know the subscription when it was last asked.
    case asUnknown
    /// The store only repeated known facts.
    case asToldAgain
}

extension HistoryMark {
    fileprivate func rest(of purchase: Purchase, at now: Instant) -> Rest? {
        guard let restsUntil, now < restsUntil else { return nil }
        guard purchase.isRead, let since else { return .asUnknown }
        // Facts learned since then may change when the purchase is due.
        let newest = purchase.readings.last?.signedAt ?? .distantPast
        return newest <= since ? .asToldAgain : nil
    }
}

extension Purchase {
    fileprivate func isDue(at now: Instant) -> Bool { inquiryAt.map { $0 <= now } ?? false }

    /// Returns whether the newest period in the answer starts after the newest known period ends. Other periods may
    /// then lie between them.
    fileprivate func isGap(before facts: [Facts]) -> Bool {
        // A purchase that is read from the store's answers includes all of its periods.
        if isRead { return false }
        let told = facts.flatMap(\.transactions).filter { $0.purchase == id }
        guard let newest = told.max(by: { $0.purchased < $1.purchased }),
            evidence(of: newest.transaction) == nil, let known = evidence.last?.effective
        else { return false }
        return newest.purchased != known.expires
    }
}
