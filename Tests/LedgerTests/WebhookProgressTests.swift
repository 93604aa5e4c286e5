import Core
import Ledger
import TestSupport
import Testing

@Suite("What is stored of a webhook's deliveries", .timeLimit(.minutes(20)))
struct WebhookProgressTests {
    private static let day: Int64 = 86_400_000
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let name: WebhookName
    private let now = Instant(milliseconds: 1_795_852_800_000)

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
        name = WebhookName(try ProjectID("default"), Identifier(prefix: "wh_", random: "1"))
        let sealed = SealedWebhook(
            name, sealed: [UInt8](repeating: 1, count: 28),
            keyName: [UInt8](repeating: 1, count: 8),
            revision: 0, version: 1)
        #expect(try ledger.putWebhookSecrets(sealed, from: "c0"))
    }

    private func lease(at moment: Instant) throws -> Lease {
        try #require(
            try ledger.takeLease(
                of: name.leaseName, at: moment, until: moment.advanced(byMilliseconds: 15_000),
                lastRun: nil))
    }

    /// Returns progress with attempts of these numbers, made at that moment.
    private func progress(
        _ numbers: ClosedRange<Int64>, at moment: Instant, cursor: String = "c1"
    ) throws -> WebhookProgress {
        var place = WebhookPlace(cursor: cursor)
        place.attempts = numbers.upperBound
        var progress = WebhookProgress(name, place)
        progress.attemptsSince = now.advanced(byMilliseconds: -WebhookAttempt.lifetime)
        let customer = try CustomerID("u1")
        progress.attempts = numbers.map { number in
            WebhookAttempt(
                message: "1-\(number)-00", type: "grant.given", customer: customer, attempt: 1,
                at: moment, milliseconds: 1, status: 204, error: nil, answer: "", replay: nil,
                number: number)
        }
        return progress
    }

    private func numbers() throws -> [Int64] {
        let rows = "from deed.webhook_attempts"
        return try ["count(*)", "coalesce(min(number), 0)", "coalesce(max(number), 0)"].map {
            try database.number("select \($0) \(rows)")
        }
    }

    @Test("At most 10,000 attempts of a webhook are kept, the newest ones")
    func countLimit() throws {
        defer { ledger.close() }
        let lease = try lease(at: now)
        for start in stride(from: Int64(1), through: 10_000, by: 1000) {
            #expect(
                try ledger.keep(progress(start...(start + 999), at: now), under: lease))
        }
        #expect(try numbers() == [10_000, 1, 10_000])
        #expect(try ledger.keep(progress(10_001...10_150, at: now), under: lease))
        #expect(try ledger.keep(progress(10_151...10_151, at: now), under: lease))
        #expect(try numbers() == [10_000, 152, 10_151])
    }

    @Test("Attempts are kept for seven days, and then go, also while nothing is sent")
    func lifetime() throws {
        defer { ledger.close() }
        let lease = try lease(at: now)
        let week = 7 * WebhookProgressTests.day
        let (old, young) = (
            now.advanced(byMilliseconds: -week - 1), now.advanced(byMilliseconds: -week)
        )
        var made = try progress(1...150, at: old)
        made.attemptsSince = .distantPast
        #expect(try ledger.keep(made, under: lease))
        #expect(try numbers() == [150, 1, 150])
        // Each write removes a hundred old attempts.
        #expect(try ledger.keep(progress(151...160, at: young), under: lease))
        #expect(try numbers() == [60, 101, 160])
        for _ in 0..<2 {
            var idle = try progress(160...160, at: young)
            idle.attempts = []
            #expect(try ledger.keep(idle, under: lease))
        }
        #expect(try numbers() == [10, 151, 160])
    }

    @Test("The stored attempts of an erased customer go, and new ones stay")
    func erased() throws {
        defer { ledger.close() }
        let lease = try lease(at: now)
        #expect(try ledger.keep(progress(1...3, at: now), under: lease))
        var other = try progress(4...4, at: now)
        other.forgotten = [try CustomerID("u2")]
        #expect(try ledger.keep(other, under: lease))
        #expect(try numbers() == [4, 1, 4])
        var own = try progress(5...5, at: now)
        own.forgotten = [try CustomerID("u1")]
        #expect(try ledger.keep(own, under: lease))
        #expect(try numbers() == [1, 5, 5])
    }

    @Test("An instance whose lease was taken over writes nothing more")
    func late() throws {
        defer { ledger.close() }
        let frozen = try lease(at: now)
        #expect(try ledger.keep(progress(1...1, at: now), under: frozen))
        let later = now.advanced(byMilliseconds: 15_001)
        let successor = try lease(at: later)
        #expect(try ledger.keep(progress(2...5, at: later, cursor: "c5"), under: successor))
        var late = try progress(2...3, at: later, cursor: "c3")
        late.waiting = [
            WaitingCustomer(
                try CustomerID("u1"), at: Position(shard: Shard(number: 3), sequence: 1),
                version: 1, part: 0, attempts: 1, dueAt: nil, recordedAt: now)
        ]
        #expect(try !ledger.keep(late, under: frozen))
        #expect(try numbers() == [5, 1, 5])
        #expect(try database.text("select cursor from deed.webhook_places") == "c5")
        #expect(try ledger.waitingCustomers(of: name, limit: 9).isEmpty)
    }
}
