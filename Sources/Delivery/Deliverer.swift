package import Core
import Feed
import JSON
import Outbound
import Telemetry
import Threading
import Wording

/// The sender of one webhook's messages. It runs on one thread while this instance holds the webhook's lease.
package final class Deliverer {
    private static let pageLimit = 250
    /// The number of waiting customers that are read at a time, and the number of events read for
    /// each customer whose last attempt succeeded.
    private static let laterCustomers = 64
    private static let laterEvents = 16
    /// The milliseconds between two removals of old attempts if there is nothing else to write.
    private static let upkeepPause: Int64 = 3_600_000
    /// The milliseconds between two writes of progress, if there are attempts to record, and if
    /// there are none.
    private static let writePause: (busy: Int64, idle: Int64) = (200, 1000)
    private static let pollPause: Int64 = 3000
    /// The milliseconds between two reads of the log, so that many commits are read together. While
    /// all shards are being written to, a read takes PostgreSQL about 5 ms.
    private static let lookPause: Int64 = 100

    let name: WebhookName
    let ports: DeliveryPorts
    let reader: FeedReader
    let mailbox = Mailbox()
    var webhook: Webhook
    var outbox: Outbox
    var types: FeedTypes
    var replays: [ReplayID: ReplayRun] = [:]
    var place: WebhookPlace
    /// When stored pauses were last compared with the machine's clock.
    var comparedAt = Instant.distantFuture
    /// When to retry replayed messages that have failed.
    var delayed: [Line: Int64] = [:]
    var nextReplays: Int64 = 0
    private let lease: Lease
    private let bell: WebhookBell
    private let current: @Sendable () -> Webhook?
    private var secrets = WebhookSecrets(keys: [], headers: [])
    private var read: FeedCursor
    private var lag: Int64 = 0
    private var isMore = true
    var attempts: [WebhookAttempt] = []
    /// Erased customers whose stored attempts are deleted with the next write.
    var forgotten: Set<CustomerID> = []
    var nextErasures: Int64 = 0
    /// Whether news of erasures may have been missed, so that nothing in memory may be sent any more.
    var isCut = false
    var underWay = [false: 0, true: 0]
    private var wasReplay = false
    // Starts as true, so that the stored progress is written and measured at least once.
    private var isDirty = true
    private let lookup = Lookup()
    private var isLookedUp = false
    private var nextWrite: Int64 = 0
    private var nextPoll: Int64 = 0
    private var nextLook: Int64 = 0
    private var nextSecrets: Int64 = 0
    private var nextUpkeep = monotonicMilliseconds() + Deliverer.upkeepPause
    /// The earliest time at which the next request may be sent, and the next replayed one.
    private var slot = 0.0
    private var replaySlot = 0.0

    /// Creates the sender; `nil` if the webhook no longer exists. `current` returns the webhook's current settings.
    package init?(
        _ name: WebhookName, _ ports: DeliveryPorts, _ bell: WebhookBell, under lease: Lease,
        current: @escaping @Sendable () -> Webhook?
    ) throws(Fault) {
        guard let webhook = current() else { return nil }
        var standing: WebhookStanding?
        // Waits, because a webhook's event is recorded shortly before its secrets and its place are
        // stored.
        for _ in 0..<30 where standing == nil {
            standing = try ports.store.webhookStandings(of: name.project, name.id)[name.id]
            if standing == nil { Threading.pause(milliseconds: 100) }
        }
        guard let standing else {
            throw .broken(
                "the webhook \(name.id) was only partly created; complete it with: "
                    + "deed webhook rotate \(name.id)")
        }
        let waiting = try ports.store.waitingCustomers(of: name, limit: Int.max)
        guard let read = try? FeedCursor(standing.place.cursor, of: name.project) else {
            throw .broken("the cursor of the webhook \(name.id) cannot be read")
        }
        (self.name, self.ports, self.bell, self.lease) = (name, ports, bell, lease)
        (self.webhook, self.current, self.read) = (webhook, current, read)
        place = standing.place
        lag = standing.lag
        outbox = Outbox(waiting)
        types = try Deliverer.types(webhook.types)
        reader = ports.reader()
    }

    static func types(_ names: [String]) throws(Fault) -> FeedTypes {
        try rethrowing(
            as: {
                Fault.broken("a webhook subscribes to \($0.name), which this release does not know")
            }
        ) { () throws(UnknownFeedType) in try FeedTypes(names) }
    }

    /// Sends messages until `goesOn` returns false or the webhook is deleted. Returns `true` if another sender must
    /// continue, which reads all messages again.
    package func run(while goesOn: () -> Bool) throws(Fault) -> Bool {
        bell.add(mailbox, in: name.project)
        defer {
            bell.remove(mailbox, in: name.project)
            ports.measures.note(name, nil)
        }
        var letters: [Mailbox.Letter] = []
        try heedErasures()
        while goesOn(), !isCut, try refresh() {
            endVoidPauses()
            for letter in letters { settle(letter) }
            letters = []
            if isStanding {
                try heedErasures()
                try write(within: 0)
                (letters, _) = mailbox.take(within: 500)
                continue
            }
            try readPages()
            try loadLater()
            try pollReplays()
            try readReplays()
            // After the reads, because they may have taken from the log what an erasure has removed since.
            try heedErasures()
            if isCut { continue }
            sendNext()
            holdUnreadable()
            try write(
                within: attempts.isEmpty ? Deliverer.writePause.idle : Deliverer.writePause.busy)
            let mail = mailbox.take(
                within: pause, gathering: underWay.values.reduce(0, +) / 2)
            letters = mail.letters
            if mail.isRung { isMore = true }
        }
        try end(letters)
        return isCut
    }

    /// Waits briefly for requests in progress, because a message is sent again if its arrival is uncertain.
    private func end(_ letters: [Mailbox.Letter]) throws(Fault) {
        for letter in letters { settle(letter) }
        let deadline = monotonicMilliseconds() + 2000
        while underWay.values.reduce(0, +) > 0, monotonicMilliseconds() < deadline {
            for letter in mailbox.take(within: 100).letters { settle(letter) }
        }
        try heedErasures()
        try write(within: -Int64.max)
    }

    /// Whether sending has stopped until an admin resumes it.
    private var isStanding: Bool { place.goneAt != nil || place.parkedAt != nil }

    /// Applies an admin's changes. Returns `false` if the webhook was deleted.
    private func refresh() throws(Fault) -> Bool {
        guard let current = current() else { return false }
        let now = monotonicMilliseconds()
        if current != webhook {
            if current.types != webhook.types { types = try Deliverer.types(current.types) }
            webhook = current
            nextSecrets = 0
        }
        if place.resumptions != webhook.resumptions {
            let cursor = place.cursor
            let attempts = place.attempts
            place = WebhookPlace(cursor: cursor)
            place.attempts = attempts
            place.resumptions = webhook.resumptions
            outbox.resume(at: ports.machineClock())
            isDirty = true
        }
        if now >= nextUpkeep {
            nextUpkeep = now + Deliverer.upkeepPause
            isDirty = true
        }
        if now >= nextSecrets {
            secrets = try rethrowing(as: \CommandError.asFault) { () throws(CommandError) in
                try ports.vault.secrets(of: name) ?? secrets
            }
            // Messages are never sent unsigned.
            if secrets.keys.isEmpty {
                throw .broken(
                    "the secrets of the webhook \(name.id) are missing; create new secrets with: "
                        + "deed webhook rotate \(name.id)")
            }
            // New secrets are stored after the event that announces them.
            nextSecrets = now + (secrets.keys.first?.number == webhook.key ? 5000 : 500)
        }
        return true
    }

    private var mayLoadLater: Bool {
        outbox.count(ofReplays: false) < 2 * Outbox.messageLimit
    }

    /// Reads pages of the feed as long as there is room for them.
    private func readPages() throws(Fault) {
        let now = monotonicMilliseconds()
        guard isMore || now >= nextPoll, now >= nextLook, outbox.hasRoom else { return }
        var question = FeedQuestion(name.project, webhook.environment)
        question.start = .cursor(read)
        question.limit = Deliverer.pageLimit
        question.types = types
        question.tellsAccess = true
        do throws(FeedError) {
            let page = try ports.turnstile.passing { () throws(FeedError) in
                try reader.page(question)
            }
            if page.next.place != read.place { isDirty = true }
            (read, lag, isMore) = (page.next, page.lag, page.isMore)
            outbox.take(page.items, through: page.next, types)
            nextPoll = now + Deliverer.pollPause
            nextLook = page.items.count < Deliverer.pageLimit ? now + Deliverer.lookPause : now
        } catch {
            switch error {
            case .fault(let fault): throw fault
            case .cursorLost(let restart):
                outbox.forgetWaiting(beyond: restart.place)
                (read, isMore) = (restart, true)
            case .cursorOfAnotherDatabase:
                throw .broken("the cursor of the webhook \(name.id) is from another database")
            }
        }
    }

    /// Rereads the events of waiting customers who are due.
    private func loadLater() throws(Fault) {
        let now = ports.machineClock()
        guard mayLoadLater else { return }
        let due = outbox.due(at: now, limit: Deliverer.laterCustomers)
        // While a customer's message keeps failing, reading one event is enough.
        for (rows, limit) in [
            (due.filter { $0.attempts > 0 }, 1),
            (due.filter { $0.attempts == 0 }, Deliverer.laterEvents),
        ] where !rows.isEmpty {
            let wanted = rows.map { row in
                LaterEvents(
                    of: Stream(
                        project: name.project, environment: webhook.environment,
                        customer: row.customer),
                    after: row.part == .max ? row.version : row.version - 1,
                    through: read.place[Int(row.position.shard.number)])
            }
            let found = try ports.turnstile.passing { () throws(Fault) in
                try reader.later(wanted, of: name.project, limit: limit)
            }
            for (row, items) in zip(rows, found) { outbox.load(items, of: row.customer, types) }
            isDirty = true
        }
    }

    func due(after attempts: Int64) -> Instant? {
        ports.retries.pause(after: attempts).map {
            ports.machineClock().advanced(byMilliseconds: $0)
        }
    }

    // MARK: Sending

    private func sendNext() {
        if let rest = place.restsUntil, ports.machineClock() < rest { return }
        guard outbox.hasNext(ofReplays: false) || outbox.hasNext(ofReplays: true) else { return }
        let found = lookup.find(webhook.url, ports.gate) { [mailbox] in mailbox.ring() }
        isLookedUp = found != nil
        guard let found else { return }
        let limit = Int(webhook.concurrency)
        // Replays may use half of the places and half of the rate. The other half is reserved for new messages.
        while underWay[true, default: 0] < max(1, limit / 2),
            limit > 1 || !wasReplay || !outbox.hasNext(ofReplays: false),
            takeSlot(ofReplays: true, limit, found.obstacle)
        {}
        while takeSlot(ofReplays: false, limit, found.obstacle) {}
    }

    /// Takes a slot for sending one message. Returns `false` if no message may be sent now.
    private func takeSlot(ofReplays: Bool, _ limit: Int, _ obstacle: OutboundError?) -> Bool {
        guard underWay.values.reduce(0, +) < limit, outbox.hasNext(ofReplays: ofReplays) else {
            return false
        }
        let now = Double(monotonicMilliseconds())
        if webhook.rate != nil, max(slot, ofReplays ? replaySlot : 0) > now { return false }
        guard let next = outbox.next(ofReplays: ofReplays) else { return false }
        if let rate = webhook.rate {
            let pause = 1000 / Double(rate)
            // Slots that went unused may be used up to 100 ms later.
            slot = max(slot, now - 100) + pause
            if ofReplays { replaySlot = max(replaySlot, now - 100) + 2 * pause }
        }
        underWay[ofReplays, default: 0] += 1
        wasReplay = ofReplays
        begin(next.line, next.entry, obstacle)
        return true
    }

    private func begin(_ line: Line, _ entry: Entry, _ obstacle: OutboundError?) {
        let now = ports.machineClock()
        let started = monotonicMilliseconds()
        var request = ports.form.request(
            entry.message, to: webhook, of: name.project, secrets, at: now)
        if let replay = line.replay { request.headers.append(("deed-replay", replay.text)) }
        let attempt = outbox.attempts(of: line, entry) + 1
        let headers = secrets.headers.map(\.value)
        let respond = { @Sendable [mailbox] (answer: SafeGate.Answer) in
            mailbox.put(
                Mailbox.Letter(
                    line: line, entry: entry, attempt: attempt, at: now,
                    milliseconds: monotonicMilliseconds() - started, answer: answer,
                    headers: headers))
        }
        if let obstacle {
            respond(.failure(obstacle))
        } else {
            ports.gate.send(request, respond: respond)
        }
    }

    /// How long the thread may sleep.
    private var pause: Int64 {
        var pause: Int64 = 500
        let now = ports.machineClock().milliseconds
        if isDirty { pause = min(pause, max(1, nextWrite - monotonicMilliseconds())) }
        if isMore, outbox.hasRoom {
            pause = min(pause, max(0, nextLook - monotonicMilliseconds()))
        }
        if mayLoadLater, let due = outbox.nextDue {
            pause = min(pause, max(5, due.milliseconds - now))
        }
        if outbox.hasNext(ofReplays: false) || outbox.hasNext(ofReplays: true),
            isLookedUp, webhook.rate != nil, underWay.values.reduce(0, +) < webhook.concurrency
        {
            let next = outbox.hasNext(ofReplays: false) ? slot : max(slot, replaySlot)
            let rest = place.restsUntil.map { $0.milliseconds - now } ?? 0
            pause = min(pause, max(1, Int64(next) - monotonicMilliseconds(), rest))
        }
        return pause
    }

    // MARK: Progress

    /// Writes the changes if the last write was long enough ago.
    private func write(within wait: Int64) throws(Fault) {
        let time = monotonicMilliseconds()
        guard isDirty, time >= nextWrite + min(0, wait) else { return }
        nextWrite = time + max(0, wait)
        if let page = outbox.finishPages(of: nil) {
            place.cursor = page.cursor.text(for: name.project)
        }
        place.oldestAt = outbox.oldestAt
        var progress = WebhookProgress(name, place)
        (progress.waiting, progress.served) = outbox.takeChanges()
        progress.attempts = attempts
        progress.forgotten = Array(forgotten)
        progress.attemptsSince = ports.machineClock()
            .advanced(byMilliseconds: -WebhookAttempt.lifetime)
        progress.replays = takeReplayProgress()
        if try !ports.store.keep(progress, under: lease) { throw .leaseLost }
        (attempts, forgotten) = ([], [])
        isDirty = false
        let standing = DeliveryMeasures.Standing(
            lag: lag, oldestAt: place.oldestAt,
            parked: Int64(outbox.parked) + (isStanding ? 1 : 0))
        ports.measures.note(name, standing)
    }

    func noteProgress() { isDirty = true }
}
