import Core
import Foundation
import Histories
import JSON
import TestSupport
import Testing

/// `DEED_LIVES` sets the number of lives.
@Suite("The nightly run after lost notifications", .serialized, .timeLimit(.minutes(20)))
struct NightTests {
    private let lives = givenCount("DEED_LIVES", or: 100)

    private func counts(
        _ finished: ReconciliationFinished, _ step: ReconcileStep
    ) -> StepCounts { finished.steps[step] ?? StepCounts() }

    @Test("One reconciliation restores every life from the store's records; the next finds nothing")
    func lossy() async throws {
        try await aside {
            var random = SeededGenerator(seed: printedSeed(of: "lossy night"))
            let night = try PracticeNight(lives: self.lives, ofEachState: true, &random)
            try night.suffer(#"{"drop":0.3,"repeat":0.2,"shuffle":1,"delay_by":"2d","seed":9}"#)
            try night.pass(days: 112)
            try night.suffer("{}")
            try night.pass(days: 3)
            #expect(try !night.complaints().isEmpty)
            let before = try night.tables()
            let rehearsed = try night.reconcile(rehearsing: true)
            #expect(try night.tables() == before)
            let first = try night.reconcile()
            #expect(first.isSound, "\(first.errors)")
            try expectTruth(night, "the night")
            #expect(
                night.states().isSuperset(of: ["active", "grace", "retry", "ended", "revoked"]))
            #expect(self.counts(first, .notifications).found > Int64(self.lives) / 4)
            // A rehearsal does not request histories. It only counts the customers.
            for step in ReconcileStep.allCases where step != .history {
                #expect(
                    self.counts(rehearsed, step).found == self.counts(first, step).found, "\(step)")
            }
            for step in [ReconcileStep.boundaries, .notifications, .subscriptions] {
                #expect(self.counts(rehearsed, step).lookedAt == self.counts(first, step).lookedAt)
                #expect(self.counts(rehearsed, step).mended == 0)
                #expect(self.counts(first, step).mended == self.counts(first, step).found)
            }
            try self.expectNothingMore(night)
        }
    }

    /// The faults that answers have in the run after an outage.
    private static let unsteady =
        #"{"internal_error":0.03,"limit":0.02,"reset":0.02,"truncate":0.01,"seed":4}"#

    @Test(
        "The same after a week without deliveries, with a store that fails and wants pauses"
    )
    func unheard() async throws {
        try await aside {
            var random = SeededGenerator(seed: printedSeed(of: "night after a week unheard"))
            // If all lives were random, it could happen that no data is missing.
            let night = try PracticeNight(lives: self.lives * 2 / 5, ofEachState: true, &random)
            try night.pass(days: 80)
            night.cutOff(true)
            try night.pass(days: 8)
            night.cutOff(false)
            try night.pass(days: 1)
            try self.expectOneNightSuffices(night, onTheWay: NightTests.unsteady)
        }
    }

    @Test(
        "The same after a week in which the store sent nothing and answered nothing",
        arguments: [("{}", ["reset", "internal_error", "limit"]), (unsteady, ["limit"])])
    func outage(onTheWay trouble: String, answers: [String]) async throws {
        try await aside {
            var random = SeededGenerator(seed: printedSeed(of: "night after an outage"))
            let night = try PracticeNight(lives: self.lives * 2 / 5, ofEachState: true, &random)
            try night.pass(days: 105)
            for answer in answers {
                try night.suffer(#"{"drop":1,"\#(answer)":1,"seed":5}"#)
                try night.pass(days: Int64(6 / answers.count))
                let during = try night.reconcile()
                #expect(during.errors.contains { $0.hasPrefix("notifications: ") }, "\(answer)")
                for step in [ReconcileStep.notifications, .subscriptions] {
                    #expect(self.counts(during, step).found == 0, "\(answer)")
                }
            }
            try night.pass(days: 2)
            try self.expectOneNightSuffices(night, onTheWay: trouble)
        }
    }

    /// Expects one reconciliation to find everything that is missing, and the next one to find nothing.
    private func expectOneNightSuffices(_ night: PracticeNight, onTheWay trouble: String) throws {
        #expect(try !night.complaints().isEmpty)
        try night.suffer(trouble)
        let first = try night.reconcile()
        #expect(first.isSound, "\(first.errors)")
        try expectTruth(night)
        #expect(counts(first, .notifications).found > 0)
        try expectNothingMore(night)
    }

    @Test(
        "Wrong signatures in the store's answers are reported, and a later night repairs the gap")
    func wrongSignatures() async throws {
        try await aside {
            var random = SeededGenerator(seed: printedSeed(of: "nights of wrong signatures"))
            let night = try PracticeNight(lives: 10, &random)
            try night.pass(days: 60)
            night.cutOff(true)
            try night.pass(days: 8)
            night.cutOff(false)
            try night.suffer(#"{"wrong_signature":1,"seed":6}"#)
            let first = try night.reconcile()
            #expect(!first.isSound)
            #expect(
                first.errors.contains { $0.contains("signature_invalid") }, "\(first.errors)")
            try night.suffer(#"{"wrong_signature":0.1,"seed":6}"#)
            var last = first
            for _ in 0..<40 where !last.isSound { last = try night.reconcile() }
            #expect(last.isSound, "\(last.errors)")
            try expectTruth(night)
            try night.suffer("{}")
            try self.expectNothingMore(night)
        }
    }

    @Test("An app without a key is reported as left out; one whose store fails is an error")
    func apps() async throws {
        try await aside {
            var random = SeededGenerator(seed: 1)
            let night = try PracticeNight(lives: 1, &random)
            try night.call("PUT", "/v1/apps/com.example.other", [:])
            try night.pass(days: 60)
            try night.suffer(#"{"internal_error":1,"seed":4}"#)
            let failing = try night.reconcile()
            #expect(!failing.isSound)
            #expect(
                failing.notes.contains { $0.contains("com.example.other: The app was left out") })
            #expect(
                failing.errors.contains {
                    $0.hasPrefix(
                        "notifications: com.example.game (3 times): The store cannot be reached")
                }, "\(failing.errors)")
            #expect(failing.steps[.chain] != StepCounts())
            try night.suffer("{}")
            #expect(try night.reconcile().isSound)
            try expectTruth(night)
        }
    }

    private func expectNothingMore(_ night: PracticeNight) throws {
        let events = try night.service.eventCount()
        let evidence = try night.service.database.number("select count(*) from deed.evidence")
        let second = try night.reconcile()
        #expect(second.isSound, "\(second.errors)")
        #expect(try night.publishedTwice() == 0)
        for (step, counts) in second.steps where step != .intake {
            #expect(counts.found == 0, "\(step)")
        }
        #expect(try night.service.eventCount() == events + 2)
        #expect(
            try night.service.database.number("select count(*) from deed.evidence") == evidence)
    }
}
