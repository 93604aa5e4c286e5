import Core
import Feed

/// One customer's messages, new ones or those of a replay: one is under way at a time.
struct Line: Hashable, Sendable {
    let customer: CustomerID
    let replay: ReplayID?
}

/// A message on its way, and what it belongs to.
struct Entry: Sendable {
    enum Origin: Hashable, Sendable {
        /// A page of the feed, by its number.
        case page(Int)
        /// What a waiting customer has to catch up with.
        case later
    }
    let message: WebhookMessage
    let origin: Origin
    /// Whether what the event changed cannot be told now, so that its customer has to wait.
    var isUnreadable = false
    /// Tries of a replay's message.
    var tries: Int64 = 0
}

/// A page of the feed of which something is under way.
struct OpenPage: Sendable {
    let number: Int
    var cursor: FeedCursor
    let replay: ReplayID?
    /// How many messages have not come to their end.
    var left: Int
    let oldestAt: Instant?
}

/// Which messages of an endpoint may be sent now, who waits, and how far the feed is done with.
///
/// Of a customer who waits it keeps a place in the log and no message: what follows is read again when its time has
/// come.
struct Outbox: Sendable {
    struct Waiting: Sendable {
        var row: WaitingCustomer
        /// The last event of the customer that the pages have left out, by its position.
        var skipped: Int64
        /// Whether messages of it are in memory.
        var isLoaded = false
        /// Whether more follows than was loaded.
        var isMore = false
    }
    private(set) var waiting: [CustomerID: Waiting] = [:]
    private(set) var pages: [OpenPage] = []
    private var lines: [Line: ArraySlice<Entry>] = [:]
    private var ready: [Bool: ArraySlice<Line>] = [:]
    private var number = 0
    /// The messages in memory that belong to no replay, and to one.
    private(set) var counts: [Bool: Int] = [:]
    /// What has to be written.
    private(set) var changed: Set<CustomerID> = []
    private(set) var served: Set<CustomerID> = []
    /// Customers who wait because an event cannot be read, with the attempts so far, this one included.
    private var unreadable: [CustomerID: Int64] = [:]

    init(_ waiting: [WaitingCustomer] = []) {
        for row in waiting { self.waiting[row.customer] = Waiting(row: row, skipped: .max) }
    }

    func count(ofReplays: Bool) -> Int { counts[ofReplays] ?? 0 }

    /// Takes a page in. Events of customers who wait are left to these.
    mutating func take(
        _ items: [FeedItem], through cursor: FeedCursor, _ types: FeedTypes,
        replay: ReplayID? = nil
    ) {
        number += 1
        var left = 0
        for item in items {
            let customer = item.stream.customer
            let messages = item.messages(types)
            if messages?.isEmpty == true { continue }
            if replay == nil, waiting[customer] != nil {
                waiting[customer]?.skipped = item.position.sequence
                continue
            }
            var entries = (messages ?? []).map { Entry(message: $0, origin: .page(number)) }
            if messages == nil {
                // In its turn: what comes before it may still arrive.
                if replay != nil { continue }
                entries.append(
                    Entry(
                        message: WebhookMessage(item), origin: .page(number), isUnreadable: true))
            }
            append(entries, to: Line(customer: customer, replay: replay))
            left += entries.count
        }
        pages.append(
            OpenPage(
                number: number, cursor: cursor, replay: replay, left: left,
                oldestAt: items.lazy.map(\.record.recordedAt).min()))
        joinIfDone(pages.count - 1)
    }

    /// Takes in what a waiting customer has to catch up with.
    mutating func load(_ items: [FeedItem], of customer: CustomerID, _ types: FeedTypes) {
        guard let known = waiting[customer] else { return }
        var entries: [Entry] = []
        var last: FeedItem?
        for item in items {
            guard let messages = item.messages(types) else {
                if entries.isEmpty {
                    let attempts = known.row.attempts + 1
                    wait(for: WebhookMessage(item), attempts: attempts, until: nil)
                    unreadable[customer] = attempts
                    return
                }
                break
            }
            last = item
            for message in messages
            where item.version > known.row.version || message.part >= known.row.part {
                entries.append(Entry(message: message, origin: .later))
            }
        }
        // Only a look that finds nothing says that nothing follows.
        waiting[customer]?.isMore = !items.isEmpty
        if entries.isEmpty {
            if let last { advance(customer, behind: last, part: .max) }
            settle(customer, through: last?.position.sequence ?? .max)
        } else {
            waiting[customer]?.isLoaded = true
            append(entries, to: Line(customer: customer, replay: nil))
        }
    }

    private mutating func append(_ entries: [Entry], to line: Line) {
        if entries.isEmpty { return }
        let isReplay = line.replay != nil
        if lines[line] == nil { ready[isReplay, default: []].append(line) }
        lines[line, default: []] += entries
        counts[isReplay, default: 0] += entries.count
    }

    /// The next message that may be sent. Its customer's next one may be when this one has come to its end.
    mutating func next(ofReplays: Bool) -> (line: Line, entry: Entry)? {
        while let line = ready[ofReplays]?.popFirst(), let entry = lines[line]?.first {
            if !entry.isUnreadable { return (line, entry) }
            let attempts = attempts(of: line, entry) + 1
            hold(line, attempts: attempts, until: nil)
            unreadable[line.customer] = attempts
        }
        return nil
    }

    /// Customers who have begun to wait because an event cannot be read, once.
    mutating func takeUnreadable() -> [CustomerID: Int64] {
        defer { unreadable = [:] }
        return unreadable
    }

    /// Sets when a customer's turn comes; `nil`: not before an admin resumes it.
    mutating func postpone(_ customer: CustomerID, attempts: Int64, until due: Instant?) {
        guard waiting[customer] != nil else { return }
        waiting[customer]?.row.attempts = attempts
        waiting[customer]?.row.dueAt = due
        note(customer)
    }

    /// Whether a message may be sent.
    func hasNext(ofReplays: Bool) -> Bool { ready[ofReplays]?.isEmpty == false }

    /// How often a message of the line was tried before.
    func attempts(of line: Line, _ entry: Entry) -> Int64 {
        line.replay != nil ? entry.tries : waiting[line.customer]?.row.attempts ?? 0
    }

    /// The message of the line that is under way has arrived, or is given up.
    mutating func pass(_ line: Line) {
        guard let entry = drop(line) else { return }
        if lines[line] != nil { ready[line.replay != nil, default: []].append(line) }
        switch entry.origin {
        case .page(let number): close(number, 1)
        case .later:
            advance(line.customer, behind: entry.message.item, part: entry.message.part + 1)
            if lines[line] == nil {
                waiting[line.customer]?.isLoaded = false
                settle(line.customer, through: entry.message.item.position.sequence)
            }
        }
    }

    /// The message of the line that is under way did not arrive: the customer waits, and none of its messages is
    /// kept.
    mutating func hold(_ line: Line, attempts: Int64, until due: Instant?) {
        guard let first = lines[line]?.first else { return }
        wait(for: first.message, attempts: attempts, until: due)
        while let entry = drop(line) {
            let customer = line.customer
            if case .page(let number) = entry.origin {
                close(number, 1)
                let seen = max(
                    waiting[customer]?.skipped ?? 0, entry.message.item.position.sequence)
                waiting[customer]?.skipped = seen
            }
        }
    }

    /// Has a replay's message tried once more.
    mutating func retry(_ line: Line) {
        guard var rest = lines[line], var entry = rest.popFirst() else { return }
        entry.tries += 1
        lines[line] = [entry] + rest
        ready[true, default: []].append(line)
    }

    private mutating func drop(_ line: Line) -> Entry? {
        guard let entry = lines[line]?.popFirst() else { return nil }
        counts[line.replay != nil, default: 0] -= 1
        if lines[line]?.isEmpty == true { lines[line] = nil }
        return entry
    }

    private mutating func close(_ number: Int, _ count: Int) {
        guard let place = pages.firstIndex(where: { $0.number == number }) else { return }
        pages[place].left -= count
        joinIfDone(place)
    }

    /// A page that is done ends with the one before it. So an idle project, or one message that hangs, leaves places
    /// for new pages.
    private mutating func joinIfDone(_ place: Int) {
        let page = pages[place]
        guard page.left == 0,
            let before = pages[..<place].lastIndex(where: { $0.replay == page.replay })
        else { return }
        pages[before].cursor = page.cursor
        pages.remove(at: place)
    }

    private mutating func wait(for message: WebhookMessage, attempts: Int64, until due: Instant?) {
        let item = message.item
        let row = WaitingCustomer(
            item.stream.customer, at: item.position, version: item.version, part: message.part,
            attempts: attempts, dueAt: due, recordedAt: item.record.recordedAt)
        let skipped = waiting[row.customer]?.skipped ?? item.position.sequence
        waiting[row.customer] = Waiting(row: row, skipped: skipped)
        note(row.customer)
    }

    private mutating func note(_ customer: CustomerID) {
        changed.insert(customer)
        served.remove(customer)
    }

    private mutating func advance(_ customer: CustomerID, behind item: FeedItem, part: Int16) {
        if waiting[customer] == nil { return }
        waiting[customer]?.row.position = item.position
        waiting[customer]?.row.version = item.version
        waiting[customer]?.row.part = part
        waiting[customer]?.row.attempts = 0
        waiting[customer]?.row.recordedAt = item.record.recordedAt
        note(customer)
    }

    /// A customer with nothing left in memory waits no more, or goes on at once.
    private mutating func settle(_ customer: CustomerID, through sequence: Int64) {
        guard let known = waiting[customer] else { return }
        // Where it is not known what the pages left out, the log has said that nothing follows.
        let isBehind = known.skipped != .max && known.skipped > sequence
        if known.isMore || isBehind {
            // At once, by whatever clock.
            waiting[customer]?.row.dueAt = Instant(milliseconds: 0)
            return
        }
        waiting[customer] = nil
        changed.remove(customer)
        served.insert(customer)
    }

    /// The waiting customers whose time has come and of whom nothing is in memory, those first who wait longest.
    func due(at now: Instant, limit: Int) -> [WaitingCustomer] {
        let due = waiting.values.filter { !$0.isLoaded && $0.row.dueAt.map { $0 <= now } ?? false }
        if due.count <= limit { return due.map(\.row) }
        return due.map(\.row).sorted { ($0.dueAt ?? now) < ($1.dueAt ?? now) }.prefix(limit).map(
            \.self)
    }

    /// When the next one's time comes.
    var nextDue: Instant? {
        waiting.values.lazy.filter { !$0.isLoaded }.compactMap(\.row.dueAt).min()
    }

    /// Sends what everyone waits for anew.
    mutating func resume(at now: Instant) {
        for customer in waiting.keys {
            waiting[customer]?.row.attempts = 0
            if waiting[customer]?.isLoaded == false { waiting[customer]?.row.dueAt = now }
            note(customer)
        }
    }

    /// Forgets customers who wait for events that the log has lost: the pages find what came instead.
    mutating func forgetWaiting(beyond place: [Int64]) {
        for (customer, known) in waiting
        where known.row.position.sequence > place[Int(known.row.position.shard.number)] {
            waiting[customer] = nil
            changed.remove(customer)
            served.insert(customer)
        }
    }

    /// Takes the pages off of which nothing is under way, as far as none before them is; returns the last one.
    mutating func finishPages(of replay: ReplayID?) -> OpenPage? {
        var last: OpenPage?
        while let place = pages.firstIndex(where: { $0.replay == replay }), pages[place].left == 0 {
            last = pages.remove(at: place)
        }
        return last
    }

    /// The changes to waiting customers that are not written yet; each is given once.
    mutating func takeChanges() -> (waiting: [WaitingCustomer], served: [CustomerID]) {
        defer { (changed, served) = ([], []) }
        return (changed.compactMap { waiting[$0]?.row }, Array(served))
    }

    /// When the oldest event was recorded that has not arrived.
    var oldestAt: Instant? {
        let inPages = pages.lazy.filter { $0.replay == nil && $0.left > 0 }.compactMap(\.oldestAt)
        return [inPages.min(), waiting.values.lazy.map(\.row.recordedAt).min()]
            .compactMap(\.self).min()
    }

    var parked: Int { waiting.values.count { $0.row.dueAt == nil } }
}
