import Core
import Ledger
import Synchronization
import TestSupport
import Testing

/// Each test removes something while another session has locked it and has not committed yet.
@Suite("Removals while a write is under way", .timeLimit(.minutes(20)))
struct RemovalRaceTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let now = Instant(milliseconds: 1_795_852_800_000)

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
    }

    @Test("A removed webhook leaves no row of a write that was under way")
    func webhook() throws {
        defer { ledger.close() }
        let name = WebhookName(try ProjectID("default"), Identifier(prefix: "wh_", random: "1"))
        let sealed = SealedWebhook(
            name, sealed: [UInt8](repeating: 1, count: 28),
            keyName: [UInt8](repeating: 1, count: 8), revision: 0, version: 1)
        #expect(try ledger.putWebhookSecrets(sealed, from: "c0"))
        let taken = try ledger.takeLease(
            of: name.leaseName, at: now, until: now.advanced(byMilliseconds: 15_000), lastRun: nil)
        let lease = try #require(taken)
        let customer = try CustomerID("u1")
        var made = WebhookProgress(name, WebhookPlace(cursor: "c1"))
        made.waiting = [
            WaitingCustomer(
                customer, at: Position(shard: Shard(number: 3), sequence: 1), version: 1, part: 0,
                attempts: 1, dueAt: nil, recordedAt: now)
        ]
        made.attempts = [
            WebhookAttempt(
                message: "3-1-00", type: "grant.given", customer: customer, attempt: 1, at: now,
                milliseconds: 1, status: 500, error: nil, answer: "", replay: nil, number: 1)
        ]
        let progress = made
        let isKept = Mutex(false)
        try race(
            // A row with the attempt's number holds the write up after it has locked the place.
            holding: """
                insert into deed.webhook_attempts (
                    project, webhook, number, message, type, customer, attempt, at, milliseconds, answer)
                values ('default', '\(name.id.text)', 1, 'm', 't', 'u1', 1, 1, 1, '')
                """,
            write: { [ledger] in
                let isDone = try ledger.keep(progress, under: lease)
                isKept.withLock { $0 = isDone }
            },
            remove: { [ledger] in try ledger.forgetWebhook(name) })
        #expect(isKept.withLock { $0 })
        try expectEmpty(
            "webhook_places", "webhook_waiting", "webhook_attempts", "webhook_replays",
            "webhook_secrets")
    }

    @Test("A removed person leaves no second factor that was being set up")
    func person() throws {
        defer { ledger.close() }
        let person = PersonID(prefix: "pe_", random: "ann")
        let session = [UInt8](repeating: 1, count: 32)
        try database.run(
            """
            insert into deed.people (person, email, created_at)
            values ('\(person.text)', 'ann@example.com', 1);
            insert into deed.sessions (digest, person, started_at, seen_at)
            values (decode(repeat('01', 32), 'hex'), '\(person.text)', 1, 1)
            """)
        let secret = SealedSecret(
            bytes: [UInt8](repeating: 1, count: 64), keyName: [UInt8](repeating: 1, count: 8))
        let factor = SealedFactor(person: person, secret: secret, step: 1)
        let isPut = Mutex(false)
        try race(
            holding: """
                insert into deed.emergency_codes (person, digest)
                values ('\(person.text)', decode(repeat('02', 32), 'hex'))
                """,
            write: { [ledger] in
                let isDone = try ledger.put(
                    factor, emergencyCodes: [[UInt8](repeating: 2, count: 32)], in: session)
                isPut.withLock { $0 = isDone }
            },
            remove: { [ledger] in try ledger.remove(person) })
        #expect(isPut.withLock { $0 })
        try expectEmpty(
            "people", "sessions", "second_factors", "emergency_codes", "begun_sign_ins",
            "person_links", "person_roles")
    }

    /// Inserts a row that holds up `write`, begins `remove` meanwhile, and takes the row back once both wait.
    private func race(
        holding insert: String, write: @escaping @Sendable () throws -> Void,
        remove: @escaping @Sendable () throws -> Void
    ) throws {
        let troubles = Mutex<[String]>([])
        // Holds its row until two other sessions wait for locks, for three seconds at most.
        let holding = """
            begin;
            \(insert);
            do $$ begin
                for round in 1..60 loop
                    perform pg_stat_clear_snapshot();
                    exit when 2 <= (
                        select count(*) from pg_stat_activity
                        where datname = current_database() and wait_event_type = 'Lock');
                    perform pg_sleep(0.05);
                end loop;
            end $$;
            rollback
            """
        inParallel(3) { [database] lane in
            do {
                switch lane {
                case 0: try database.run(holding)
                case 1:
                    _ = try eventually(within: 20_000) {
                        try database.number(RemovalRaceTests.holders) > 0
                    }
                    try write()
                default:
                    _ = try eventually(within: 20_000) {
                        try database.number(RemovalRaceTests.waiters) > 0
                    }
                    try remove()
                }
            } catch {
                troubles.withLock { $0.append("\(lane): \(error)") }
            }
        }
        let found = troubles.withLock { $0 }
        #expect(found == [])
    }

    /// Counts the sessions that hold their row.
    private static let holders = """
        select count(*) from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'
        """
    private static let waiters = """
        select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
        """

    private func expectEmpty(_ tables: String...) throws {
        for table in tables {
            let count = try database.number("select count(*) from deed.\(table)")
            #expect(count == 0, "\(count) rows are left in \(table)")
        }
    }
}
