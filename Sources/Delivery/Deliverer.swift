package import Core
import Feed
import JSON
import Outbound
import Telemetry
import Threading

/// Sends one endpoint's messages, on one thread, for as long as this instance has its lease.
package final class Deliverer {
    static let waitingLimit = 1000
    private static let messageLimit = 500
    private static let pageLimit = 250
    /// How many waiting customers are read at a time, and how much of each that goes well.
    private static let laterCustomers = 64
    private static let laterEvents = 16
    /// How many pages of the feed may have something under way.
    private static let openPageLimit = 64
    /// How often what is too old is removed, without anything new.
    private static let upkeepPause: Int64 = 3_600_000
    /// The pauses between two writes of progress, in milliseconds: with attempts to keep, and without.
    private static let writePause: (busy: Int64, idle: Int64) = (200, 1000)
    private static let pollPause: Int64 = 3000
    /// So that many commits are read together: a look costs PostgreSQL some 5 ms while all shards are written to.
    private static let lookPause: Int64 = 100
    private static let addressLifetime: Int64 = 30_000

    let name: WebhookName
    let ports: DeliveryPorts
    let reader: FeedReader
    let mailbox = Mailbox()
    var webhook: Webhook
    var outbox: Outbox
    var types: FeedTypes
    var replays: [ReplayID: ReplayRun] = [:]
    var place: WebhookPlace
    /// Messages of replays that are tried again later.
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
    var underWay = [false: 0, true: 0]
    private var wasReplay = false
    // What is known at the beginning is written and measured, too.
    private var isDirty = true
    private var obstacle: OutboundError?
    private var nextWrite: Int64 = 0
    private var nextPoll: Int64 = 0
    private var nextLook: Int64 = 0
    private var nextSecrets: Int64 = 0
    private var addressUntil: Int64 = 0
    private var nextUpkeep = monotonicMilliseconds() + Deliverer.upkeepPause
    /// When the next request may begin, and the next of a replay.
    private var slot = 0.0
    private var replaySlot = 0.0

    /// `nil` if there is nothing to send, or not yet. `current` is the endpoint as it is now.
    package init?(
        _ name: WebhookName, _ ports: DeliveryPorts, _ bell: WebhookBell, under lease: Lease,
        current: @escaping @Sendable () -> Webhook?
    ) throws(Fault) {
        guard let webhook = current() else { return nil }
        var standing: WebhookStanding?
        // Its event is recorded a moment before its secrets and its place are stored.
        for _ in 0..<30 where standing == nil {
            standing = try ports.store.webhookStandings(of: name.project, name.id)[name.id]
            if standing == nil { Threading.pause(milliseconds: 100) }
        }
        guard let standing else {
            throw .broken(
                "the webhook \(name.id) was made by halves; complete it with: "
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
            as: { Fault.broken("a webhook wants \($0.name), which this release does not know") }
        ) { () throws(UnknownFeedType) in try FeedTypes(names) }
    }

    /// Sends until it is over, or the endpoint is no more.
    package func run(while goesOn: () -> Bool) throws(Fault) {
        bell.add(mailbox, in: name.project)
        defer {
            bell.remove(mailbox, in: name.project)
            ports.measures.note(name, nil)
        }
        var letters: [Mailbox.Letter] = []
        while goesOn(), try refresh() {
            for letter in letters { settle(letter) }
            if isStanding {
                try write(within: 0)
                (letters, _) = mailbox.take(within: 500)
                continue
            }
            try readPages()
            try loadLater()
            try pollReplays()
            try readReplays()
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
    }

    /// Waits a little for what is under way: what is not known to have arrived is sent again.
    private func end(_ letters: [Mailbox.Letter]) throws(Fault) {
        for letter in letters { settle(letter) }
        let deadline = monotonicMilliseconds() + 2000
        while underWay.values.reduce(0, +) > 0, monotonicMilliseconds() < deadline {
            for letter in mailbox.take(within: 100).letters { settle(letter) }
        }
        try write(within: -Int64.max)
    }

    /// Whether nothing is sent before an admin resumes it.
    private var isStanding: Bool { place.goneAt != nil || place.parkedAt != nil }

    /// Takes in what an admin changed; false if the endpoint is no more.
    private func refresh() throws(Fault) -> Bool {
        guard let current = current() else { return false }
        let now = monotonicMilliseconds()
        if current != webhook {
            if current.types != webhook.types { types = try Deliverer.types(current.types) }
            if current.url != webhook.url { addressUntil = 0 }
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
            do throws(CommandError) {
                secrets = try ports.vault.secrets(of: name) ?? secrets
            } catch {
                switch error {
                case .fault(let fault): throw fault
                case .refused(let refusal): throw .broken(refusal.sentence)
                }
            }
            // Nothing is ever sent unsigned.
            if secrets.keys.isEmpty {
                throw .broken(
                    "the secrets of the webhook \(name.id) are missing; make new ones with: "
                        + "deed webhook rotate \(name.id)")
            }
            // They are stored after the event that tells of them.
            nextSecrets = now + (secrets.keys.first?.number == webhook.key ? 5000 : 500)
        }
        return true
    }

    private var mayReadPages: Bool {
        outbox.waiting.count < Deliverer.waitingLimit
            && outbox.count(ofReplays: false) < Deliverer.messageLimit
            && outbox.pages.count < Deliverer.openPageLimit
    }

    private var mayLoadLater: Bool {
        outbox.count(ofReplays: false) < 2 * Deliverer.messageLimit
    }

    /// Reads the feed as long as there is room for it.
    private func readPages() throws(Fault) {
        let now = monotonicMilliseconds()
        guard isMore || now >= nextPoll, now >= nextLook, mayReadPages else { return }
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
                throw .broken("the cursor of the webhook \(name.id) is of another database")
            }
        }
    }

    /// Reads again what customers wait for whose time has come.
    private func loadLater() throws(Fault) {
        let now = ports.machineClock()
        guard mayLoadLater else { return }
        let due = outbox.due(at: now, limit: Deliverer.laterCustomers)
        // Of one whose message has not arrived yet, the one is enough.
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
        let limit = Int(webhook.concurrency)
        // Half of the places and of the rate, so that new messages have at least the other half.
        while underWay[true, default: 0] < max(1, limit / 2),
            limit > 1 || !wasReplay || !outbox.hasNext(ofReplays: false),
            takeSlot(ofReplays: true, limit)
        {}
        while takeSlot(ofReplays: false, limit) {}
    }

    /// Sends one message; false if none may be sent now.
    private func takeSlot(ofReplays: Bool, _ limit: Int) -> Bool {
        guard underWay.values.reduce(0, +) < limit, outbox.hasNext(ofReplays: ofReplays) else {
            return false
        }
        let now = Double(monotonicMilliseconds())
        if webhook.rate != nil, max(slot, ofReplays ? replaySlot : 0) > now { return false }
        guard let next = outbox.next(ofReplays: ofReplays) else { return false }
        if let rate = webhook.rate {
            let pause = 1000 / Double(rate)
            // What was not used for a moment may be made up for.
            slot = max(slot, now - 100) + pause
            if ofReplays { replaySlot = max(replaySlot, now - 100) + 2 * pause }
        }
        underWay[ofReplays, default: 0] += 1
        wasReplay = ofReplays
        begin(next.line, next.entry)
        return true
    }

    private func begin(_ line: Line, _ entry: Entry) {
        let now = ports.machineClock()
        let started = monotonicMilliseconds()
        if started >= addressUntil {
            obstacle = ports.gate.obstacle(to: webhook.url)
            addressUntil = started + (obstacle == nil ? Deliverer.addressLifetime : 5000)
        }
        var request = ports.form.request(
            entry.message, to: webhook, of: name.project, secrets, at: now)
        if let replay = line.replay { request.headers.append(("deed-replay", replay.text)) }
        let attempt = outbox.attempts(of: line, entry) + 1
        let respond = { @Sendable [mailbox] (answer: SafeGate.Answer) in
            mailbox.put(
                Mailbox.Letter(
                    line: line, entry: entry, attempt: attempt, at: now,
                    milliseconds: monotonicMilliseconds() - started, answer: answer))
        }
        if let obstacle {
            respond(.failure(obstacle))
        } else {
            ports.gate.send(request, respond: respond)
        }
    }

    /// How long the thread may rest.
    private var pause: Int64 {
        var pause: Int64 = 500
        let now = ports.machineClock().milliseconds
        if isDirty { pause = min(pause, max(1, nextWrite - monotonicMilliseconds())) }
        if isMore, mayReadPages {
            pause = min(pause, max(0, nextLook - monotonicMilliseconds()))
        }
        if mayLoadLater, let due = outbox.nextDue {
            pause = min(pause, max(5, due.milliseconds - now))
        }
        if outbox.hasNext(ofReplays: false) || outbox.hasNext(ofReplays: true),
            webhook.rate != nil, underWay.values.reduce(0, +) < webhook.concurrency
        {
            let next = outbox.hasNext(ofReplays: false) ? slot : max(slot, replaySlot)
            let rest = place.restsUntil.map { $0.milliseconds - now } ?? 0
            pause = min(pause, max(1, Int64(next) - monotonicMilliseconds(), rest))
        }
        return pause
    }

    // MARK: Progress

    /// Writes what has changed, if the last time is long enough ago.
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
        progress.attemptsSince = ports.machineClock()
            .advanced(byMilliseconds: -WebhookAttempt.lifetime)
        progress.replays = takeReplayProgress()
        if try !ports.store.keep(progress, under: lease) { throw .leaseLost }
        attempts = []
        isDirty = false
        let standing = DeliveryMeasures.Standing(
            lag: lag, oldestAt: place.oldestAt,
            parked: Int64(outbox.parked) + (isStanding ? 1 : 0))
        ports.measures.note(name, standing)
    }

    func noteProgress() { isDirty = true }
}
