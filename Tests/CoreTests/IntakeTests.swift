import Core
import Testing

@Suite("Queued evidence")
struct IntakeTests {
    private static let now = Instant(milliseconds: 1_795_202_460_000)
    private static let minute: Int64 = 60_000
    private let act: AdminAct
    private let fresh: IntakeItem

    init() throws {
        act = AdminAct(
            actor: try Actor("key:k1"), reason: try Reason("given by hand"),
            ticket: try Ticket("T-1"))
        let heading = EvidenceHeading(
            digest: [UInt8](repeating: 7, count: 32), kind: "app_receipt", environment: .production,
            app: try AppID("com.example.game"))
        let wish = IntakeWish(
            project: try ProjectID("default"), purpose: .submit(try CustomerID("u1")), order: nil,
            heading: heading)
        fresh = IntakeItem(try IntakeID("i_1"), wish, now: Self.now)
    }

    private func tried(_ tries: Int64) -> IntakeItem {
        IntakeItem(
            id: fresh.id, wish: fresh.wish, state: fresh.state, tries: tries, retriedBy: nil,
            addedAt: fresh.addedAt, changedAt: fresh.changedAt, revision: 3)
    }

    private static let reason = IntakeReason(code: "21005", sentence: "The store is down.")
    private static let refusal = RefusedEvidence(
        code: reason.code, sentence: reason.sentence)

    @Test(
        "The pause after an attempt grows in steps up to three hours",
        arguments: [
            (1, 5), (2, 30), (3, 120), (4, 600), (5, 1800), (6, 3600), (7, 10_800), (8, 10_800),
            (1000, 10_800), (.max, 10_800),
        ] as [(Int64, Int64)])
    func pauses(_ tries: Int64, _ seconds: Int64) {
        let shortest = IntakeItem.pause(afterTries: tries, jitter: 0)
        let longest = IntakeItem.pause(afterTries: tries, jitter: .max)
        #expect(shortest == seconds * 900 && longest == seconds * 1100)
        let middle = IntakeItem.pause(afterTries: tries, jitter: .max / 2)
        #expect((seconds * 999...seconds * 1001).contains(middle))
        let item = tried(tries).judged(.tryAgain(Self.reason), now: Self.now, jitter: 0)
        #expect(item.nextTry == Self.now.advanced(byMilliseconds: seconds * 900))
    }

    @Test("Different jitter spreads items that failed together")
    func jitter() {
        let pauses = (0..<64).map { IntakeItem.pause(afterTries: 3, jitter: UInt16($0) << 10) }
        #expect(Set(pauses).count == 64)
    }

    @Test("An operator should look after about three quarters of an hour")
    func alarm() {
        let tries = 1..<IntakeItem.alarmTries
        let waited = tries.reduce(0) { $0 + IntakeItem.pause(afterTries: $1, jitter: .max / 2) }
        #expect((40 * Self.minute...50 * Self.minute).contains(waited))
    }

    @Test("A taken item comes back after its lease, later each time")
    func lease() {
        func end(_ tries: Int64) -> Int64 {
            IntakeItem.leaseEnd(takenAt: Self.now, tries: tries).milliseconds
                - Self.now.milliseconds
        }
        for tries in 1...3 as ClosedRange<Int64> { #expect(end(tries) == 5 * Self.minute) }
        #expect(end(5) > 29 * Self.minute && end(9) > 179 * Self.minute)
    }

    @Test("The store's request for a longer pause is followed, up to a day")
    func storesWish() {
        func nextTry(_ after: Int64) -> Int64? {
            let wanted = Self.now.advanced(byMilliseconds: after)
            return tried(1).judged(
                .tryAgain(Self.reason, after: wanted), now: Self.now, jitter: 0
            ).nextTry.map { $0.milliseconds - Self.now.milliseconds }
        }
        #expect(nextTry(-Self.minute) == 4500)
        #expect(nextTry(Self.minute) == Self.minute)
        #expect(nextTry(1_000 * 60 * Self.minute) == 24 * 60 * Self.minute)
    }

    @Test("A verdict ends the wait, or says why it continues")
    func verdicts() {
        let result = IntakeResult(purchase: "apple:1", transaction: "1", outcome: "recorded")
        let later = Self.now.advanced(byMilliseconds: 1)
        let believed = tried(1).judged(.believed([result]), now: later, jitter: 0)
        #expect(believed.state == .believed([result]) && believed.nextTry == nil)
        #expect(believed.changedAt == later && believed.revision == 3 && believed.tries == 1)
        let refused = tried(1).judged(.refused(Self.refusal), now: later, jitter: 0)
        #expect(refused.state == .refused(Self.reason) && refused.reason == Self.reason)
        let waiting = tried(1).judged(.tryAgain(Self.reason), now: later, jitter: 0)
        #expect(waiting.state.word == .waiting && waiting.reason == Self.reason)
    }

    @Test("A waiting or refused item can be settled or dropped, once")
    func ended() throws {
        let refused = tried(1).judged(.refused(Self.refusal), now: Self.now, jitter: 0)
        for item in [fresh, refused] {
            let settled = try item.decided(.settle, by: act, now: Self.now)
            #expect(settled.state == .settled(act) && settled.act == act)
            let other = AdminAct(actor: act.actor, reason: act.reason, ticket: nil)
            #expect(try settled.decided(.settle, by: other, now: Self.now) == settled)
            #expect(throws: Refusal.intake(.ended(fresh.id, .settled))) {
                try settled.decided(.drop, by: act, now: Self.now)
            }
            #expect(try item.decided(.drop, by: act, now: Self.now).state == .dropped(act))
        }
        let believed = tried(1).judged(.believed([]), now: Self.now, jitter: 0)
        #expect(throws: Refusal.intake(.ended(fresh.id, .believed))) {
            try believed.decided(.settle, by: act, now: Self.now)
        }
    }

    @Test("A retry makes it due at once, like a new one, unless it is believed")
    func retried() throws {
        let later = Self.now.advanced(byMilliseconds: Self.minute)
        let waiting = tried(9).judged(.tryAgain(Self.reason), now: Self.now, jitter: 0)
        let refused = tried(9).judged(.refused(Self.refusal), now: Self.now, jitter: 0)
        let items = [
            waiting, refused, try waiting.decided(.settle, by: act, now: Self.now),
            try waiting.decided(.drop, by: act, now: Self.now),
        ]
        for item in items {
            let retried = try item.decided(.retry, by: act, now: later)
            #expect(retried.nextTry == later && retried.tries == 0 && retried.act == act)
            #expect(retried.reason == item.reason)
        }
        let believed = tried(1).judged(.believed([]), now: Self.now, jitter: 0)
        #expect(throws: Refusal.intake(.ended(fresh.id, .believed))) {
            try believed.decided(.retry, by: act, now: later)
        }
    }
}
