import Core

/// Subscriptions of which the store should have told something, asked about one by one.
extension StoreRound {
    private static let page = 200
    /// How long a purchase that the store does not know is left alone.
    private static let rest: Int64 = 7 * 86_400_000

    func askAboutSubscriptions(of apps: [App]) throws(CommandError) {
        var askable = Dictionary(uniqueKeysWithValues: apps.map { ($0.key.id, $0) })
        var unknown: [AppID: (count: Int, sentence: String)] = [:]
        var last: DueInquiry?
        let now = ports.now()
        while !askable.isEmpty {
            let page = try obtain { () throws(Fault) in
                try port.due(project, askable.keys.sorted(), now, last, StoreRound.page)
            }
            for due in page {
                let purchases = try obtain { () throws(Fault) in
                    try duePurchases(of: due.stream, by: now)
                }
                try ask(about: purchases, by: now, &askable, &unknown)
            }
            last = page.last
            if page.count < StoreRound.page { break }
        }
        try ask(
            about: learned.others.map { Asked(place: $0.place, before: $0.purchase) }, by: now,
            &askable, &unknown)
        for app in apps {
            guard let (count, sentence) = unknown[app.key.id] else { continue }
            remark(
                "The store tells nothing of some subscriptions (\(count)), and is asked about them "
                    + "again in a week: \(sentence)",
                of: app)
        }
    }

    /// Asks about purchases that are due. One answer may tell of several of them.
    private func ask(
        about purchases: [Asked], by now: Instant, _ askable: inout [AppID: App],
        _ unknown: inout [AppID: (count: Int, sentence: String)]
    ) throws(CommandError) {
        var due = purchases
        while let next = due.first {
            due.removeFirst()
            guard let app = askable[next.app.key.id] else { continue }
            if callsLeft[app.key, default: 0] <= 0 {
                remark("More subscriptions wait for the next run.", of: app)
                askable[app.key.id] = nil
                continue
            }
            var told: Set<PurchaseID> = []
            let mayGoOn = try attempt(app) { () throws(StoreQuestionError) in
                var silence = "its answer does not name them."
                do throws(StoreQuestionError) {
                    told = try inquire(next, app, beside: due)
                } catch {
                    guard case .trouble(let trouble) = error, case .refused = trouble else {
                        throw error
                    }
                    silence = trouble.sentence
                }
                if told.isEmpty {
                    unknown[app.key.id, default: (0, silence)].count += 1
                    try leaveAlone(next, now)
                }
            }
            if told.isEmpty { count { $0.lookedAt += 1 } }
            due.removeAll { told.contains($0.before.id) }
            if !mayGoOn { askable[app.key.id] = nil }
        }
    }

    /// A purchase about which the store is asked.
    private struct Asked {
        let place: StorePurchase
        let before: Purchase
        var app: StoreApp { place.app }
    }

    private func duePurchases(of stream: Stream, by now: Instant) throws(Fault) -> [Asked] {
        var due: [Asked] = []
        for purchase in try ports.ledger.customer(stream).customer.purchases {
            guard let at = purchase.inquiryAt, at <= now,
                let app = purchase.evidence.last?.effective.app
            else { continue }
            let place = StorePurchase(
                app: StoreApp(project: project, key: AppKey(store: purchase.id.store, id: app)),
                environment: stream.environment, purchase: purchase.id)
            guard let before = learned.due(purchase, at: place) else { continue }
            let rests = try port.marks.history(place)?.restsUntil ?? .distantPast
            if rests <= now { due.append(Asked(place: place, before: before)) }
        }
        return due
    }

    private func leaveAlone(_ asked: Asked, _ now: Instant) throws(StoreQuestionError) {
        if isRehearsal { return }
        try asking { () throws(Fault) in
            var mark = try port.marks.history(asked.place) ?? HistoryMark()
            mark.restsUntil = now.advanced(byMilliseconds: StoreRound.rest)
            try port.marks.keepHistory(mark, asked.place)
        }
    }

    /// Asks how the customer's subscriptions stand, and records it; gives those of which it was told. What
    /// lies between the period that is known and the one that is told is asked for, too.
    private func inquire(
        _ asked: Asked, _ app: App, beside others: [Asked]
    ) throws(StoreQuestionError) -> Set<PurchaseID> {
        try wanted()
        let original = asked.before.id.original
        let environment = asked.place.environment
        let standing = try questions.wholeAnswer(
            to: .statuses(of: original), asked.app, environment)
        var pieces = try questions.prove(standing, app)
        let facts = pieces.flatMap(\.proven).map(\.facts)
        guard facts.contains(where: { $0.tells(of: asked.before.id) }),
            standing.environment == environment
        else { return [] }
        let told = ([asked] + others).filter { other in
            other.app == asked.app && facts.contains { $0.tells(of: other.before.id) }
        }
        var marks: [(HistoryMark, StorePurchase)] = []
        for one in told where one.before.isGap(before: facts) {
            let (more, mark) = try history(of: one, app)
            pieces += more
            marks.append((mark, one.place))
        }
        if !isRehearsal {
            _ = try questions.record(pieces, of: project)
            for (mark, place) in marks {
                try asking { () throws(Fault) in try port.marks.keepHistory(mark, place) }
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
        }
        return Set(told.map(\.before.id))
    }

    private func wanted() throws(StoreQuestionError) {
        do throws(StoreTrouble) { try requireWanted() } catch { throw .trouble(error) }
    }

    /// What the store changed in the customer's history since it was read last, or what was bought since
    /// the newest period that is known.
    private func history(
        of asked: Asked, _ app: App
    ) throws(StoreQuestionError) -> ([ProvenPiece], HistoryMark) {
        var mark =
            try asking { () throws(Fault) in try port.marks.history(asked.place) } ?? HistoryMark()
        if mark.revision == nil { mark.since = asked.before.evidence.last?.effective.purchased }
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
    fileprivate func tells(of purchase: PurchaseID) -> Bool {
        transactions.contains { $0.purchase == purchase }
    }
}

extension Purchase {
    /// Whether the newest period that is told does not begin where the newest one that is known ends:
    /// then others may lie between them.
    fileprivate func isGap(before facts: [Facts]) -> Bool {
        let told = facts.flatMap(\.transactions).filter { $0.purchase == id }
        guard let newest = told.max(by: { $0.purchased < $1.purchased }),
            evidence(of: newest.transaction) == nil, let known = evidence.last?.effective
        else { return false }
        return newest.purchased != known.expires
    }
}
