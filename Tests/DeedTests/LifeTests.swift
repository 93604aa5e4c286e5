import Foundation
import Glibc
import JSON
import Postgres
import Synchronization
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("The life of a service", .serialized, .timeLimit(.minutes(20)))
    struct Life {
        private static let grant = #"{"entitlement":"pro","reason":"r"}"#

        @Test("SIGTERM finishes current work, accepts nothing new and stops the database")
        func terminated() throws {
            let installation = try Installation()
            let service = try installation.serve()
            let key = try installation.makeKey()
            let hold = try Hold(installation.databaseURL)
            let answer = Monitor<Int?>(nil)
            startThread("in flight") {
                var client = try? APIClient(key: key)
                let reply = try? client?.send(
                    "POST", "\(service.url)/v1/customers/u1/grants", body: Life.grant)
                answer.change { $0 = reply?.status ?? 0 }
            }
            #expect(try eventually(within: 5000) { try hold.isWaitedFor })
            service.process.signal(SIGTERM)
            #expect(
                eventually(within: 5000) {
                    (try? RawClient(port: service.port)) == nil
                })
            #expect(service.process.wait(milliseconds: 300) == nil)
            hold.release()
            #expect(answer.wait(milliseconds: 10_000) { $0 } == 201)
            #expect(service.process.wait(milliseconds: 20_000) == 0)
            #expect(installation.postmaster == nil)

            let next = try installation.serve()
            var client = try APIClient(key: key)
            #expect(try client.events(of: "u1", at: next.url).count == 1)
        }

        @Test("A killed service leaves nothing behind that stops the next one")
        func killed() throws {
            let installation = try Installation()
            var service = try installation.serve()
            let key = try installation.makeKey()
            for round in 1...3 {
                var client = try APIClient(key: key)
                let answer = try client.send(
                    "POST", "\(service.url)/v1/customers/u1/grants", body: Life.grant)
                #expect(answer.status == 201)
                service.process.signal(SIGKILL)
                _ = service.process.wait(milliseconds: 5000)
                if round == 2 {
                    for process in installation.postgresProcesses { kill(process, SIGKILL) }
                }
                service = try installation.serve()
                #expect(try client.events(of: "u1", at: service.url).count == round)
            }
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 20_000) == 0)
            #expect(installation.postmaster == nil)
        }

        @Test("A database that vanishes under a service is waited for, and not replaced")
        func vanished() throws {
            let installation = try Installation()
            let service = try installation.serve()
            var client = try APIClient(key: try installation.makeKey())
            let path = "\(service.url)/v1/customers/u1/grants"
            #expect(try client.send("POST", path, body: Life.grant).status == 201)
            let (folder, away) = (
                "\(installation.dataFolder)/postgres", "\(installation.dataFolder)/postgres.away"
            )
            let postmaster = try #require(installation.postmaster)
            #expect(rename(folder, away) == 0)
            kill(postmaster, SIGQUIT)
            #expect(
                eventually(within: 30_000) {
                    service.log.contains("disappeared while it was in use")
                })
            #expect(access(folder, F_OK) != 0)
            // A folder with a mounted disk already exists.
            #expect(mkdir(folder, 0o700) == 0)
            #expect(try installation.run("key", "list").code == 1)
            #expect(
                try installation.run("migrate").errors.contains("disappeared while it was in use"))
            #expect(rmdir(folder) == 0)
            #expect(try client.send("POST", path, body: Life.grant).status == 503)
            #expect(rename(away, folder) == 0)
            #expect(
                eventually(within: 60_000) {
                    (try? client.events(of: "u1", at: service.url).count) == 1
                })
        }

        @Test("A suspended PostgreSQL is reported, and not waited for")
        func silent() throws {
            let installation = try Installation()
            _ = try installation.serve()
            let processes = installation.postgresProcesses
            for process in processes { kill(process, SIGSTOP) }
            let shown = try installation.run("status", "--listen", "127.0.0.1:1")
            for process in processes { kill(process, SIGCONT) }
            #expect(shown.code == 3)
            #expect(shown.errors.contains("does not answer"), "\(shown.errors)")
        }

        @Test("A second service on one data folder is told about the first; commands still work")
        func second() throws {
            let installation = try Installation()
            // If no server runs, the command starts the database and stops it again.
            #expect(try installation.run("project", "create", "default").code == 0)
            #expect(installation.postmaster == nil)
            let service = try installation.serve()
            let refused = try installation.run("serve", "--listen", "127.0.0.1:0")
            #expect(refused.code == 1)
            #expect(refused.errors.contains(" \(service.process.id),"), "\(refused.errors)")
            #expect(refused.errors.contains(installation.dataFolder))
            let listed = try installation.run("project", "list", "--json")
            #expect(try listed.json["projects"]?.array?.count == 1)
            #expect(installation.postmaster != nil)
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 20_000) == 0)
            let third = try installation.serve()
            #expect(third.process.wait(milliseconds: 0) == nil)
        }

        @Test("An answer lost in a crash is given again under its key, for one event")
        func lostAnswer() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let key = try installation.makeKey()
            let service = try installation.serve()
            let raw = try RawClient(port: service.port)
            raw.send(
                "POST /v1/customers/u1/grants HTTP/1.1\r\nHost: h\r\nIdempotency-Key: lost\r\n"
                    + "Authorization: Bearer \(key)\r\nContent-Length: \(Life.grant.utf8.count)"
                    + "\r\n\r\n\(Life.grant)")
            let recorded = "select count(*) from deed.events where cause = 'key:lost'"
            #expect(try eventually(within: 5000) { try database.number(recorded) == 1 })
            // The client never reads the answer.
            service.process.signal(SIGKILL)
            _ = service.process.wait(milliseconds: 5000)

            let next = try installation.serve()
            var client = try APIClient(key: key)
            let url = "\(next.url)/v1/customers/u1/grants"
            var answers: Set<String> = []
            for _ in 0..<3 {
                let answer = try client.send("POST", url, body: Life.grant, idempotencyKey: "lost")
                #expect(answer.status == 201)
                answers.insert(answer.text)
            }
            #expect(answers.count == 1)
            let events = try client.events(of: "u1", at: next.url)
            #expect(events.count == 1)
            let answer = try JSON.read(answers.first ?? "")
            #expect(answer["grant"]?["id"] == events.first?["data"]?["grant"])
            #expect(answer["position"] == events.first?["position"])
        }

        @Test(
            "A service refuses a schema that is not its own, and says what to run",
            arguments: [
                (false, "select 1", "no Deed schema yet; run: deed migrate"),
                (true, "delete from deed.migrations", "run: deed migrate"),
                (true, "update deed.migrations set number = number + 1000", "deed migrate"),
            ])
        func schema(_ isMigrated: Bool, _ change: String, _ sentence: String) throws {
            let database = try ScratchDatabase(migrated: isMigrated)
            try database.run(change)
            let installation = try Installation(database)
            for command in [["serve", "--listen", "127.0.0.1:0"], ["project", "list"]] {
                let refused = try installation.run(command)
                #expect(refused.code == 3)
                #expect(refused.errors.contains(sentence), "\(refused.errors)")
            }
        }

        @Test("A database of a build before the first release is refused, with advice")
        func unreleased() throws {
            let database = try ScratchDatabase()
            try database.run(
                """
                update deed.migrations set name = '0001_ledger';
                insert into deed.migrations select 29, '0029_named_columns', digest, applied_at
                from deed.migrations where number = 1
                """)
            let installation = try Installation(database)
            for command in [
                ["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["status"], ["audit"],
            ] {
                let refused = try installation.run(command)
                #expect(refused.code == 1, "\(refused.errors)")
                #expect(refused.errors.contains("before 0.1.0"), "\(refused.errors)")
                #expect(refused.errors.contains("drop the schema deed"))
            }
            let refused = try installation.run("migrate", "--dry-run", "--json")
            #expect(refused.code == 1 && refused.errors.contains("\"schema_unreleased\""))
            try database.run("drop schema deed cascade")
            #expect(try installation.run("migrate").code == 0)
            #expect(try installation.run("project", "list").code == 0)
        }

        @Test("After deed migrate the service starts")
        func migrated() throws {
            let database = try ScratchDatabase(migrated: false)
            let installation = try Installation(database)
            let pending = try installation.run("migrate", "--dry-run", "--json")
            #expect(try pending.json["missing"]?.array?.isEmpty == false)
            #expect(
                try database.number("select count(*) from pg_namespace where nspname = 'deed'") == 0
            )
            let applied = try installation.run("migrate", "--json")
            #expect(try applied.json["applied"] == pending.json["missing"])
            #expect(try installation.run("migrate", "--json").json["applied"] == [])
            _ = try installation.serve()
        }

        @Test("With an existing database, a service is ready soon")
        func readyTime() throws {
            let installation = try Installation(try ScratchDatabase())
            let start = monotonicMilliseconds()
            let service = try installation.serve()
            let elapsed = monotonicMilliseconds() - start
            #expect(elapsed < 3000)
            var client = try APIClient(key: "none")
            #expect(try client.send("GET", "\(service.url)/readyz").status == 200)
        }

        @Test("An instance whose database is gone says so, and is ready again when it is back")
        func unready() throws {
            let installation = try Installation()
            let service = try installation.serve()
            var client = try APIClient(key: "none")
            func status() throws -> Int { try client.send("GET", "\(service.url)/readyz").status }
            #expect(try status() == 200)
            for process in installation.postgresProcesses { kill(process, SIGKILL) }
            #expect(try eventually(within: 10_000) { try status() == 503 })
            #expect(try client.send("GET", "\(service.url)/healthz").status == 200)
            #expect(try eventually(within: 30_000) { try status() == 200 })
        }
    }
}

/// Prevents all other sessions from writing to the log.
private final class Hold: Sendable {
    private let state = Monitor((isHeld: false, isOver: false))
    private let url: String

    init(_ url: String) throws {
        self.url = url
        var settings = ConnectionSettings(url: url, role: nil)
        settings.silentLockMilliseconds = 0
        let connection = try Connection.open(settings)
        let held = Mutex<Connection?>(connection)
        startThread("hold") { [state] in
            held.withLock { connection in
                try? connection?.run([Hold.begin(), Hold.lock()])
                state.change { $0.isHeld = true }
                state.wait { $0.isOver ? () : nil }
                connection = nil
            }
        }
        state.wait { $0.isHeld ? () : nil }
    }

    deinit { release() }

    var isWaitedFor: Bool {
        get throws {
            try queriedNumber("select count(*) from pg_locks where not granted", at: url) > 0
        }
    }

    func release() { state.change { $0.isOver = true } }

    private static let begin = Statement("begin")
    private static let lock = Statement(
        "lock table deed.shards in access exclusive mode")
}
