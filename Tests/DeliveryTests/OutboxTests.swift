import Core
import Testing

@testable import Delivery
@testable import Feed

@Suite("Which messages may be sent, and who waits")
struct OutboxTests {
    private let types: FeedTypes
    private let project: ProjectID
    private let now = Instant(milliseconds: 1_000_000)

    init() throws {
        types = try FeedTypes(["grant.given"])
        project = try ProjectID("default")
    }

    private func item(
        _ customer: String, _ version: Int64, _ sequence: Int64, isUnknown: Bool = false
    ) throws -> FeedItem {
        let stream = Stream(
            project: project, environment: .production, customer: try CustomerID(customer))
        let record = EventRecord(
            occurredAt: now, recordedAt: now, actor: try Actor("a"), cause: "c", catalogVersion: 0)
        return FeedItem(
            stream: stream, position: Position(shard: Shard(number: 3), sequence: sequence),
            version: version, type: "grant.given", record: record, payload: "{}", mark: "00",
            access: [], isAccessUnknown: isUnknown)
    }

    /// Returns the next message, which must exist.
    private func next(of outbox: inout Outbox) throws -> (line: Line, entry: Entry) {
        let found = outbox.next(ofReplays: false)
        return try #require(found)
    }

    private func cursor(_ sequence: Int64) -> FeedCursor {
        FeedCursor(
            [Int64](repeating: sequence, count: Shard.count), marks: PlaceMarks(hash: 1), turn: 0,
            givenAt: now, origin: now, losses: AcceptedLosses([]))
    }

    private func taken(_ items: [FeedItem], into outbox: inout Outbox, through sequence: Int64) {
        outbox.take(items, through: cursor(sequence), types)
    }

    @Test("A customer's next message is not sent before the one before it has arrived")
    func order() throws {
        var outbox = Outbox()
        taken(
            [try item("u", 1, 1), try item("u", 2, 2), try item("v", 1, 3)], into: &outbox,
            through: 3)
        let first = try next(of: &outbox)
        let second = try next(of: &outbox)
        #expect(first.entry.message.item.version == 1)
        #expect(second.line.customer.text == "v")
        #expect(!outbox.hasNext(ofReplays: false))
        outbox.pass(first.line)
        let third = try next(of: &outbox)
        #expect(third.entry.message.item.version == 2)
        let early = outbox.finishPages(of: nil)
        #expect(early?.number == nil)
        outbox.pass(first.line)
        outbox.pass(second.line)
        let finished = outbox.finishPages(of: nil)
        #expect(finished?.cursor.place[0] == 3)
    }

    @Test("Pages without messages take no room, however long an idle project is asked")
    func idle() throws {
        var outbox = Outbox()
        for sequence in 1...1000 { taken([], into: &outbox, through: Int64(sequence)) }
        #expect(outbox.pages.count == 1)
        taken([try item("u", 1, 1001)], into: &outbox, through: 1001)
        for _ in 1...1000 { taken([], into: &outbox, through: 2000) }
        #expect(outbox.pages.count == 2)
        let before = outbox.finishPages(of: nil)
        #expect(before?.cursor.place[0] == 1000)
        outbox.pass(try next(of: &outbox).line)
        let after = outbox.finishPages(of: nil)
        #expect(after?.cursor.place[0] == 2000)
    }

    @Test("Pages that are done take no room behind one that is not")
    func hanging() throws {
        var outbox = Outbox()
        taken([try item("hangs", 1, 1)], into: &outbox, through: 1)
        let hanging = try next(of: &outbox)
        for sequence in Int64(2)...100 {
            taken([try item("u\(sequence)", 1, sequence)], into: &outbox, through: sequence)
            outbox.pass(try next(of: &outbox).line)
        }
        #expect(outbox.pages.count == 1)
        let early = outbox.finishPages(of: nil)
        #expect(early?.number == nil)
        outbox.pass(hanging.line)
        let finished = outbox.finishPages(of: nil)
        #expect(finished?.cursor.place[0] == 100)
    }

    @Test("Who waits keeps no message, does not hold the page up, and goes on where it stood")
    func waiting() throws {
        var outbox = Outbox()
        taken(
            [try item("u", 1, 1), try item("u", 2, 2), try item("v", 1, 3)], into: &outbox,
            through: 3)
        let failed = try next(of: &outbox)
        outbox.hold(failed.line, attempts: 1, until: now.advanced(byMilliseconds: 5000))
        let other = try next(of: &outbox)
        outbox.pass(other.line)
        #expect(outbox.count(ofReplays: false) == 0)
        let finished = outbox.finishPages(of: nil)
        #expect(finished?.number != nil)
        let changes = outbox.takeChanges()
        let row = try #require(changes.waiting.first)
        #expect((row.customer.text, row.version, row.part, row.attempts) == ("u", 1, 0, 1))
        // A later page does not add to a customer who is already waiting.
        taken([try item("u", 3, 4)], into: &outbox, through: 4)
        #expect(!outbox.hasNext(ofReplays: false))
        #expect(outbox.due(at: now, limit: 9).isEmpty)
        let later = now.advanced(byMilliseconds: 5000)
        #expect(outbox.due(at: later, limit: 9).count == 1)
        outbox.load([try item("u", 1, 1)], of: row.customer, types)
        let passed = try next(of: &outbox).line
        outbox.pass(passed)
        #expect(outbox.due(at: now, limit: 9).first?.attempts == 0)
        outbox.load(
            [try item("u", 1, 1), try item("u", 2, 2), try item("u", 3, 4)], of: row.customer,
            types)
        for version in [Int64(2), 3] {
            let found = try next(of: &outbox)
            #expect(found.entry.message.item.version == version)
            outbox.pass(found.line)
        }
        // The customer stops waiting only when a search finds no more events.
        #expect(outbox.due(at: now, limit: 9).count == 1)
        outbox.load([], of: row.customer, types)
        #expect(outbox.waiting.isEmpty)
        let end = outbox.takeChanges()
        #expect(end.served.map(\.text) == ["u"])
    }

    @Test("With 1,000 customers waiting no page is read, until fewer wait")
    func full() throws {
        func row(_ number: Int64) throws -> WaitingCustomer {
            WaitingCustomer(
                try CustomerID("u\(number)"),
                at: Position(shard: Shard(number: 3), sequence: number),
                version: 1, part: 0, attempts: 1, dueAt: nil, recordedAt: now)
        }
        var outbox = Outbox(try (1...999).map(row))
        #expect(outbox.hasRoom)
        taken([try item("last", 1, 1000)], into: &outbox, through: 1000)
        outbox.hold(try next(of: &outbox).line, attempts: 1, until: nil)
        #expect(outbox.waiting.count == 1000 && !outbox.hasRoom)
        let customer = try CustomerID("u1")
        outbox.resume(at: now)
        outbox.load([try item("u1", 1, 1)], of: customer, types)
        outbox.pass(try next(of: &outbox).line)
        outbox.load([], of: customer, types)
        #expect(outbox.waiting.count == 999 && outbox.hasRoom)
    }

    @Test("However many pages a replay has open, new messages have room, and the other way round")
    func sparseReplay() throws {
        let replay: ReplayID = Identifier(prefix: "rp_", random: "1")
        var outbox = Outbox()
        for sequence in Int64(1)...64 {
            #expect(outbox.hasRoomForReplays)
            outbox.take(
                [try item("u\(sequence)", 1, sequence)], through: cursor(sequence), types,
                replay: replay)
        }
        #expect(outbox.pages.count == 64)
        #expect(outbox.hasRoom && !outbox.hasRoomForReplays)
        for sequence in Int64(65)...128 {
            #expect(outbox.hasRoom)
            taken([try item("u\(sequence)", 1, sequence)], into: &outbox, through: sequence)
        }
        #expect(!outbox.hasRoom)
        let first = outbox.next(ofReplays: true)
        outbox.pass(try #require(first).line)
        let finished = outbox.finishPages(of: replay)
        #expect(finished?.cursor.place[0] == 1)
        #expect(!outbox.hasRoom && outbox.hasRoomForReplays)
    }

    @Test("Nothing is skipped that came while a customer caught up")
    func meanwhile() throws {
        var outbox = Outbox([
            WaitingCustomer(
                try CustomerID("u"), at: Position(shard: Shard(number: 3), sequence: 1), version: 1,
                part: 0, attempts: 3, dueAt: now, recordedAt: now)
        ])
        outbox.load([try item("u", 1, 1)], of: try CustomerID("u"), types)
        taken([try item("u", 2, 7)], into: &outbox, through: 7)
        let passed = try next(of: &outbox).line
        outbox.pass(passed)
        #expect(outbox.due(at: now, limit: 9).count == 1)
        outbox.load(
            [try item("u", 1, 1), try item("u", 2, 7)], of: try CustomerID("u"), types)
        let found = try next(of: &outbox)
        #expect(found.entry.message.item.version == 2)
        outbox.pass(found.line)
        outbox.load([], of: try CustomerID("u"), types)
        #expect(outbox.waiting.isEmpty)
    }

    @Test("Before an event that cannot be read, everything earlier arrives or waits")
    func unreadable() throws {
        let types = try FeedTypes(["grant.given", "entitlement.*"])
        let items = [
            try item("u", 1, 1), try item("u", 2, 2, isUnknown: true), try item("u", 3, 3),
        ]
        var outbox = Outbox()
        outbox.take(items, through: cursor(3), types)
        // If the process died now, during the first message, nothing on the page would count as sent.
        let first = try next(of: &outbox)
        #expect(first.entry.message.item.version == 1)
        let rows = outbox.takeChanges().waiting
        #expect(rows.isEmpty && outbox.finishPages(of: nil)?.number == nil)
        outbox.pass(first.line)
        #expect(outbox.next(ofReplays: false)?.line == nil)
        let customer = try CustomerID("u")
        #expect(outbox.takeUnreadable() == [customer: 1])
        outbox.postpone(customer, attempts: 1, until: now)
        #expect(outbox.finishPages(of: nil)?.number != nil)
        let row = try #require(outbox.takeChanges().waiting.first)
        #expect((row.version, row.attempts, row.dueAt) == (2, 1, now))

        // After a restart, the sender finds the event and all later ones again.
        var other = Outbox([row])
        other.load([items[1]], of: customer, types)
        #expect(other.takeUnreadable() == [customer: 2])
        other.postpone(customer, attempts: 2, until: now)
        let readable = try item("u", 2, 2)
        other.load([readable, try item("u", 3, 3, isUnknown: true)], of: customer, types)
        let second = try next(of: &other)
        #expect(second.entry.message.item.version == 2)
        other.pass(second.line)
        #expect(other.due(at: now, limit: 9).first?.version == 2)
        other.load([try item("u", 3, 3)], of: customer, types)
        let third = try next(of: &other)
        #expect(third.entry.message.item.version == 3)
    }

    @Test("The pauses are those of the plan, a tenth more or less, and end")
    func plan() throws {
        let plan = try #require(RetryPlan("5,30"))
        #expect((4500...5500).contains(try #require(plan.pause(after: 1))))
        #expect(plan.pause(after: 2, chance: 0.1) == 33_000)
        #expect(plan.pause(after: 3) == nil)
        #expect(RetryPlan.usual.whole == 272_135_000)
        for text in [
            "", "0", "5,", "a", "-1", "604801", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
        ] {
            #expect(RetryPlan(text) == nil, "\(text)")
        }
    }
}
