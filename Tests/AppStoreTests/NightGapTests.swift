import AppStore
import Core
import Histories
import JSON
import Practice
import Service
import Synchronization
import TestSupport
import Testing

/// Tests that Deed remembers failed questions until the store answers them. Until then, no run counts as sound.
@Suite("The nightly run and what it could not read", .serialized, .timeLimit(.minutes(20)))
struct NightGapTests {
    private static let day: Int64 = 86_400_000

    /// Creates lives of which Deed knows only the first weeks, and none of the following two months.
    private func overdueNight(
        _ lives: Int = 6, change: (inout Shop) -> Void = { _ in }
    ) throws -> PracticeNight {
        var random = SeededGenerator(seed: printedSeed(of: "night with a gap"))
        let night = try PracticeNight(lives: lives, ofEachState: true, &random, change: change)
        try night.pass(days: 42)
        night.cutOff(true)
        try night.pass(days: 63)
        return night
    }

    private func counts(
        _ finished: ReconciliationFinished, _ step: ReconcileStep
    ) -> StepCounts { finished.steps[step] ?? StepCounts() }

    /// Returns a store whose history of notifications goes back only this far.
    private static func reaching(_ reach: Int64, of night: PracticeNight) -> PracticeNight.Detour {
        let earliest = night.service.clock.now.advanced(byMilliseconds: -reach)
        return { call throws(StoreTrouble) in
            guard case .notifications(let filter, _) = call, filter.start <= earliest else {
                return nil
            }
            throw .refused(byAppStore: 4_000_012, "Start date is too far in the past.")
        }
    }

    @Test(
        "A store that keeps less than it claims is read as far as possible; the gap is reported",
        arguments: [169, 120, 30, 2].map { Int64($0) * day })
    func reach(_ reach: Int64) async throws {
        try await aside {
            let night = try self.overdueNight(2)
            let asked = Mutex<[Instant]>([])
            let limit = Self.reaching(reach, of: night)
            let run = try night.reconcile([.notifications]) { call throws(StoreTrouble) in
                let answer = try limit(call)
                if case .notifications(let filter, _) = call {
                    asked.withLock { $0.append(filter.start) }
                }
                return answer
            }
            #expect(run.isSound, "\(run.errors)")
            let first = try #require(asked.withLock { $0.min() })
            let age = night.service.clock.now.milliseconds - first.milliseconds
            #expect(age < reach && age > reach - Self.day - 3_600_000)
            let isSaid = run.notes.contains {
                $0.contains("nothing could be read") && $0.contains(first.text)
            }
            #expect(isSaid, "\(run.notes)")
        }
    }

    @Test("A day that the store refuses after an earlier one succeeded is read by the next run")
    func lateReach() async throws {
        try await aside {
            let night = try self.overdueNight()
            let bad = night.service.clock.now.advanced(byMilliseconds: -40 * Self.day)
            let run = try night.reconcile([.notifications]) { call throws(StoreTrouble) in
                guard case .notifications(let filter, _) = call, filter.start <= bad,
                    bad < filter.end
                else { return nil }
                throw .refused(byAppStore: 4_000_012, "Start date is too far in the past.")
            }
            #expect(run.errors.count == 1, "\(run.errors)")
            #expect(self.counts(run, .notifications).found > 0)
            // With some seeds, that day has no notification.
            let asksAgain = Mutex(false)
            let next = try night.reconcile([.notifications]) { call throws(StoreTrouble) in
                if case .notifications(let filter, _) = call, filter.start <= bad, bad < filter.end
                {
                    asksAgain.withLock { $0 = true }
                }
                return nil
            }
            #expect(next.isSound, "\(next.errors)")
            #expect(asksAgain.withLock { $0 })
        }
    }

    @Test("The sandbox is read as far back as it keeps notifications")
    func sandbox() async throws {
        try await aside {
            let night = try self.overdueNight(4) { $0.app.retries = .sandbox }
            let run = try night.reconcile([.notifications])
            #expect(run.isSound, "\(run.errors)")
            #expect(self.counts(run, .notifications).found > 0)
        }
    }

    @Test("If nothing can be read, however short the range, that is an error")
    func unreachable() async throws {
        try await aside {
            let night = try self.overdueNight(1)
            let run = try night.reconcile([.notifications], detour: Self.reaching(-1, of: night))
            #expect(!run.isSound)
        }
    }

    /// Useless answers of the store.
    private static let ill: [StoreTrouble] = [
        .unavailable("what answered is not the API"), .unreadable("it is empty"),
        .foreign("signature_invalid"), .refused(byAppStore: 4_000_000, "not today"),
        .endlessPages(limit: 3),
    ]

    private static func isHistory(_ call: StoreCall) -> Bool {
        if case .history = call { true } else { false }
    }

    @Test(
        "A badly answered history is requested again, and no run is sound until it is answered",
        arguments: ill)
    func history(_ trouble: StoreTrouble) async throws {
        try await aside {
            let night = try self.overdueNight()
            let steps: [ReconcileStep] = [.subscriptions]
            let ill: PracticeNight.Detour = { call throws(StoreTrouble) in
                if Self.isHistory(call) { throw trouble }
                return nil
            }
            let first = try night.reconcile(steps, detour: ill)
            #expect(!first.isSound && self.counts(first, .subscriptions).mended > 0)
            // The subscriptions are no longer due, but earlier data is still missing.
            #expect(try !night.reconcile(steps).isSound)
            #expect(try !night.reconcile(detour: ill).isSound)
            #expect(try !night.reconcile(detour: ill).isSound)
            let last = try night.reconcile()
            #expect(last.isSound, "\(last.errors)")
            try expectTruth(night)
            #expect(try night.reconcile().isSound)
        }
    }

    @Test("An answer that does not name the subscription does not count: it is asked about again")
    func lacking() async throws {
        try await aside {
            let night = try self.overdueNight()
            let lacking: PracticeNight.Detour = { call throws(StoreTrouble) in
                guard case .standings = call else { return nil }
                return StoreAnswer(environment: .sandbox)
            }
            for _ in 0..<2 {
                let run = try night.reconcile([.subscriptions], detour: lacking)
                #expect(!run.isSound && self.counts(run, .subscriptions).lookedAt > 1)
            }
            let last = try night.reconcile()
            #expect(last.isSound, "\(last.errors)")
            try expectTruth(night)
        }
    }

    @Test(
        "A day with unreadable notifications ends nothing else, and the next run reads it",
        arguments: ill)
    func unreadableDay(_ trouble: StoreTrouble) async throws {
        try await aside {
            let night = try self.overdueNight()
            let bad = night.service.clock.now.advanced(byMilliseconds: -40 * Self.day)
            let run = try night.reconcile([.notifications]) { call throws(StoreTrouble) in
                guard case .notifications(let filter, _) = call, filter.start <= bad,
                    bad < filter.end
                else { return nil }
                throw trouble
            }
            #expect(run.errors.count == 1, "\(run.errors)")
            #expect(self.counts(run, .notifications).found > 0)
            let next = try night.reconcile()
            #expect(next.isSound, "\(next.errors)")
            try expectTruth(night)
        }
    }

    @Test("A minute with endless pages is reported, and everything after it is read")
    func endlessMinute() async throws {
        try await aside {
            let night = try self.overdueNight()
            let bad = night.service.clock.now.advanced(byMilliseconds: -40 * Self.day)
            let asked = Mutex(0)
            let run = try night.reconcile([.notifications]) { call throws(StoreTrouble) in
                guard case .notifications(let filter, _) = call, filter.start <= bad,
                    bad < filter.end
                else { return nil }
                var page = StoreAnswer(environment: .sandbox)
                page.next = asked.withLock { asked in
                    asked += 1
                    return "page \(asked)"
                }
                return page
            }
            #expect(run.errors.count == 1, "\(run.errors)")
            #expect(run.errors.first?.contains("do not end") == true, "\(run.errors)")
            #expect(self.counts(run, .notifications).found > 0)
            let next = try night.reconcile([.notifications])
            #expect(next.isSound, "\(next.errors)")
            #expect(try night.complaints() == [])
        }
    }

    @Test("A customer about whom the store cannot be asked does not block the others")
    func oneIll() async throws {
        try await aside {
            let night = try self.overdueNight()
            let struck = Mutex<TransactionID?>(nil)
            let run = try night.reconcile([.subscriptions]) { call throws(StoreTrouble) in
                guard case .standings(let id) = call else { return nil }
                let isStruck = struck.withLock { known in
                    known = known ?? id
                    return known == id
                }
                if isStruck { throw .unavailable("what answered is not the API") }
                return nil
            }
            #expect(run.errors.count == 1, "\(run.errors)")
            #expect(self.counts(run, .subscriptions).mended > 1)
        }
    }

    @Test(
        "A run that used up its questions is not sound, and later ones continue",
        arguments: [ReconcileStep.notifications, .subscriptions])
    func outOfCalls(_ step: ReconcileStep) async throws {
        try await aside {
            let night = try self.overdueNight()
            let run = try night.reconcile([step], storeCalls: 3)
            #expect(
                run.errors.count == 1 && run.errors[0].contains("used up its budget of calls"),
                "\(run.errors)")
            let next = try night.reconcile([step])
            #expect(next.isSound, "\(next.errors)")
            #expect(self.counts(next, step).found > 0)
        }
    }

    @Test("A store that is away is asked a few times, and left alone until the next run")
    func away() async throws {
        try await aside {
            let night = try self.overdueNight()
            let asked = Mutex(0)
            let run = try night.reconcile([.subscriptions]) { _ throws(StoreTrouble) in
                asked.withLock { $0 += 1 }
                throw .unavailable("it answered 500")
            }
            #expect(!run.isSound)
            #expect(asked.withLock { $0 } < 10)
            #expect(self.counts(run, .subscriptions).lookedAt <= 3)
        }
    }
}
