import Core
import Feed

/// The messages of a webhook that may be sent now, the customers who wait, and the progress in the feed.
///
/// For a waiting customer, the outbox keeps a place in the log but no messages. Those messages are read again
/// later.
struct Outbox: Sendable {
    struct Waiting: Sendable {
        var row: WaitingCustomer
        /// The position of the customer's last event that was skipped in a page.
        var skipped: Int64
        /// Whether some of the customer's messages are in memory.
        var isLoaded = false
        /// Whether the customer may have more events than the loaded ones.
        var isMore = false
    }
    static let waitingLimit = 1000
    static let messageLimit = 500
    /// The maximum number of feed pages with unfinished messages: of pages of new messages, and of pages of replays.
    private static let openPageLimit = 64

    private(set) var waiting: [CustomerID: Waiting] = [:]
    private(set) var pages: [OpenPage] = []
    private var lines: [Line: ArraySlice<Entry>] = [:]
    private var ready: [Bool: ArraySlice<Line>] = [:]
    private var number = 0
    /// The numbers of replayed and of other messages in memory.
    private(set) var counts: [Bool: Int] = [:]
    /// The customers whose changes have not been stored yet.
    private(set) var changed: Set<CustomerID> = []
    private(set) var served: Set<CustomerID> = []
    /// Customers whose events may still have contents in the log that an erasure removes, with the erasure's version.
    var erased: [CustomerID: Int64] = [:]
    /// Customers who wait because an event cannot be read, with the number of attempts including the current one.
    private var unreadable: [CustomerID: Int64] = [:]

    init(_ waiting: [WaitingCustomer] = []) {
        for row in waiting { self.waiting[row.customer] = Waiting(row: row, skipped: .max) }
    }

    func count(ofReplays: Bool) -> Int { counts[ofReplays] ?? 0 }

    /// Whether another page of new messages may be read. While too many customers are waiting, the
    /// place in the feed does not advance.
    var hasRoom: Bool {
        waiting.count < Outbox.waitingLimit
            && count(ofReplays: false) < Outbox.messageLimit
            && pages.count { $0.replay == nil } < Outbox.openPageLimit
    }

    /// Whether another page of a replay may be read. The pages of replays are counted separately, because a replay of a
    /// rare type has many pages with few messages, and must not hold up new ones.
    var hasRoomForReplays: Bool {
        count(ofReplays: true) < ReplayRun.messageLimit
            && pages.count { $0.replay != nil } < Outbox.openPageLimit
    }

    /// Adds a page's messages. Skips events of waiting customers, which are read again later.
    mutating func take(
        _ items: [FeedItem], through cursor: FeedCursor, _ types: FeedTypes,
        replay: ReplayID? = nil
    ) {
        number += 1
        var left = 0
        for item in withoutErased(items) {
            let customer = item.stream.customer
            let messages = item.messages(types)
            if messages?.isEmpty == true { continue }
            if replay == nil, waiting[customer] != nil {
                waiting[customer]?.skipped = item.position.sequence
                continue
            }
            var entries = (messages ?? []).map { Entry(message: $0, origin: .page(number)) }
            if messages == nil {
                // The event's changes cannot be determined now. A replay leaves it out; a new event
                // waits, because the customer's earlier messages may still arrive.
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

    /// Adds a waiting customer's next messages.
    mutating func load(_ items: [FeedItem], of customer: CustomerID, _ types: FeedTypes) {
        guard let known = waiting[customer] else { return }
        var entries: [Entry] = []
        var last: FeedItem?
        for item in withoutErased(items) {
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
        // There may be more events until a read finds none.
        waiting[customer]?.isMore = !items.isEmpty
        if entries.isEmpty {
            if let last { advance(customer, behind: last, part: .max) }
            settle(customer, through: last?.position.sequence ?? .max)
        } else {
            waiting[customer]?.isLoaded = true
            append(entries, to: Line(customer: customer, replay: nil))
        }
    }

    private func withoutErased(_ items: [FeedItem]) -> [FeedItem] {
        if erased.isEmpty { return items }
        return items.map { item in
            let version = erased[item.stream.customer] ?? 0
            return item.isEmptied(byErasureAt: version) ? item.emptied : item
        }
    }

    private mutating func append(_ entries: [Entry], to line: Line) {
        if entries.isEmpty { return }
        let isReplay = line.replay != nil
        if lines[line] == nil { ready[isReplay, default: []].append(line) }
        lines[line, default: []] += entries
        counts[isReplay, default: 0] += entries.count
    }

    /// Returns the next message to send. The customer's next message becomes available once this
    /// one is done.
    mutating func next(ofReplays: Bool) -> (line: Line, entry: Entry)? {
        while let line = ready[ofReplays]?.popFirst(), let entry = lines[line]?.first {
            if !entry.isUnreadable { return (line, entry) }
            let attempts = attempts(of: line, entry) + 1
            hold(line, attempts: attempts, until: nil)
            unreadable[line.customer] = attempts
        }
        return nil
    }

    /// Returns the customers who have begun to wait for an unreadable event. Each is returned only once.
    mutating func takeUnreadable() -> [CustomerID: Int64] {
        defer { unreadable = [:] }
        return unreadable
    }

    /// Sets when a customer is due; `nil` if an admin has to resume the customer.
    mutating func postpone(_ customer: CustomerID, attempts: Int64, until due: Instant?) {
        guard waiting[customer] != nil else { return }
        waiting[customer]?.row.attempts = attempts
        waiting[customer]?.row.dueAt = due
        note(customer)
    }

    func hasNext(ofReplays: Bool) -> Bool { ready[ofReplays]?.isEmpty == false }

    /// Returns the number of earlier attempts to send the message.
    func attempts(of line: Line, _ entry: Entry) -> Int64 {
        line.replay != nil ? entry.tries : waiting[line.customer]?.row.attempts ?? 0
    }

    /// Removes the message that the line is sending, because it has arrived or was abandoned.
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

    /// Records that the line's message did not arrive. The customer has to wait, and the customer's messages leave
    /// memory.
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

    /// Removes from a customer's messages what an erasure at that version removes from the log, now and from messages
    /// that are taken later.
    mutating func empty(_ customer: CustomerID, before version: Int64) {
        erased[customer] = max(version, erased[customer] ?? 0)
        for (line, entries) in lines where line.customer == customer {
            let isReplay = line.replay != nil
            let isUnderWay = ready[isReplay]?.contains(line) != true
            var left: ArraySlice<Entry> = []
            for (place, var entry) in entries.enumerated() {
                if entry.message.item.isEmptied(byErasureAt: version) {
                    entry.isOutdated = isUnderWay && place == 0
                    if entry.message.part == 0 {
                        entry.message = WebhookMessage(entry.message.item.emptied)
                    } else if !entry.isOutdated {
                        // An event without content has no changes of access. The message under way ends first.
                        counts[isReplay, default: 0] -= 1
                        if case .page(let number) = entry.origin { close(number, 1) }
                        continue
                    }
                }
                left.append(entry)
            }
            lines[line] = left.isEmpty ? nil : left
            if !left.isEmpty { continue }
            ready[isReplay]?.removeAll { $0 == line }
            if isReplay { continue }
            waiting[customer]?.isLoaded = false
            settle(customer, through: 0)
        }
    }

    /// Returns whether the message that the line is sending has content that an erasure has removed meanwhile.
    func isOutdated(_ line: Line) -> Bool { lines[line]?.first?.isOutdated == true }

    /// Queues a replayed message for another try.
    mutating func retry(_ line: Line) {
        guard var rest = lines[line], var entry = rest.popFirst() else { return }
        entry.tries += 1
        entry.isOutdated = false
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

    /// Merges a finished page into the previous one. This makes room for new pages while a project is idle or a message
    /// hangs.
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

    /// Ends a customer's wait once none of the customer's messages are in memory, or lets the
    /// customer continue immediately.
    private mutating func settle(_ customer: CustomerID, through sequence: Int64) {
        guard let known = waiting[customer] else { return }
        // `.max` means that the skipped events are unknown. Only a read without results then ends the wait.
        let isBehind = known.skipped != .max && known.skipped > sequence
        if known.isMore || isBehind {
            // An instant in the past makes the customer due immediately.
            waiting[customer]?.row.dueAt = Instant(milliseconds: 0)
            return
        }
        waiting[customer] = nil
        changed.remove(customer)
        served.insert(customer)
    }

    /// Returns the waiting customers who are due and have no messages in memory, longest wait first.
    func due(at now: Instant, limit: Int) -> [WaitingCustomer] {
        let due = waiting.values.filter { !$0.isLoaded && $0.row.dueAt.map { $0 <= now } ?? false }
        if due.count <= limit { return due.map(\.row) }
        return due.map(\.row).sorted { ($0.dueAt ?? now) < ($1.dueAt ?? now) }.prefix(limit).map(
            \.self)
    }

    var nextDue: Instant? {
        waiting.values.lazy.filter { !$0.isLoaded }.compactMap(\.row.dueAt).min()
    }

    /// Makes every waiting customer due immediately.
    mutating func resume(at now: Instant) {
        for customer in waiting.keys {
            waiting[customer]?.row.attempts = 0
            if waiting[customer]?.isLoaded == false { waiting[customer]?.row.dueAt = now }
            note(customer)
        }
    }

    /// Removes customers who wait for events that the log has lost. The next pages will contain the
    /// events that took their places.
    mutating func forgetWaiting(beyond place: [Int64]) {
        for (customer, known) in waiting
        where known.row.position.sequence > place[Int(known.row.position.shard.number)] {
            waiting[customer] = nil
            changed.remove(customer)
            served.insert(customer)
        }
    }

    /// Removes finished pages from the front. Returns the last one removed.
    mutating func finishPages(of replay: ReplayID?) -> OpenPage? {
        var last: OpenPage?
        while let place = pages.firstIndex(where: { $0.replay == replay }), pages[place].left == 0 {
            last = pages.remove(at: place)
        }
        return last
    }

    /// Returns the changes to waiting customers since the last call.
    mutating func takeChanges() -> (waiting: [WaitingCustomer], served: [CustomerID]) {
        defer { (changed, served) = ([], []) }
        return (changed.compactMap { waiting[$0]?.row }, Array(served))
    }

    /// When the oldest undelivered event was recorded.
    var oldestAt: Instant? {
        let inPages = pages.lazy.filter { $0.replay == nil && $0.left > 0 }.compactMap(\.oldestAt)
        return [inPages.min(), waiting.values.lazy.map(\.row.recordedAt).min()]
            .compactMap(\.self).min()
    }

    var parked: Int { waiting.values.count { $0.row.dueAt == nil } }
}
