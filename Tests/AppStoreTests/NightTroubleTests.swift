import AppStore
import Core
import Histories
import JSON
import Service
import Synchronization
import TestSupport
import Testing

/// Tests what a single fault leaves undone, and what it does not affect.
@Suite("The nightly run in trouble", .serialized, .timeLimit(.minutes(20)))
struct NightTroubleTests {
    /// Creates lives of which Deed knows only the first weeks, and none of the following two
    /// months. Some of them are sure to renew.
    private func overdueNight(_ lives: Int = 6) throws -> PracticeNight {
        var random = SeededGenerator(seed: printedSeed(of: "night in trouble"))
        let night = try PracticeNight(lives: lives, ofEachState: true, &random)
        try night.pass(days: 42)
        night.cutOff(true)
        try night.pass(days: 63)
        return night
    }

    private func counts(
        _ finished: ReconciliationFinished, _ step: ReconcileStep
    ) -> StepCounts { finished.steps[step] ?? StepCounts() }

    @Test(
        "A refusal that is not about the purchase is an error, and the next run asks again",
        arguments: [4_040_003, 404, 4_000_006])
    func refused(code: Int64) async throws {
        try await aside {
            let night = try self.overdueNight()
            let failing = try night.reconcile([.subscriptions]) { call throws(StoreTrouble) in
                if case .standings = call { throw .refused(byAppStore: code, "not today") }
                return nil
            }
            #expect(!failing.isSound)
            #expect(failing.errors.first?.contains("not today") == true)
            let asked = self.counts(failing, .subscriptions).lookedAt
            #expect(asked > 0 && self.counts(failing, .subscriptions).found == 0)
            let second = try night.reconcile([.subscriptions])
            #expect(second.isSound, "\(second.errors)")
            #expect(self.counts(second, .subscriptions).lookedAt == asked)
            #expect(self.counts(second, .subscriptions).mended > 0)
        }
    }

    @Test(
        "A rejected key ends the app's part without asking every question"
    )
    func unauthorized() async throws {
        try await aside {
            let night = try self.overdueNight()
            let asked = Mutex(0)
            let failing = try night.reconcile([.subscriptions]) { _ throws(StoreTrouble) in
                asked.withLock { $0 += 1 }
                throw .unauthorized
            }
            #expect(!failing.isSound)
            #expect(asked.withLock { $0 } == 1)
        }
    }

    @Test("A key that was accepted a moment ago is tried again before it is given up")
    func rejectedOnce() async throws {
        try await aside {
            let night = try self.overdueNight()
            let asked = Mutex(0)
            let run = try night.reconcile([.subscriptions]) { _ throws(StoreTrouble) in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                if number == 2 { throw .unauthorized }
                if number == 4 { throw .untrusted("another certificate") }
                return nil
            }
            #expect(run.isSound, "\(run.errors)")
        }
    }

    /// Makes the store reject the key in one environment and accept it in the other.
    private static func refuse(_ refusing: Environment, _ intake: inout Intake) {
        intake.detour { _, environment throws(StoreTrouble) in
            if environment == refusing { throw .unauthorized }
            return nil
        }
    }

    @Test("Production's rejection of the key is an error if it was ever read, else a note")
    func refusingProduction() async throws {
        try await aside {
            let night = try self.overdueNight(2)
            let unreleased = try night.reconcile(
                [.notifications], change: { Self.refuse(.production, &$0) })
            #expect(unreleased.isSound, "\(unreleased.errors)")
            #expect(unreleased.notes.contains { $0.contains("rejected the key in production") })
            #expect(try night.reconcile([.notifications]).isSound)
            let refused = try night.reconcile(
                [.notifications], change: { Self.refuse(.production, &$0) })
            #expect(!refused.isSound)
            #expect(
                refused.errors.contains { $0.contains("rejects the key") }, "\(refused.errors)")
        }
    }

    @Test(
        "A single purchase that the store does not know is left alone for a week: no error"
    )
    func unknown() async throws {
        try await aside {
            let night = try self.overdueNight()
            let asked = Mutex<[TransactionID]>([])
            let first = try night.reconcile([.subscriptions]) { call throws(StoreTrouble) in
                guard case .standings(let id) = call else { return nil }
                let isFirst = asked.withLock { asked in
                    asked.append(id)
                    return asked[0] == id
                }
                if isFirst { throw .refused(byAppStore: 4_040_010, "unknown") }
                return nil
            }
            #expect(first.isSound, "\(first.errors)")
            #expect(first.notes.contains { $0.contains("again in a week") }, "\(first.notes)")
            let unknown = try #require(asked.withLock { $0.first })
            #expect(asked.withLock { $0.count { $0 == unknown } } == 3)
            #expect(try night.reconcile([.subscriptions]).steps[.subscriptions]?.lookedAt == 0)
            try night.pass(days: 8)
            asked.withLock { $0 = [] }
            _ = try night.reconcile([.subscriptions]) { call throws(StoreTrouble) in
                if case .standings(let id) = call { asked.withLock { $0.append(id) } }
                return nil
            }
            #expect(asked.withLock { $0.contains(unknown) })
        }
    }

    /// A store that answers as if the key belonged to another app.
    private static let strange: PracticeNight.Detour = { call throws(StoreTrouble) in
        if case .notifications = call { return nil }
        throw .refused(byAppStore: 4_040_010, "unknown")
    }

    @Test("A store that knows none of many purchases is not believed, and is asked again")
    func strangers() async throws {
        try await aside {
            let night = try self.overdueNight()
            let first = try night.reconcile([.subscriptions], detour: Self.strange)
            #expect(!first.isSound)
            #expect(first.errors.contains { $0.contains("knows none of") }, "\(first.errors)")
            let asked = self.counts(first, .subscriptions).lookedAt
            let second = try night.reconcile([.subscriptions])
            #expect(self.counts(second, .subscriptions).lookedAt == asked)
            #expect(self.counts(second, .subscriptions).mended > 0)
        }
    }

    @Test("Nor do unknown purchases end a round, or what is known to be missing")
    func unknownHistories() async throws {
        try await aside {
            let night = try self.overdueNight()
            let customers = try night.customerCount()
            for _ in 0..<2 {
                let run = try night.reconcile([.history], detour: Self.strange)
                #expect(run.errors.contains { $0.contains("knows none of") }, "\(run.errors)")
                #expect(self.counts(run, .history).lookedAt == customers)
            }
            // Deed knows that data about one of these customers is missing.
            try night.service.database.run(
                """
                update deed.history_questions set obstacle = 'something'
                where customer = 'told-refunded'
                """)
            let original = try night.service.database.text(
                "select original from deed.purchases where customer = 'told-refunded'")
            let ofOne: PracticeNight.Detour = { call throws(StoreTrouble) in
                guard case .history(let id, _, _) = call, id.text == original else { return nil }
                throw .refused(byAppStore: 4_040_010, "unknown")
            }
            for _ in 0..<2 { #expect(try !night.reconcile([.history], detour: ofOne).isSound) }
            let last = try night.reconcile()
            #expect(last.isSound, "\(last.errors)")
            try expectTruth(night)
        }
    }

    @Test("A place in a history that the store no longer accepts is read again from its start")
    func oldRevision() async throws {
        try await aside {
            let night = try self.overdueNight()
            let marked = Mutex(0)
            #expect(try night.reconcile([.subscriptions]).isSound)
            // Deed gets no reports for another two months.
            try night.pass(days: 63)
            let second = try night.reconcile([.subscriptions]) { call throws(StoreTrouble) in
                guard case .history(_, _, after: .some) = call else { return nil }
                marked.withLock { $0 += 1 }
                throw .refused(byAppStore: 4_000_005, "no such revision")
            }
            #expect(marked.withLock { $0 } > 0)
            #expect(second.isSound, "\(second.errors)")
            #expect(try night.reconcile([.subscriptions]).steps[.subscriptions]?.found == 0)
        }
    }

    @Test("A subscription's status is recorded even if its history is refused")
    func refusedHistory() async throws {
        try await aside {
            let night = try self.overdueNight()
            let refused = Mutex(0)
            let first = try night.reconcile([.subscriptions]) { call throws(StoreTrouble) in
                guard case .history = call else { return nil }
                refused.withLock { $0 += 1 }
                throw .refused(byAppStore: 4_000_000, "no history")
            }
            #expect(refused.withLock { $0 } > 0)
            #expect(first.errors.contains { $0.contains("no history") }, "\(first.errors)")
            #expect(self.counts(first, .subscriptions).mended > 0)
            // Deed kept all of the signed statements, so nothing is due any more.
            #expect(try night.reconcile([.subscriptions]).steps[.subscriptions]?.lookedAt == 0)
        }
    }

    @Test("If the store wants a pause beyond the run, the next run observes it")
    func longPause() async throws {
        try await aside {
            let night = try self.overdueNight()
            try night.suffer(#"{"limit":1,"limit_for":"1h","seed":3}"#)
            let first = try night.reconcile([.subscriptions])
            #expect(first.errors.count == 1 && first.errors[0].contains("ask again after"))
            #expect(self.counts(first, .subscriptions).lookedAt == 1)
            try night.suffer("{}")
            let second = try night.reconcile([.subscriptions])
            #expect(second.errors.count == 1 && second.errors[0].contains("ask again after"))
            night.machine.advance(byMilliseconds: 3_600_000)
            let third = try night.reconcile([.subscriptions])
            #expect(third.isSound, "\(third.errors)")
            #expect(self.counts(third, .subscriptions).mended > 0)
        }
    }

    @Test("A rehearsal counts a subscription once even if another customer's answer names it")
    func sharedAccount() async throws {
        try await aside {
            var random = SeededGenerator(seed: printedSeed(of: "shared account"))
            let night = try PracticeNight(lives: 2, &random)
            let steps: [JSON] = [("pro.month", 0), ("extras.month", 1)].map { product, life in
                [
                    "at": .string("\(life + 1)d"), "do": "buy", "product": .string(product),
                    "token": .string("00000000-0000-4000-8000-00000000000\(life)"),
                ]
            }
            try night.plan([
                "title": "one account, two customers", "until": "150d",
                "lives": [["customer": "shared", "steps": .array(steps)]],
            ])
            try night.pass(days: 20)
            night.cutOff(true)
            try night.pass(days: 63)
            let rehearsed = try night.reconcile([.subscriptions], rehearsing: true)
            let run = try night.reconcile([.subscriptions])
            #expect(run.isSound, "\(run.errors)")
            let (wanted, counts) = (
                self.counts(run, .subscriptions), self.counts(rehearsed, .subscriptions)
            )
            #expect(wanted.lookedAt > 0)
            #expect(counts.lookedAt == wanted.lookedAt && counts.found == wanted.found)
        }
    }

    /// Returns endless pages, and counts all calls.
    private final class EndlessPages: Sendable {
        let asked = Atomic(0)

        func page() -> StoreAnswer {
            var answer = StoreAnswer(environment: .sandbox)
            answer.next = "page \(asked.add(1, ordering: .relaxed).newValue)"
            return answer
        }
    }

    @Test("Endless pages are given up as an error, and the other steps are done")
    func endless() async throws {
        try await aside {
            let night = try self.overdueNight(2)
            let pages = EndlessPages()
            let failing = try night.reconcile { call throws(StoreTrouble) in
                guard case .notifications = call else { return nil }
                return pages.page()
            }
            // Deed recorded the earlier pages. The message makes no claim about them.
            #expect(
                failing.errors == [
                    "notifications: com.example.game (3 times): The store's pages repeat, do not end or take "
                        + "too long; reading stopped after 500."
                ])
            #expect(pages.asked.load(ordering: .relaxed) < 7000)
            #expect(self.counts(failing, .chain).lookedAt > 0)
        }
    }

    @Test(
        "A day with too many pages is read in pieces, later days in whole, each thing once"
    )
    func crowded() async throws {
        try await aside {
            let night = try self.overdueNight(4)
            let begin = night.service.clock.now.advanced(byMilliseconds: -40 * 86_400_000)
            let end = begin.advanced(byMilliseconds: 86_400_000)
            let pages = EndlessPages()
            let asked = Mutex<[NotificationFilter]>([])
            let detour: PracticeNight.Detour = { call throws(StoreTrouble) in
                guard case .notifications(let filter, _) = call else { return nil }
                asked.withLock { $0.append(filter) }
                guard filter.start < end, filter.end > begin,
                    filter.end.milliseconds - filter.start.milliseconds > 6 * 3_600_000
                else { return nil }
                return pages.page()
            }
            let rehearsed = try night.reconcile([.notifications], rehearsing: true, detour: detour)
            #expect(pages.asked.load(ordering: .relaxed) > 0)
            asked.withLock { $0 = [] }
            let run = try night.reconcile([.notifications], detour: detour)
            #expect(run.isSound, "\(run.errors)")
            #expect(self.counts(run, .notifications).found > 0)
            #expect(
                self.counts(rehearsed, .notifications).found
                    == self.counts(run, .notifications).found)
            #expect(try night.complaints() == [])
            let behind = asked.withLock { Set($0.filter { $0.start >= end }.map(\.end)) }
            #expect(behind.count > 30 && behind.count < 50)
        }
    }

    private static func shard(of complaint: String) throws -> Shard {
        let customer = String(complaint.prefix { $0 != ":" && $0 != " " })
        return try Stream.test(customer, environment: .sandbox).shard
    }

    @Test("A record that fails for one customer is an error, and all others are recorded")
    func blockedShard() async throws {
        try await aside {
            let night = try self.overdueNight()
            // A customer whose data is incomplete.
            let shard = try Self.shard(of: try #require(try night.complaints().first))
            try night.service.database.run(
                """
                insert into deed.events select e.shard, s.head + 1, project, environment, 'stray',
                    version, type, payload, digest, e.chain, occurred_at, e.recorded_at, actor,
                    cause, cause_index, cause_digest, catalog_version, evidence, format
                from deed.events as e join deed.shards as s using (shard)
                where e.shard = \(shard.number) order by seq desc limit 1
                """)
            let first = try night.reconcile([.notifications, .subscriptions])
            #expect(
                first.errors.contains { $0.contains("lies beyond its shard's head") },
                "\(first.errors)")
            let left = try night.complaints().map { try Self.shard(of: $0) }
            #expect(Set(left) == [shard])
            try night.service.database.run(
                """
                alter table deed.events disable trigger all;
                delete from deed.events where customer = 'stray'
                """)
            #expect(try night.reconcile([.notifications, .subscriptions]).isSound)
            #expect(try night.complaints() == [])
        }
    }

    @Test("A customer with unreadable events does not block questions about others")
    func unreadable() async throws {
        try await aside {
            let night = try self.overdueNight()
            let due = try night.service.database.number(
                "select count(*) from deed.customers where inquiry_at is not null")
            let isFirst = Atomic(true)
            let failing = try night.reconcile(
                [.subscriptions],
                change: { intake in
                    let ledger = intake.ledger
                    intake.ledger = TappedLog(
                        ledger,
                        customer: { stream throws(Fault) in
                            if isFirst.exchange(false, ordering: .relaxed) {
                                throw .broken("an event is damaged")
                            }
                            return try ledger.customer(of: stream)
                        })
                })
            #expect(failing.errors == ["subscriptions: customers: an event is damaged"])
            #expect(due > 1 && self.counts(failing, .subscriptions).mended > 0)
        }
    }
}
