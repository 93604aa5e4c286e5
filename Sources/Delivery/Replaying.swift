import Core
import Feed
import Threading

struct ReplayRun {
    /// The maximum number of attempts to send a replayed message. A few are enough, because the
    /// message has already arrived once or is also queued as a new message.
    static let tries: Int64 = 3
    static let retryPause: Int64 = 5000
    static let messageLimit = 200
    private static let pageLimit = 100

    var replay: WebhookReplay
    let types: FeedTypes?
    /// The last position in each shard that the replay includes.
    let ends: [Int64]
    var start: FeedQuestion.Start
    var isRead = false

    mutating func note(isSent: Bool) {
        if isSent { replay.sent += 1 } else { replay.failed += 1 }
    }

    func question(_ name: WebhookName, _ webhook: Webhook, _ usual: FeedTypes) -> FeedQuestion {
        var question = FeedQuestion(name.project, webhook.environment)
        question.start = start
        question.limit = ReplayRun.pageLimit
        question.types = types ?? usual
        if case .range(_, _, _, let customer) = replay.wanted { question.customer = customer }
        return question
    }

    func includes(_ item: FeedItem) -> Bool {
        item.position.sequence <= ends[Int(item.position.shard.number)]
    }
}

extension Deliverer {
    private static let replayPause: Int64 = 3000

    /// Checks for new replays.
    func pollReplays() throws(Fault) {
        let now = monotonicMilliseconds()
        for (line, at) in delayed where at <= now {
            delayed[line] = nil
            outbox.retry(line)
        }
        if now < nextReplays { return }
        nextReplays = now + Deliverer.replayPause
        for replay in try ports.store.replays(of: name) where replays[replay.id] == nil {
            replays[replay.id] = try run(of: replay)
        }
    }

    private func run(of replay: WebhookReplay) throws(Fault) -> ReplayRun {
        guard case .range(let since, let until, let types, _) = replay.wanted else {
            return ReplayRun(replay: replay, types: nil, ends: [], start: .end)
        }
        var start = FeedQuestion.Start.since(since)
        if let text = replay.cursor, let cursor = try? FeedCursor(text, of: name.project) {
            start = .cursor(cursor)
        }
        return ReplayRun(
            replay: replay,
            types: try types.map { names throws(Fault) in try Deliverer.types(names) },
            ends: try reader.places(before: until), start: start)
    }

    /// Reads events to send again, as long as there is room for them.
    func readReplays() throws(Fault) {
        for (id, run) in replays where !run.isRead && outbox.hasRoomForReplays {
            do throws(FeedError) {
                try read(run, id)
            } catch {
                switch error {
                case .fault(let fault): throw fault
                // Events before the cursor have already been sent.
                case .cursorLost(let restart): replays[id]?.start = .cursor(restart)
                case .cursorOfAnotherDatabase: replays[id]?.isRead = true
                }
            }
            noteProgress()
        }
    }

    private func read(_ run: ReplayRun, _ id: ReplayID) throws(FeedError) {
        if case .event(let event) = run.replay.wanted {
            if let item = try reader.item(event, of: name.project, webhook.environment) {
                var end = FeedQuestion(name.project, webhook.environment)
                end.start = .end
                let cursor = try reader.page(end).next
                outbox.take([item], through: cursor, types, replay: id)
            }
            replays[id]?.isRead = true
            return
        }
        let page = try ports.turnstile.passing { () throws(FeedError) in
            try reader.page(run.question(name, webhook, types))
        }
        outbox.take(
            page.items.filter(run.includes), through: page.next, run.types ?? types, replay: id)
        let isPast = zip(page.next.place, run.ends).allSatisfy { $0 >= $1 }
        replays[id]?.start = .cursor(page.next)
        replays[id]?.isRead = isPast || !page.isMore
    }

    /// Retries a replayed message a few times, then skips it so that the rest can be sent.
    func retryReplay(_ letter: Mailbox.Letter) {
        // An erasure has removed the change that the message is about.
        let isGone = letter.entry.message.part > 0 && outbox.isOutdated(letter.line)
        if letter.attempt < ReplayRun.tries, !isGone {
            delayed[letter.line] = monotonicMilliseconds() + ReplayRun.retryPause
            return
        }
        outbox.pass(letter.line)
        if let id = letter.line.replay { replays[id]?.note(isSent: false) }
    }

    func takeReplayProgress() -> [WebhookReplay] {
        var progress: [WebhookReplay] = []
        for (id, run) in replays {
            var replay = run.replay
            if let page = outbox.finishPages(of: id) {
                replay.cursor = page.cursor.text(for: name.project)
            }
            replay.isOver = run.isRead && !outbox.pages.contains { $0.replay == id }
            replays[id]?.replay = replay
            progress.append(replay)
            if replay.isOver { replays[id] = nil }
        }
        return progress
    }
}
