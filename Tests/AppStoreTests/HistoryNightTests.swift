import Core
import Foundation
import Histories
import JSON
import Service
import Synchronization
import TestSupport
import Testing

/// Tests that Deed requests the histories of customers whom the notifications no longer cover.
@Suite("The nightly run and the histories of customers", .serialized, .timeLimit(.minutes(20)))
struct HistoryNightTests {
    private func counts(
        _ finished: ReconciliationFinished, _ step: ReconcileStep
    ) -> StepCounts { finished.steps[step] ?? StepCounts() }

    /// Creates lives of which Deed knows only the first weeks. They include refunds from before the
    /// period for which a store keeps notifications.
    private func lateNight(_ lives: Int = 3, reconciled: Bool = false) throws -> PracticeNight {
        var random = SeededGenerator(seed: printedSeed(of: "night long after"))
        let night = try PracticeNight(
            lives: lives, ofEachState: true, &random)
        try night.pass(days: 42)
        if reconciled {
            let first = try night.reconcile()
            #expect(first.isSound, "\(first.errors)")
        }
        night.cutOff(true)
        try night.pass(days: 230)
        return night
    }

    private func expectNothingMore(_ night: PracticeNight, full: Bool = false) throws {
        let events = try night.service.eventCount()
        let evidence = try night.service.database.number("select count(*) from deed.evidence")
        let run = try night.reconcile(full: full)
        #expect(run.isSound, "\(run.errors)")
        #expect(counts(run, .history).found == 0 && counts(run, .notifications).found == 0)
        #expect(try night.service.eventCount() == events + 2)
        #expect(
            try night.service.database.number("select count(*) from deed.evidence") == evidence)
    }

    @Test(
        "An app's first night asks for every customer's history, and finds old refunds"
    )
    func firstNight() async throws {
        try await aside {
            let night = try self.lateNight()
            let customers = try night.customerCount()
            #expect(try !night.complaints().isEmpty)
            let run = try night.reconcile()
            #expect(run.isSound, "\(run.errors)")
            try expectTruth(night)
            #expect(self.counts(run, .history).lookedAt >= customers)
            #expect(self.counts(run, .history).found > 0)
            #expect(run.notes.contains { $0.contains("histories of") && $0.contains("min") })
            try self.expectNothingMore(night)
            try self.expectNothingMore(night, full: true)
        }
    }

    @Test("An app without customers has its round once it has some")
    func emptyFirst() async throws {
        try await aside {
            var random = SeededGenerator(seed: printedSeed(of: "empty at first"))
            let night = try PracticeNight(lives: 3, ofEachState: true, &random)
            // What was sold on the first day has not been reported yet.
            let empty = try night.reconcile { call throws(StoreTrouble) in
                if case .notifications = call { return StoreAnswer(environment: .sandbox) }
                return nil
            }
            #expect(empty.isSound, "\(empty.errors)")
            #expect(self.counts(empty, .history).lookedAt == 0)
            try night.pass(days: 42)
            night.cutOff(true)
            try night.pass(days: 63)
            // Acts as if Deed had read all notifications, even the ones that never arrived.
            try night.service.database.run(
                "update deed.notification_marks set read_until = \(night.service.clock.now.milliseconds)"
            )
            let run = try night.reconcile()
            #expect(run.isSound, "\(run.errors)")
            let customers = try night.customerCount()
            #expect(self.counts(run, .history).lookedAt == customers)
            try expectTruth(night)
            try self.expectNothingMore(night)
        }
    }

    @Test("Notifications that the store no longer keeps are reported, and histories replace them")
    func tooLate() async throws {
        try await aside {
            let night = try self.lateNight(reconciled: true)
            let only = try night.reconcile([.notifications])
            #expect(!only.isSound)
            #expect(only.notes.contains { $0.contains("nothing could be read") }, "\(only.notes)")
            // Deed has read the later data, and still knows what is missing.
            let again = try night.reconcile([.notifications])
            #expect(!again.isSound)
            #expect(!again.notes.contains { $0.contains("nothing could be read") })
            let run = try night.reconcile()
            #expect(run.isSound, "\(run.errors)")
            try expectTruth(night)
            try self.expectNothingMore(night)
        }
    }

    @Test("A replaced gap is not missing again while a later day is unreadable")
    func replacedOnce() async throws {
        try await aside {
            let night = try self.lateNight(reconciled: true)
            let customers = try night.customerCount()
            let bad = night.service.clock.now.advanced(byMilliseconds: (2 - 180 * 24) * 3_600_000)
            let ill: PracticeNight.Detour = { call throws(StoreTrouble) in
                guard case .notifications(let filter, _) = call, filter.start <= bad,
                    bad < filter.end
                else { return nil }
                throw .foreign("signature_invalid")
            }
            let first = try night.reconcile(detour: ill)
            #expect(!first.isSound && self.counts(first, .history).lookedAt == customers)
            let again = try night.reconcile(detour: ill)
            #expect(!again.isSound && self.counts(again, .history).lookedAt == 0)
            #expect(try night.reconcile().isSound)
            try expectTruth(night)
        }
    }

    @Test("Missing sandbox notifications cause no questions about production customers")
    func ofOneEnvironment() async throws {
        try await aside {
            let night = try self.lateNight(reconciled: true)
            try night.service.database.run(
                """
                insert into deed.purchases
                select (jsonb_populate_record(p, '{"environment": "production"}')).*
                from deed.purchases as p
                """)
            #expect(try !night.reconcile([.notifications]).isSound)
            let asked = try night.service.database.text(
                "select string_agg(distinct environment, ' ') from deed.history_questions")
            #expect(asked == "sandbox")
        }
    }

    @Test(
        "A run over all histories finds what no night can know",
        arguments: [([ReconcileStep.history], false), (ReconcileStep.allCases, true)])
    func asked(_ steps: [ReconcileStep], full: Bool) async throws {
        try await aside {
            let night = try self.lateNight(reconciled: true)
            // Acts as if Deed had read all notifications, even the ones that never arrived.
            try night.service.database.run(
                "update deed.notification_marks set read_until = \(night.service.clock.now.milliseconds)"
            )
            let calm = try night.reconcile()
            #expect(self.counts(calm, .history).lookedAt == 0)
            #expect(try !night.complaints().isEmpty)
            let customers = try night.customerCount()
            let calls = Mutex(0)
            let ahead = try night.reconcile(steps, rehearsing: true, full: full) {
                call throws(StoreTrouble) in
                if case .history = call { calls.withLock { $0 += 1 } }
                return nil
            }
            #expect(self.counts(ahead, .history).lookedAt == customers)
            #expect(calls.withLock { $0 } == 0)
            let told = Mutex<[ReconcileProgress]>([])
            let run = try night.reconcile(
                steps, full: full, progress: { one in told.withLock { $0.append(one) } })
            #expect(run.isSound, "\(run.errors)")
            #expect(self.counts(run, .history).lookedAt == customers)
            // The estimate comes before the first question. The sandbox allows 5 calls per second.
            let first = try #require(told.withLock { $0.first { $0.step == .history } })
            let left = try #require(first.millisecondsLeft)
            #expect(first.counts.lookedAt == 0 && first.ahead?.customers == customers)
            #expect(left > customers * 200 && left < customers * 250)
            // One subscription was bought again, and only the next step asks about it.
            if steps == [.history] { #expect(try night.reconcile().isSound) }
            try expectTruth(night)
            try self.expectNothingMore(night)
        }
    }

    @Test("A full run asks about everyone, whatever a slow round or a fault left open")
    func everyone() async throws {
        try await aside {
            let night = try self.lateNight()
            let customers = try night.customerCount()
            let slow = try night.reconcile(storeCalls: 4)
            #expect(self.counts(slow, .history).lookedAt < customers)
            let damaged = try Stream.test("told-refunded", environment: .sandbox)
            for _ in 0..<2 {
                let full = try night.reconcile(
                    full: true,
                    change: { intake in
                        let log = intake.ledger
                        intake.ledger = TappedLog(
                            log,
                            customer: { stream throws(Fault) in
                                if stream == damaged { throw .broken("an event is damaged") }
                                return try log.customer(of: stream)
                            })
                    })
                let lookedAt = self.counts(full, .history).lookedAt
                // A customer with purchases from two store accounts may need two questions.
                #expect(!full.isSound && lookedAt >= customers, "\(lookedAt) of \(customers)")
            }
            let last = try night.reconcile(full: true)
            #expect(last.isSound, "\(last.errors)")
            #expect(self.counts(last, .history).lookedAt == customers)
            try expectTruth(night)
        }
    }

    @Test("A requested run asks for every history if its body says so")
    func requested() async throws {
        try await aside {
            let night = try self.lateNight(reconciled: true)
            try night.call(
                "POST", "/v1/reconciliations", ["only": ["history", "projections"], "full": true])
            var wish = ReconcileWish(project: try ProjectID("default"))
            let requested = try #require(
                try night.service.ports.ledger.project(wish.project).requestedReconciliation)
            (wish.plan, wish.requested) = (requested.started.plan, requested.id)
            let customers = try night.customerCount()
            let run = try night.service.reconcile(wish)
            #expect(run.isSound, "\(run.errors)")
            #expect(run.reconciliation == requested.id)
            #expect(self.counts(run, .history).lookedAt == customers)
            #expect(self.counts(run, .history).found > 0)
        }
    }

    @Test("A round that began by itself makes few calls per run, and reports the rest")
    func slowly() async throws {
        try await aside {
            #expect(ReconcileWish(project: try ProjectID("default")).slowCalls == 5000)
            let night = try self.lateNight()
            let customers = try night.customerCount()
            let first = try night.reconcile(slowCalls: 4)
            #expect(self.counts(first, .history).lookedAt == 4)
            let left = "The histories of \(customers - 4) customers still have to be requested"
            #expect(first.errors.contains { $0.contains(left) }, "\(first.errors)")
            // A round that a person requests is not slowed down.
            let run = try night.reconcile([.history], slowCalls: 4)
            #expect(run.isSound && self.counts(run, .history).lookedAt == customers)
        }
    }

    @Test(
        "A round spans many runs, newest purchases first, and is reported until it is done")
    func overRuns() async throws {
        try await aside {
            let night = try self.lateNight()
            let asked = Mutex<[TransactionID]>([])
            let listening: PracticeNight.Detour = { call throws(StoreTrouble) in
                if case .history(let id, _, _) = call { asked.withLock { $0.append(id) } }
                return nil
            }
            let customers = try night.customerCount()
            let newest = try night.service.database.text(
                "select original from deed.purchases order by purchased_at desc, original limit 1")
            var runs = 0
            var last: ReconciliationFinished
            repeat {
                last = try night.reconcile([.history], storeCalls: 4, detour: listening)
                runs += 1
                if !last.isSound {
                    #expect(last.errors.contains { $0.contains("still have to be requested") })
                }
            } while !last.isSound && runs < 40
            #expect(last.isSound, "\(last.errors)")
            #expect(runs >= (Int(customers) + 3) / 4)
            #expect(asked.withLock { $0.count } >= Int(customers))
            #expect(asked.withLock { $0.first?.text } == newest)
            // After a complete round, an unfinished later round is only a note.
            let next = try night.reconcile(full: true, storeCalls: 4)
            #expect(next.notes.contains { $0.contains("have to be requested") }, "\(next.notes)")
            #expect(!next.errors.contains { $0.hasPrefix("history") }, "\(next.errors)")
            #expect(try night.reconcile().isSound)
            try expectTruth(night)
        }
    }

    @Test(
        "Whatever kind of answer is missing, no run is sound before the store answered all"
    )
    func strikes() async throws {
        try await aside {
            let seed = printedSeed(of: "night of strikes")
            let night = try self.lateNight(10)
            let strikes = Strikes(0.04, seed: seed)
            var runs = 0
            var isSound = false
            while !isSound, runs < 60 {
                if runs == 50 { strikes.end() }
                isSound = try night.reconcile(
                    storeCalls: runs % 3 == 0 ? 60 : nil, detour: strikes.strike
                ).isSound
                runs += 1
                if isSound { try expectTruth(night, "after \(runs) runs") }
            }
            print("struck \(strikes.struck) of \(strikes.calls) calls in \(runs) runs")
            #expect(isSound && strikes.struck > 0)
            try self.expectNothingMore(night)
        }
    }

    private static let lives = givenCount("DEED_YEARS_LIVES", or: 6)

    /// The faults of notifications, and the faults of answers.
    private static let (lossy, ill) = (
        #"{"drop":0.7,"repeat":0.2,"shuffle":1,"delay_by":"2d","wrong_signature":0.05,"seed":7}"#,
        #"{"internal_error":0.03,"limit":0.02,"reset":0.02,"truncate":0.01,"slow":0.005,"#
            + #""slow_ms":300,"endless":0.0005,"wrong_signature":0.02,"seed":8}"#
    )

    @Test("Three nights restore two years with most news lost, under trouble of every kind")
    func years() async throws {
        try await aside {
            let seed = printedSeed(of: "two years")
            var random = SeededGenerator(seed: seed)
            let night = try PracticeNight(
                lives: Self.lives, days: 730, &random)
            try night.suffer(Self.lossy)
            try night.pass(days: 730)
            try night.suffer("{}")
            try night.handInUnknown()
            let wrong = try night.complaints().count
            #expect(wrong > 0)
            try night.suffer(Self.ill)
            let strikes = Strikes(0.01, seed: seed)
            for number in 1...3 {
                let run = try night.reconcile(full: number == 2, detour: strikes.strike)
                let left = try night.complaints()
                print(
                    "night \(number): sound \(run.isSound), \(strikes.calls) calls so far, "
                        + "\(strikes.struck) struck, \(left.count) of \(wrong) complaints left")
                if run.isSound { #expect(left == []) }
            }
            try expectTruth(night)
            try night.suffer("{}")
            try self.expectNothingMore(night)
        }
    }
}
