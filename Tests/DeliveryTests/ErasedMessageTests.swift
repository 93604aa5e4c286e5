import Testing

@testable import Core
@testable import Delivery
@testable import Feed

@Suite("Messages of customers who are erased before the messages are sent")
struct ErasedMessageTests {
    private let types: FeedTypes
    private let project: ProjectID
    private let customer: CustomerID
    private let replay: ReplayID = Identifier(prefix: "rp_", random: "1")
    private let now = Instant(milliseconds: 1_000_000)

    init() throws {
        types = try FeedTypes(["grant.given", "customer.erased", "entitlement.*"])
        project = try ProjectID("default")
        customer = try CustomerID("u")
    }

    /// Returns an event, with a change of access if it ends one.
    private func item(
        _ version: Int64, type: String = "grant.given", ends: String? = nil
    ) throws -> FeedItem {
        let record = EventRecord(
            occurredAt: now, recordedAt: now, actor: try Actor("a"), cause: "c", catalogVersion: 0)
        var access: [AnswerChange] = []
        if let ends {
            access = AnswerChange.all(
                by: CustomerErased(
                    reason: try Reason("r"), ticket: nil, ended: [try EntitlementID(ends)]))
        }
        return FeedItem(
            stream: Stream(project: project, environment: .production, customer: customer),
            position: Position(shard: Shard(number: 3), sequence: version), version: version,
            type: type, record: record, payload: "{}", mark: "00", access: access,
            isAccessUnknown: false)
    }

    private func cursor(_ sequence: Int64) -> FeedCursor {
        FeedCursor(
            [Int64](repeating: sequence, count: Shard.count), marks: PlaceMarks(hash: 1), turn: 0,
            givenAt: now, origin: now, losses: AcceptedLosses([]))
    }

    /// Returns the next message, which must exist.
    private func next(
        of outbox: inout Outbox, ofReplays: Bool = false
    ) throws -> (line: Line, entry: Entry) {
        let found = outbox.next(ofReplays: ofReplays)
        return try #require(found)
    }

    /// Sends everything, and returns the version, the part and the payload of each message.
    private func sent(by outbox: inout Outbox, ofReplays: Bool = false) -> [String] {
        var sent: [String] = []
        while let (line, entry) = outbox.next(ofReplays: ofReplays) {
            let item = entry.message.item
            sent.append("\(item.version)-\(entry.message.part) \(item.payload)")
            outbox.pass(line)
        }
        return sent
    }

    @Test(
        "Messages in memory lose the contents and changes that an erasure removes, and no others",
        arguments: [false, true])
    func inMemory(_ isReplay: Bool) throws {
        let items = [
            try item(1), try item(2, ends: "pro"), try item(3, type: "customer.erased"),
            try item(4, ends: "pro"), try item(5, type: "customer.erased", ends: "pro"),
            try item(6),
        ]
        var outbox = Outbox()
        outbox.take(items, through: cursor(6), types, replay: isReplay ? replay : nil)
        #expect(outbox.count(ofReplays: isReplay) == 9)
        outbox.empty(customer, before: 5)
        #expect(outbox.count(ofReplays: isReplay) == 7)
        let sent = sent(by: &outbox, ofReplays: isReplay)
        #expect(sent == ["1-0 ", "2-0 ", "3-0 {}", "4-0 ", "5-0 {}", "5-1 {}", "6-0 {}"])
        let finished = outbox.finishPages(of: isReplay ? replay : nil)
        #expect(finished?.cursor.place[0] == 6)
    }

    @Test("What is read before the log is emptied loses its content, too")
    func readLater() throws {
        var outbox = Outbox()
        outbox.empty(customer, before: 2)
        outbox.take([try item(1), try item(2, type: "customer.erased")], through: cursor(2), types)
        let new = sent(by: &outbox)
        #expect(new == ["1-0 ", "2-0 {}"])

        let row = WaitingCustomer(
            customer, at: Position(shard: Shard(number: 3), sequence: 1), version: 1, part: 0,
            attempts: 1, dueAt: now, recordedAt: now)
        var other = Outbox([row])
        other.empty(customer, before: 2)
        other.load([try item(1, ends: "pro")], of: customer, types)
        let waited = sent(by: &other)
        #expect(waited == ["1-0 "])
        // Once the log is emptied, the outbox need not know of the erasure.
        other.erased = [:]
        other.load([try item(3)], of: customer, types)
        let later = sent(by: &other)
        #expect(later == ["3-0 {}"])
    }

    @Test("A message under way stays the first of its line, and counts as outdated")
    func underWay() throws {
        var outbox = Outbox()
        outbox.take(
            [try item(1, type: "catalog.changed", ends: "pro"), try item(2), try item(3)],
            through: cursor(3), types)
        let first = try next(of: &outbox)
        #expect(first.entry.message.part == 1 && !outbox.isOutdated(first.line))
        outbox.empty(customer, before: 3)
        #expect(outbox.isOutdated(first.line) && !outbox.hasNext(ofReplays: false))
        outbox.pass(first.line)
        #expect(!outbox.isOutdated(first.line))
        let rest = sent(by: &outbox)
        #expect(rest == ["2-0 ", "3-0 {}"])
    }

    @Test("If a message under way fails, what is sent next has no content")
    func failed() throws {
        var outbox = Outbox()
        outbox.take([try item(1), try item(2)], through: cursor(2), types, replay: replay)
        let first = try next(of: &outbox, ofReplays: true)
        outbox.empty(customer, before: 9)
        #expect(outbox.isOutdated(first.line))
        outbox.retry(first.line)
        #expect(!outbox.isOutdated(first.line))
        let replayed = sent(by: &outbox, ofReplays: true)
        #expect(replayed == ["1-0 ", "2-0 "])

        outbox.take([try item(1)], through: cursor(1), types)
        let line = try next(of: &outbox).line
        outbox.hold(line, attempts: 1, until: now)
        #expect(outbox.count(ofReplays: false) == 0)
        outbox.load([try item(1)], of: customer, types)
        let again = sent(by: &outbox)
        #expect(again == ["1-0 "])
    }

    @Test("Each sender of the project hears of an erasure once, also after taking letters")
    func news() throws {
        let bell = WebhookBell()
        let (own, other) = (Mailbox(), Mailbox())
        bell.add(own, in: project)
        bell.add(other, in: try ProjectID("other"))
        let stream = Stream(project: project, environment: .production, customer: customer)
        bell.tell([stream: 5])
        bell.tell([stream: 2])
        #expect(own.take(within: 0).isRung)
        #expect(other.takeNews().erased.isEmpty)
        let news = own.takeNews()
        #expect(news.erased == [stream: 5] && !news.isIncomplete)
        #expect(own.takeNews().erased.isEmpty)
        bell.cut()
        #expect(own.takeNews().isIncomplete && other.takeNews().isIncomplete)
        #expect(!own.takeNews().isIncomplete)
    }

    @Test("A customer who has nothing left to send goes on with what the log has")
    func nothingLeft() throws {
        let types = try FeedTypes(["entitlement.*"])
        let other = try CustomerID("v")
        let row = WaitingCustomer(
            customer, at: Position(shard: Shard(number: 3), sequence: 1), version: 1, part: 0,
            attempts: 0, dueAt: now, recordedAt: now)
        var outbox = Outbox([row])
        outbox.load([try item(1, ends: "pro")], of: customer, types)
        #expect(outbox.hasNext(ofReplays: false) && outbox.due(at: now, limit: 9).isEmpty)
        outbox.empty(other, before: 2)
        #expect(outbox.hasNext(ofReplays: false))
        outbox.empty(customer, before: 2)
        #expect(!outbox.hasNext(ofReplays: false) && outbox.count(ofReplays: false) == 0)
        #expect(outbox.due(at: now, limit: 9).count == 1)
    }
}
