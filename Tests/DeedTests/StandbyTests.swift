import Core
import JSON
import Ledger
import Postgres
import Telemetry
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Writes that need a standby's confirmation", .serialized, .timeLimit(.minutes(20)))
    struct Standby {
        private let pair: PostgresPair
        private let installation: Installation
        private let service: RunningService
        private let key: String

        init() throws {
            pair = try PostgresPair()
            installation = try Installation(url: pair.url)
            (service, key) = try installation.begin()
            try pair.makeSynchronous()
        }

        private func grant(_ name: String) throws -> Int {
            var client = try APIClient(key: key)
            return try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"\#(name)","reason":"r","allow_unknown":true}"#,
                idempotencyKey: name
            ).status
        }

        @Test("A repeated write waits for a silent standby as a new one does")
        func silent() throws {
            #expect(try grant("first") == 201)
            #expect(try grant("first") == 201)
            // The standby stays connected, so Deed attempts each write before it refuses.
            try pair.signal(.standby, "STOP")
            #expect(try grant("first") == 503)
            try pair.signal(.standby, "CONT")
            #expect(try eventually(within: 20_000) { try grant("first") == 201 })
        }

        @Test("A write that a standby never confirmed is not acknowledged on repetition")
        func unconfirmed() throws {
            let ledger = ledger()
            defer { ledger.close() }
            let give = try Command.give("pro", to: .test("u1"), grant: "g1")
            // These items are far in the future, so that the service does not judge them.
            let start = Instant(milliseconds: 4_102_444_800_000)
            let reason = try Reason("by hand")
            let act = AdminAct(actor: try Actor("key:k1"), reason: reason, ticket: nil)
            let queued = try #require(try ledger.addIntake(.test(1, at: start), [1]))
            try pair.stop(.standby)
            // Only the primary commits these writes, and Deed does not acknowledge them.
            #expect(throws: CommandError.self) { try ledger.append(give) }
            #expect(throws: Fault.self) { try ledger.addIntake(.test(2, at: start), [2]) }
            let settled = try queued.decided(.settle, by: act, now: start)
            #expect(throws: CommandError.self) { try ledger.changeIntake(settled) }
            try pair.stop(.primary)
            try pair.start(.primary)
            let given = "select count(*) from deed.events where type = 'grant.given'"
            #expect(try queriedNumber(given, at: pair.url(of: .primary)) == 1)
            let kept = "select (count(*) + sum(revision))::bigint from deed.intake"
            #expect(try queriedNumber(kept, at: pair.url(of: .primary)) == 3)
            // If the store and the sender ask again, Deed still refuses. The primary might be lost
            // right after an answer.
            #expect(throws: CommandError.self) { try ledger.append(give) }
            let again = try IntakeItem(
                IntakeID("i_3"), IntakeItem.test(2, at: start).wish, now: start)
            #expect(throws: Fault.self) { try ledger.addIntake(again, [2]) }
            #expect(throws: CommandError.self) { try ledger.changeIntake(settled) }

            try pair.start(.standby)
            #expect(eventually(within: 20_000) { (try? ledger.append(give)) != nil })
            #expect(try ledger.addIntake(again, [2])?.id.text == "i_2")
            #expect(try ledger.changeIntake(settled))
        }

        @Test("A refused command waits for no standby, even while a session holds other shards")
        func refused() throws {
            let ledger = ledger()
            defer { ledger.close() }
            let held = try Stream.test("u1")
            _ = try ledger.append(.give("pro", to: held, grant: "g1"))
            try pair.stop(.standby)
            var settings = ConnectionSettings(url: pair.url(of: .primary), role: nil)
            settings.silentLockMilliseconds = 0
            var holder = try Connection.open(settings)
            let lock =
                "begin; select * from deed.shards where shard = \(held.shard.number) for update"
            try holder.run(Script(embedded: Array(lock.utf8)))
            ledger.submit(try .give("vip", to: held, grant: "g2")) { _ in }
            // The committer has put the command aside.
            pause(milliseconds: 500)
            let other = try #require(
                try (2..<100).map { try Stream.test("u\($0)") }.first { $0.shard != held.shard })
            let started = monotonicMilliseconds()
            #expect {
                try ledger.append(.revoke("g9", of: other, key: "r"))
            } throws: { error in
                if case .refused? = error as? CommandError { true } else { false }
            }
            #expect(monotonicMilliseconds() - started < 1000)
            try holder.run(Script(embedded: Array("rollback".utf8)))
        }

        @Test("Nothing that would wait for a missing standby takes a connection")
        func beside() throws {
            let ledger = ledger()
            defer { ledger.close() }
            let lease = Lease(name: "job", fence: 1)
            let begun = DurableReader("begun", from: .end)
            _ = try ledger.read(by: begun, under: lease) { _ in }
            _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
            try pair.stop(.standby)
            #expect(
                try eventually(within: 10_000) {
                    _ = try ledger.look()
                    return ledger.impediments.contains { $0.kind == .noStandby }
                })
            let now = Instant(milliseconds: 1_795_202_460_000)
            let item = try IntakeItem.test(1, at: now)
            let app = StoreApp(
                project: try ProjectID("default"),
                key: AppKey(store: .apple, id: try AppID("com.example.app")))
            let writes: [() throws -> Void] = [
                { _ = try ledger.addIntake(item, [1]) }, { _ = try ledger.takeIntake(now: now) },
                { _ = try ledger.changeIntake(item) },
                { _ = try ledger.cleanIntake(endedBefore: now, under: lease) },
                { _ = try ledger.takeLease(of: "job", at: now, until: now, lastRun: nil) },
                { _ = try ledger.keep(lease, until: now) },
                { try ledger.end(lease, ranAt: now) },
                { try ledger.forgetCredentials(of: app, before: 1) },
                { try ledger.markNotifications(of: app, in: .sandbox, until: now) },
                {
                    let new = DurableReader("new", from: .beginning)
                    _ = try ledger.read(by: new, under: lease) { _ in }
                },
                {
                    _ = try ledger.read(by: begun, under: lease) { _ in
                        Issue.record("handed over although the cursor cannot be moved")
                    }
                },
            ]
            let started = monotonicMilliseconds()
            for (place, write) in writes.enumerated() {
                #expect("\(place)") { try write() } throws: { error in
                    let fault = error as? Fault ?? (error as? CommandError)?.fault
                    guard case .impeded(let impediment)? = fault else { return false }
                    return impediment.kind == .noStandby
                }
            }
            #expect(monotonicMilliseconds() - started < 1000)
        }

        @Test("Sessions of a suspended server are given up, idle ones too")
        func standsStill() throws {
            let ledger = ledger("stands-still")
            defer { ledger.close() }
            _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
            _ = try ledger.look()
            let clock = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint"
            let before = try queriedNumber(clock, at: pair.url(of: .primary))
            let old = """
                select count(*) from pg_stat_activity where application_name = 'stands-still'
                    and backend_start <= to_timestamp(\(before) / 1000000.0)
                """
            #expect(try queriedNumber(old, at: pair.url(of: .primary)) == 2)
            try pair.signal(.primary, "STOP")
            #expect(throws: Fault.self) { try ledger.look() }
            try pair.signal(.primary, "CONT")
            #expect(
                eventually(within: 20_000) {
                    (try? ledger.append(.give("pro", to: .test("u1"), grant: "g2"))) != nil
                })
            #expect(
                try eventually(within: 20_000) {
                    try queriedNumber(old, at: pair.url(of: .primary)) == 0
                })
        }

        /// Returns a ledger that looks only when asked. It therefore notices the missing standby
        /// only through its own writes.
        private func ledger(_ name: String = "deed") -> Ledger {
            var connection = ConnectionSettings(
                url: pair.url(of: .primary), role: LedgerSettings.serviceRole,
                applicationName: name, statementTimeoutMilliseconds: 500)
            connection.silentLockMilliseconds = 10_000
            var settings = LedgerSettings(connection: connection) {
                Instant(milliseconds: 1_795_202_460_000)
            }
            settings.committers = 1
            settings.patienceMilliseconds = 1500
            return Ledger(settings, log: .silent, metrics: Metrics())
        }

        @Test(
            "Without a connected standby every write is refused at once, and succeeds later")
        func missing() throws {
            #expect(try grant("first") == 201)
            try pair.stop(.standby)
            // As long as no standby confirms commits, a second sender gets the same answer as the first.
            #expect(try grant("second") == 503)
            #expect(try grant("second") == 503)
            #expect(try grant("first") == 503)
            #expect(try eventually(within: 5000) { try ready() == 503 })
            #expect(try ready("?for=reads") == 200)
            let reasons = try body("/readyz")
            #expect(reasons.contains("Commits wait for 1 standby, but none is connected"))
            // Deed refuses immediately, because each attempt would leave a waiting session.
            let started = monotonicMilliseconds()
            #expect(try grant("third") == 503)
            #expect(monotonicMilliseconds() - started < 2000)
            try pair.start(.standby)
            #expect(
                try eventually(within: 20_000) { try grant("second") == 201 })
            #expect(try grant("first") == 201)
            #expect(try eventually(within: 5000) { try ready() == 200 })
        }

        private func ready(_ query: String = "") throws -> Int {
            var client = try APIClient(key: key)
            return try client.send("GET", "\(service.url)/readyz\(query)").status
        }

        private func body(_ path: String) throws -> String {
            var client = try APIClient(key: key)
            return try client.send("GET", service.url + path).text
        }
    }
}

extension CommandError {
    fileprivate var fault: Fault? {
        if case .fault(let fault) = self { fault } else { nil }
    }
}
