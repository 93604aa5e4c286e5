import Core
import Ledger
import Postgres
import Synchronization
import TestSupport
import Testing

@Suite("The queue of evidence")
struct IntakeQueueTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let project: ProjectID
    private let start = Instant(milliseconds: 1_795_202_460_000)
    private static let reason = IntakeReason(code: "later", sentence: "Not now.")
    private static let refusal = RefusedEvidence(
        code: reason.code, sentence: reason.sentence)

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
        project = try ProjectID("default")
    }

    @discardableResult
    private func add(_ number: Int, at seconds: Int64 = 0) throws -> IntakeItem {
        let item = try IntakeItem.test(number, at: time(seconds))
        return try #require(try ledger.addIntake(item, [UInt8(number & 255)]))
    }

    private func time(_ seconds: Int64) -> Instant {
        start.advanced(byMilliseconds: seconds * 1000)
    }

    /// Takes the next due item and reschedules it. Returns its id.
    private func tryNext(at seconds: Int64) throws -> String? {
        guard let taken = try ledger.takeIntake(now: time(seconds)) else { return nil }
        let item = taken.item.judged(.tryAgain(Self.reason), now: time(seconds), jitter: 0)
        #expect(try ledger.changeIntake(item))
        return item.id.text
    }

    @Test("Untried items go first, then those tried least, then those waiting longest")
    func order() throws {
        for number in 1...3 { try add(number, at: Int64(number)) }
        #expect(try tryNext(at: 10) == "i_1")
        #expect(try tryNext(at: 11) == "i_2")
        #expect(try tryNext(at: 12) == "i_3")
        #expect(try tryNext(at: 13) == nil)
        // The first two items are due again 4.5 seconds after their first attempt. The new item goes first.
        try add(4, at: 15)
        #expect(try tryNext(at: 16) == "i_4")
        #expect(try tryNext(at: 16) == "i_1")
        #expect(try tryNext(at: 16) == "i_2")
        // The first item is due 27 seconds after its second attempt. The third item has had fewer attempts.
        #expect(try tryNext(at: 60) == "i_3")
        #expect(try tryNext(at: 60) == "i_4")
        #expect(try tryNext(at: 60) == "i_1")
    }

    @Test(
        "If a store is busy, the queue still gives out evidence for the other store's app of the same name"
    )
    func sameName() throws {
        func add(_ number: Int, _ kind: String) throws {
            _ = try ledger.addIntake(
                .test(number, kind: kind, at: time(Int64(number))), [UInt8(number)])
        }
        try add(1, "token")
        try add(2, "app_receipt")
        let kinds = [
            EvidenceKind(.google, "token", by: .word),
            EvidenceKind(.apple, "app_receipt", by: .signatureOrWord),
        ]
        let app = AppKey(store: .google, id: try AppID("com.example.app"))
        let busy = BusyStores(kinds: kinds, apps: [app])
        #expect(try ledger.takeIntake(now: time(9), without: busy)?.item.id.text == "i_2")
        #expect(try ledger.takeIntake(now: time(9), without: busy) == nil)
        // Google's app of this name has its receipts judged by the store, which says nothing about Apple's.
        try database.run(
            """
            insert into deed.apps (store, app, project, receipts, counts_sandbox)
            values ('google', 'com.example.app', 'default', 'store', false)
            """)
        try add(3, "app_receipt")
        let full = BusyStores(kinds: kinds, isFull: true)
        #expect(try ledger.takeIntake(now: time(9), without: full)?.item.id.text == "i_3")
        #expect(try ledger.takeIntake(now: time(9))?.item.id.text == "i_1")
    }

    @Test("An item is taken once, comes with its evidence, and returns when its lease ends")
    func lease() throws {
        let added = try add(1)
        let taken = try #require(try ledger.takeIntake(now: time(0)))
        #expect(taken.item.id == added.id && taken.item.tries == 1)
        #expect(taken.bytes == [1])
        #expect(try ledger.takeIntake(now: time(299)) == nil)
        // The item's worker has died, so another worker gets it.
        let again = try #require(try ledger.takeIntake(now: time(300)))
        #expect(again.item.id == added.id && again.item.tries == 2)
        // If the first worker was only slow, it must not change the other worker's item.
        let late = taken.item.judged(.refused(Self.refusal), now: time(301), jitter: 0)
        #expect(try !ledger.changeIntake(late))
        let found = try #require(try ledger.intake(added.id, of: project))
        #expect(found.state.word == .waiting && found.revision == again.item.revision)
        let inTime = again.item.judged(.refused(Self.refusal), now: time(302), jitter: 0)
        #expect(try ledger.changeIntake(inTime))
        #expect(try ledger.takeIntake(now: time(100_000)) == nil)
    }

    @Test("Two instances share it: every item is judged once", .timeLimit(.minutes(20)))
    func shared() throws {
        for number in 1...200 { try add(number) }
        let others = [ledger, database.ledger()]
        let taken = Mutex<[IntakeID]>([])
        let start = start
        inParallel(8) { index in
            let ledger = others[index % 2]
            while let next = try? ledger.takeIntake(now: start) {
                taken.withLock { $0.append(next.item.id) }
                let ended = next.item.judged(.believed([]), now: start, jitter: 0)
                #expect((try? ledger.changeIntake(ended)) == true)
            }
        }
        let ids = taken.withLock { $0 }
        #expect(ids.count == 200 && Set(ids).count == 200)
        #expect(try ledger.intakeCounts().waiting == 0)
        let count = "select count(*) from deed.intake where state = 'believed' and tries = 1"
        #expect(try database.number(count) == 200)
    }

    @Test("A new process finds everything unchanged")
    func restart() throws {
        let result = IntakeResult(
            purchase: nil, transaction: "2", outcome: "refused", order: "o_1",
            reason: IntakeReason(code: "held_by_another", sentence: "No \"quotes\" lost."),
            unknownProduct: "gems")
        let act = AdminAct(
            actor: try Actor("key:k1"), reason: try Reason("by hand"), ticket: try Ticket("T-1"))
        var items: [IntakeItem] = []
        for number in 1...5 { items.append(try add(number)) }
        _ = try ledger.takeIntake(now: start)
        let refreshed = try #require(try ledger.intake(items[0].id, of: project))
        items[0] = refreshed.judged(.tryAgain(Self.reason), now: time(1), jitter: 0)
        items[1] = items[1].judged(.believed([result]), now: time(1), jitter: 0)
        items[2] = items[2].judged(.refused(Self.refusal), now: time(1), jitter: 0)
        items[3] = try items[3].decided(.settle, by: act, now: time(1))
        items[4] = try items[4].decided(.drop, by: act, now: time(1)).decided(
            .retry, by: act, now: time(2))
        for item in items { #expect(try ledger.changeIntake(item)) }
        ledger.close()
        let other = database.ledger()
        for item in items {
            let found = try #require(try other.intake(item.id, of: project))
            #expect(found.state == item.state && found.act == item.act)
            #expect(found.wish == item.wish && found.tries == item.tries)
            #expect(found.addedAt == item.addedAt && found.changedAt == item.changedAt)
            #expect(found.revision == item.revision + 1)
        }
    }

    @Test("The same evidence for the same purpose waits once, however often it is sent")
    func once() throws {
        let first = try IntakeItem.test(1, at: start)
        #expect(try ledger.addIntake(first, [1]) == first)
        let wish = first.wish
        func again(_ id: String, _ purpose: IntakeWish.Purpose) throws -> IntakeItem? {
            let wish = IntakeWish(
                project: wish.project, purpose: purpose, order: nil, heading: wish.heading)
            return try ledger.addIntake(IntakeItem(IntakeID(id), wish, now: start), [1])
        }
        #expect(try again("i_2", wish.purpose) == first)
        // If the answer to a request was lost, the sender repeats it with the same id.
        #expect(try ledger.addIntake(first, [1]) == first)
        let others: [IntakeWish.Purpose] = [
            .submit(try CustomerID("u2")), .restore(try CustomerID("u1")), .notification,
        ]
        for (number, purpose) in others.enumerated() {
            #expect(try again("i_\(number + 3)", purpose)?.id.text == "i_\(number + 3)")
            #expect(try again("i_9", purpose)?.id.text == "i_\(number + 3)")
        }
        // After a refusal, the same evidence may wait again, but not twice.
        let refused = first.judged(.refused(Self.refusal), now: start, jitter: 0)
        #expect(try ledger.changeIntake(refused))
        #expect(try again("i_7", wish.purpose)?.id.text == "i_7")
        let found = try #require(try ledger.intake(first.id, of: project))
        let act = AdminAct(actor: try Actor("a"), reason: try Reason("r"), ticket: nil)
        #expect(throws: CommandError.refused(.intake(.queuedAgain(first.id)))) {
            try ledger.changeIntake(found.decided(.retry, by: act, now: start))
        }
        #expect(try ledger.intake(first.id, of: project) == found)
    }

    @Test("Waiting evidence that comes again with an order gets it, once, even into a full queue")
    func lateOrder() throws {
        let first = try IntakeItem.test(1, at: start)
        #expect(try ledger.addIntake(first, [1])?.wish.order == nil)
        let taken = try #require(try ledger.takeIntake(now: start))
        func again(_ order: String?) throws -> IntakeItem? {
            let wish = IntakeWish(
                project: first.wish.project, purpose: first.wish.purpose,
                order: try order.map { try OrderID($0) }, heading: first.wish.heading)
            return try ledger.addIntake(IntakeItem(IntakeID("i_9"), wish, now: start), [1])
        }
        try database.run(
            """
            insert into deed.intake (id, project, purpose, customer, environment, kind, app, digest, evidence,
                state, next_try_at, added_at, changed_at)
            select 'full' || n, project, purpose, customer, environment, kind, app,
                sha256(n::text::bytea), evidence, state, next_try_at + 3600000, added_at, changed_at
            from deed.intake, generate_series(1, \(IntakeItem.countLimit)) as n
            """)
        let named = try #require(try again("o1"))
        #expect(named.id == first.id && named.wish.order?.text == "o1")
        // A worker took the item before the order was added, so its result does not count.
        let judged = taken.item.judged(.believed([]), now: start, jitter: 0)
        #expect(try !ledger.changeIntake(judged))
        #expect(try again(nil)?.wish.order?.text == "o1")
        #expect(try again("o2")?.wish.order?.text == "o1")
        #expect(try ledger.intake(first.id, of: project)?.revision == named.revision)
        try database.run("delete from deed.intake where id like 'full%'")
        let later = start.advanced(byMilliseconds: 3_600_000)
        let next = try #require(try ledger.takeIntake(now: later))
        #expect(next.item.id == first.id && next.item.wish.order?.text == "o1")
        #expect(try ledger.changeIntake(next.item.judged(.believed([]), now: later, jitter: 0)))
    }

    @Test("If eight senders name an order for waiting evidence at once, it gets one of theirs")
    func lateOrders() throws {
        let first = try IntakeItem.test(1, at: start)
        let given = Mutex<Set<String>>([])
        inParallel(8) { number in
            let wish = IntakeWish(
                project: first.wish.project, purpose: first.wish.purpose,
                order: number % 2 == 0 ? nil : try? OrderID("o\(number)"),
                heading: first.wish.heading)
            guard let id = try? IntakeID("i_\(number)"),
                let item = try? ledger.addIntake(IntakeItem(id, wish, now: start), [1])
            else {
                Issue.record("sender \(number) got no item")
                return
            }
            if let order = item.wish.order { _ = given.withLock { $0.insert(order.text) } }
        }
        #expect(given.withLock { $0.count } == 1)
        #expect(try database.number("select count(*) from deed.intake") == 1)
    }

    @Test("If eight senders submit the same evidence at once, all get the same item")
    func onceInParallel() throws {
        let (ledger, start) = (ledger, start)
        let given = Mutex<[IntakeID?]>([])
        inParallel(8) { index in
            let item = (try? IntakeItem.test(1, at: start)).flatMap { item in
                (try? IntakeID("i_\(index)")).map { IntakeItem($0, item.wish, now: start) }
            }
            let added = item.flatMap { try? ledger.addIntake($0, [1]) }
            given.withLock { $0.append(added?.id) }
        }
        let ids = given.withLock { $0 }
        #expect(ids.count == 8 && Set(ids).count == 1 && ids[0] != nil)
        #expect(try database.number("select count(*) from deed.intake") == 1)
    }

    @Test("A full queue accepts no more of that project, by count and by bytes")
    func full() throws {
        let columns = """
            insert into deed.intake (id, project, purpose, customer, environment, kind, app, digest,
                evidence, state, next_try_at, added_at, changed_at)
            """
        try database.run(
            """
            \(columns) select 'f' || n, 'default', 'submit', 'u' || n, 'sandbox', 'app_receipt', 'a',
                sha256(n::text::bytea), '\\x01', 'waiting', 0, 0, 0
            from generate_series(1, \(IntakeItem.countLimit - 1)) as n
            """)
        #expect(try ledger.addIntake(.test(1, at: start), [1]) != nil)
        #expect(try ledger.addIntake(.test(2, at: start), [1]) == nil)
        // Deed still finds waiting evidence, and other projects still have room.
        #expect(try ledger.addIntake(.test(1, at: start), [1])?.id.text == "i_1")
        #expect(try ledger.addIntake(.test(3, project: "other", at: start), [1]) != nil)
        try database.run("delete from deed.intake")
        for batch in 0..<IntakeItem.byteLimit / 4_194_304 / 8 {
            try database.run(
                """
                \(columns) select 'b' || n, 'default', 'submit', 'u' || n, 'sandbox', 'app_receipt', 'a',
                    sha256(n::text::bytea), convert_to(repeat('x', 4194304), 'UTF8'), 'waiting', 0, 0, 0
                from generate_series(\(batch * 8), \(batch * 8 + 7)) as n
                """)
        }
        try database.run("delete from deed.intake where id = 'b0'")
        let large = [UInt8](repeating: 1, count: 4_194_304)
        #expect(try ledger.addIntake(.test(4, at: start), [1]) != nil)
        #expect(try ledger.addIntake(.test(5, at: start), large) == nil)
        try database.run("update deed.intake set state = 'dropped' where id = 'b1'")
        #expect(try ledger.addIntake(.test(5, at: start), large) != nil)
    }

    @Test("Items that ended long ago are deleted; waiting ones never are")
    func clean() throws {
        for number in 1...3 { try add(number) }
        let ended = try #require(try ledger.takeIntake(now: start)).item
        #expect(try ledger.changeIntake(ended.judged(.believed([]), now: start, jitter: 0)))
        #expect(try clean(endedBefore: start) == 0)
        #expect(try clean(endedBefore: time(1)) == 1)
        #expect(try ledger.intake(ended.id, of: project) == nil)
        #expect(try ledger.intakeCounts().waiting == 2)
    }

    private func lease(until end: Instant) throws -> Lease {
        try #require(try ledger.takeLease(of: "cleaning", at: start, until: end, lastRun: nil))
    }

    private func clean(endedBefore instant: Instant) throws -> Int {
        let lease = try lease(until: time(1))
        defer { try? ledger.end(lease, ranAt: nil) }
        return try ledger.cleanIntake(endedBefore: instant, under: lease)
    }

    @Test("A worker whose lease was taken over no longer deletes items")
    func overtaken() throws {
        try add(1)
        try database.run("update deed.intake set state = 'dropped'")
        let lost = try lease(until: start)
        let held = try lease(until: time(1))
        #expect(held.fence == lost.fence + 1)
        #expect(try ledger.cleanIntake(endedBefore: time(1), under: lost) == 0)
        #expect(try ledger.cleanIntake(endedBefore: time(1), under: held) == 1)
    }

    /// For an empty table, PostgreSQL plans to read the whole table instead of using an index, and keeps that plan.
    @Test("A plan made for an empty queue also takes one item, and deletes old ones")
    func plansForAnEmptyQueue() throws {
        try database.run("vacuum analyze deed.intake")
        #expect(try ledger.takeIntake(now: start) == nil)
        #expect(try clean(endedBefore: time(1)) == 0)
        for number in 1...20 { try add(number) }
        #expect(try ledger.takeIntake(now: start) != nil)
        #expect(try database.number("select sum(tries)::bigint from deed.intake") == 1)
        try database.run(
            """
            update deed.intake set state = 'dropped';
            insert into deed.intake select (jsonb_populate_record(
                i, jsonb_build_object('id', i.id || '-' || n))).* from deed.intake as i,
                generate_series(1, 100) as n
            """)
        #expect(try clean(endedBefore: time(1)) == 1000)
        #expect(try clean(endedBefore: time(1)) == 1000)
        #expect(try clean(endedBefore: time(1)) == 20)
    }

    @Test("Counts show how much waits, how much alarms, and since when the oldest waits")
    func counts() throws {
        #expect(try ledger.intakeCounts() == IntakeCounts())
        try add(1, at: 5)
        try add(2, at: 3)
        try database.run("update deed.intake set tries = 6 where id = 'i_1'")
        let counts = try ledger.intakeCounts()
        #expect(counts.waiting == 2 && counts.alarming == 1 && counts.oldest == time(3))
    }

    @Test("Items are listed page by page, by state, and only those of the project")
    func list() throws {
        for number in 1...7 { try add(number, at: Int64(number / 3)) }
        _ = try ledger.addIntake(.test(8, project: "other", at: start), [8])
        let refused = try #require(try ledger.takeIntake(now: time(9))).item
        #expect(
            try ledger.changeIntake(refused.judged(.refused(Self.refusal), now: start, jitter: 0)))
        var seen: [String] = []
        var last: IntakeItem?
        while true {
            let page = try ledger.intake(of: project, in: nil, after: last, limit: 3)
            if page.isEmpty { break }
            seen += page.map(\.id.text)
            last = page.last
        }
        #expect(seen == (1...7).map { "i_\($0)" })
        let found = try ledger.intake(of: project, in: .refused, after: nil, limit: 9)
        #expect(found.map(\.id) == [refused.id])
        #expect(try ledger.intake(refused.id, of: ProjectID("other")) == nil)
    }
}
