package import Core
import Postgres
import SQL

// The data stored about webhooks besides their events: sealed secrets, progress and waiting customers.
extension Ledger {
    package func webhookSecrets(
        of project: ProjectID? = nil, _ id: WebhookID? = nil
    ) throws(Fault) -> [SealedWebhook] {
        let call = Statement.findWebhookSecrets(.text(project?.text), .text(id?.text))
        return try readable(
            call,
            of: { rows, row in
                UnreadSubject(
                    rows.text(row, 0), "", "", row: "webhook_secrets \(rows.text(row, 1))")
            }
        ) { rows, row throws(LedgerError) -> SealedWebhook in
            SealedWebhook(
                WebhookName(try rows.identifier(row, 0), try rows.identifier(row, 1)),
                sealed: rows.bytes(row, 2), keyName: rows.bytes(row, 3),
                revision: rows.int8(row, 4),
                version: rows.int8(row, 5))
        }
    }

    /// Replaces the sealed secrets that have this revision. Returns false if others were stored in
    /// the meantime. A new webhook starts at the cursor.
    package func putWebhookSecrets(
        _ sealed: SealedWebhook, from cursor: String?
    ) throws(Fault) -> Bool {
        try requireWritable()
        let call = Statement.putWebhookSecrets(
            .text(sealed.name.project.text), .text(sealed.name.id.text), .bytea(sealed.sealed),
            .bytea(sealed.keyName), .int8(sealed.revision), .int8(sealed.version), .text(cursor))
        return try !list(call) { _, _ in () }.isEmpty
    }

    /// Returns the projects that have stored secrets for a webhook.
    package func projectsWithWebhooks() throws(Fault) -> Set<ProjectID> {
        let found = try readable(
            Statement.listWebhookProjects(),
            of: { rows, row in UnreadSubject(rows.text(row, 0), "", "", row: "webhook_secrets") }
        ) { rows, row throws(LedgerError) -> ProjectID in try rows.identifier(row, 0) }
        return Set(found)
    }

    package func forgetWebhook(_ name: WebhookName) throws(Fault) {
        try change([
            Statement.forgetWebhookPlace(.text(name.project.text), .text(name.id.text)),
            Statement.forgetWebhook(.text(name.project.text), .text(name.id.text)),
        ])
    }

    package func webhookStandings(
        of project: ProjectID, _ id: WebhookID? = nil
    ) throws(Fault) -> [WebhookID: WebhookStanding] {
        let call = Statement.findWebhookPlaces(.text(project.text), .text(id?.text))
        let found = try list(call) { rows, row throws(LedgerError) in
            var place = WebhookPlace(cursor: rows.text(row, 1))
            place.resumptions = rows.int8(row, 2)
            place.failingSince = rows.instant(row, 3)
            place.parkedAt = rows.instant(row, 4)
            place.goneAt = rows.instant(row, 5)
            place.restsUntil = rows.instant(row, 6)
            place.oldestAt = rows.instant(row, 7)
            place.attempts = rows.int8(row, 8)
            return (
                id: try rows.identifier(row, 0) as WebhookID, place: place,
                waiting: rows.int8(row, 9), parked: rows.int8(row, 10),
                oldest: rows.instant(row, 11)
            )
        }
        if found.isEmpty { return [:] }
        let heads = try heads()
        var standings: [WebhookID: WebhookStanding] = [:]
        for one in found {
            let places = (try? FeedCursor(one.place.cursor, of: project))?.place ?? heads
            let lag = try lag(behind: places, heads: heads, of: project)
            let oldest = [one.oldest, lag > 0 ? one.place.oldestAt : nil].compactMap(\.self).min()
            standings[one.id] = WebhookStanding(
                one.place, lag: lag, waiting: one.waiting, parked: one.parked, oldestAt: oldest)
        }
        return standings
    }

    /// Returns the number of the project's events after the given places.
    private func lag(
        behind places: [Int64], heads: [Int64], of project: ProjectID
    ) throws(Fault) -> Int64 {
        let shards = heads.indices.filter { heads[$0] > places[$0] }
        if shards.isEmpty { return 0 }
        let call = Statement.countWebhookLag(
            .text(project.text), .int2s(shards.map(Int16.init)), .int8s(shards.map { places[$0] }))
        return try list(call) { rows, row in rows.int8(row, 0) }.first ?? 0
    }

    /// Returns waiting customers, those with the oldest events first.
    package func waitingCustomers(
        of name: WebhookName, limit: Int
    ) throws(Fault) -> [WaitingCustomer] {
        let call = Statement.listWebhookWaiting(
            .text(name.project.text), .text(name.id.text), .int8(Int64(limit)))
        return try readable(
            call,
            of: { rows, row in
                UnreadSubject(name.project.text, "", rows.text(row, 0), row: "webhook_waiting")
            }
        ) { rows, row throws(LedgerError) -> WaitingCustomer in
            WaitingCustomer(
                try rows.identifier(row, 0),
                at: Position(shard: Shard(number: rows.int2(row, 1)), sequence: rows.int8(row, 2)),
                version: rows.int8(row, 3), part: rows.int2(row, 4), attempts: rows.int8(row, 5),
                dueAt: rows.instant(row, 6),
                recordedAt: Instant(milliseconds: rows.int8(row, 7)))
        }
    }

    /// Returns attempts, newest first.
    package func webhookAttempts(
        of name: WebhookName, before number: Int64?, customer: CustomerID?, limit: Int
    ) throws(Fault) -> [WebhookAttempt] {
        let listed = RowList { place, limit in
            let binds: [Bind] = [.text(name.project.text), .text(name.id.text)]
            return Call(
                statement: .listWebhookAttempts,
                binds: binds + place + [.text(customer?.text), limit])
        } place: { rows, row in
            [.int8(rows.int8(row, 0))]
        } subject: { rows, row in
            UnreadSubject(name.project.text, "", rows.text(row, 3), row: "webhook_attempts")
        } item: { rows, row throws(LedgerError) -> WebhookAttempt in
            let replay: ReplayID? = try rows.isNull(row, 10) ? nil : rows.identifier(row, 10)
            return WebhookAttempt(
                message: rows.text(row, 1), type: rows.text(row, 2),
                customer: try rows.identifier(row, 3), attempt: rows.int8(row, 4),
                at: Instant(milliseconds: rows.int8(row, 5)), milliseconds: rows.int8(row, 6),
                status: rows.optionalInt8(row, 7), error: rows.optionalText(row, 8),
                answer: rows.text(row, 9), replay: replay, number: rows.int8(row, 0))
        }
        return try page(after: [.int8(number)], limit: limit, listed)
    }

    /// Stores a webhook's progress completely or not at all. Returns false if the lease was taken
    /// over or the webhook no longer exists.
    package func keep(_ progress: WebhookProgress, under lease: Lease) throws(Fault) -> Bool {
        try requireWritable()
        let (place, waiting, tried) = (progress.place, progress.waiting, progress.attempts)
        let replays = progress.replays
        let call = Statement.keepWebhook(
            .text(progress.name.project.text), .text(progress.name.id.text), .text(lease.name),
            .int8(lease.fence), .text(place.cursor), .int8(place.resumptions),
            .int8(place.failingSince?.milliseconds), .int8(place.parkedAt?.milliseconds),
            .int8(place.goneAt?.milliseconds), .int8(place.restsUntil?.milliseconds),
            .int8(place.oldestAt?.milliseconds), .int8(place.attempts),
            .texts(waiting.map(\.customer.text)), .int2s(waiting.map(\.position.shard.number)),
            .int8s(waiting.map(\.position.sequence)), .int8s(waiting.map(\.version)),
            .int2s(waiting.map(\.part)), .int8s(waiting.map(\.attempts)),
            .optionalInt8s(waiting.map { $0.dueAt?.milliseconds }),
            .int8s(waiting.map(\.recordedAt.milliseconds)), .texts(progress.served.map(\.text)),
            .int8s(tried.map(\.number)), .texts(tried.map(\.message)), .texts(tried.map(\.type)),
            .texts(tried.map(\.customer.text)), .int8s(tried.map(\.attempt)),
            .int8s(tried.map(\.at.milliseconds)), .int8s(tried.map(\.milliseconds)),
            .optionalInt8s(tried.map(\.status)), .texts(tried.map(\.error)),
            .texts(tried.map(\.answer)), .texts(tried.map { $0.replay?.text }),
            .int8(WebhookAttempt.countLimit), .int8(progress.attemptsSince.milliseconds),
            .texts(replays.map(\.id.text)), .texts(replays.map(\.cursor)),
            .int8s(replays.map(\.sent)), .int8s(replays.map(\.failed)),
            .bools(replays.map(\.isOver)), .texts(progress.forgotten.map(\.text)))
        return try list(call, over: delivering) { rows, row in rows.int8(row, 0) }.first == 1
    }
}

// Replays.
extension Ledger {
    /// Returns the digest of this replay, or of an earlier one with the same name; `nil` if there are too many replays.
    package func addReplay(
        _ replay: WebhookReplay, digest: [UInt8], of name: WebhookName, at now: Instant
    ) throws(Fault) -> [UInt8]? {
        try requireWritable()
        var binds: [Bind] = [.text(nil), .int8(nil), .int8(nil), .text(nil), .text(nil)]
        switch replay.wanted {
        case .event(let id): binds[0] = .text(id)
        case .range(let since, let until, let types, let customer):
            binds[1] = .int8(since.milliseconds)
            binds[2] = .int8(until.milliseconds)
            binds[3] = .text(types?.joined(separator: ","))
            binds[4] = .text(customer?.text)
        }
        let call = Statement.addWebhookReplay(
            .text(name.project.text), .text(name.id.text), .text(replay.id.text), .bytea(digest),
            binds[0], binds[1], binds[2], binds[3], binds[4], .int8(now.milliseconds),
            .int8(Int64(WebhookReplay.countLimit)),
            .int8(now.milliseconds - WebhookReplay.lifetime))
        return try list(call) { rows, row in rows.bytes(row, 0) }.first
    }

    /// Returns unfinished replays.
    package func replays(of name: WebhookName) throws(Fault) -> [WebhookReplay] {
        try list(
            Statement.listWebhookReplays(.text(name.project.text), .text(name.id.text)), replay)
    }

    /// Returns recent replays, newest first.
    package func recentReplays(
        of name: WebhookName, limit: Int
    ) throws(Fault) -> [WebhookReplay] {
        let call = Statement.listRecentWebhookReplays(
            .text(name.project.text), .text(name.id.text), .int8(Int64(limit)))
        return try list(call, replay)
    }

    private func replay(
        _ rows: borrowing Rows, _ row: Int
    ) throws(LedgerError) -> WebhookReplay {
        var wanted = WebhookReplay.Wanted.event(rows.optionalText(row, 1) ?? "")
        if rows.isNull(row, 1) {
            wanted = .range(
                since: Instant(milliseconds: rows.int8(row, 2)),
                until: Instant(milliseconds: rows.int8(row, 3)),
                types: rows.optionalText(row, 4)?.split(separator: ",").map(String.init),
                customer: try rows.isNull(row, 5) ? nil : rows.identifier(row, 5))
        }
        var replay = WebhookReplay(try rows.identifier(row, 0), wanted)
        replay.cursor = rows.optionalText(row, 6)
        replay.sent = rows.int8(row, 7)
        replay.failed = rows.int8(row, 8)
        replay.isOver = rows.bool(row, 9)
        return replay
    }
}

extension Rows {
    fileprivate func instant(_ row: Int, _ column: Int) -> Instant? {
        optionalInt8(row, column).map(Instant.init(milliseconds:))
    }
}
