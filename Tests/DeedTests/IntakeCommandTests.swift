import Core
import JSON
import Ledger
import Minting
import Service
import Telemetry
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The queue and kept evidence on the command line", .serialized, .timeLimit(.minutes(20)))
    struct IntakeCommands {
        private let database: ScratchDatabase
        private let installation: Installation
        private let ledger: Ledger
        private let start = Instant(milliseconds: 1_795_202_460_000)

        init() throws {
            database = try ScratchDatabase()
            installation = try Installation(database)
            ledger = database.ledger()
            _ = try installation.run("project", "create", "default")
        }

        private func queue(_ number: Int) throws {
            let item = try IntakeItem.test(number, at: start)
            _ = try #require(try ledger.addIntake(item, [1]))
        }

        @Test("Items are listed, shown, settled, dropped and retried, with their exit codes")
        func acts() throws {
            #expect(try installation.run("intake", "list").output.contains("No evidence of"))
            try queue(1)
            try queue(2)
            let listed = try installation.run("intake", "list", "--json").json
            #expect(listed["items"]?.array?.count == 2)
            let shown = try installation.run("intake", "show", "i_1", "--json").json
            #expect(shown["state"] == "waiting" && shown["customer"] == "u1")
            let dropped = try installation.run(
                "intake", "drop", "i_1", "--reason", "spam", "--ticket", "T-1", "--json")
            #expect(try dropped.code == 0 && dropped.json["state"] == "dropped")
            #expect(try dropped.json["acted_by"]?.string?.hasPrefix("cli:") == true)
            let text = try installation.run("intake", "show", "i_1")
            #expect(text.output.contains("spam (T-1)"), "\(text.output)")
            let refused = try installation.run("intake", "settle", "i_1", "--reason", "r")
            #expect(refused.code == 1 && refused.errors.contains("already dropped"))
            let retried = try installation.run(
                "intake", "retry", "i_1", "--reason", "no spam", "--json")
            #expect(try retried.json["state"] == "waiting")
            let settled = try installation.run("intake", "settle", "i_2", "--reason", "given")
            #expect(settled.code == 0 && settled.output.contains("settled"))
            let rest = try installation.run("intake", "list", "--state", "settled", "--json").json
            #expect(rest["items"]?.array?.compactMap { $0["intake"]?.string } == ["i_2"])
            let all = try installation.run("intake", "list", "--state", "all", "--json").json
            #expect(all["items"]?.array?.count == 2)
        }

        @Test("Wrong usage gives 2, and an unknown item gives 1")
        func usage() throws {
            for arguments in [
                ["intake"], ["intake", "drop", "i_1"], ["intake", "show"],
                ["intake", "list", "--state", "lost"], ["intake", "list", "--limit", "0"],
            ] {
                #expect(try installation.run(arguments).code == 2, "\(arguments)")
            }
            let unknown = try installation.run("intake", "show", "i_9", "--json")
            #expect(unknown.code == 1)
            #expect(unknown.errors.contains(#"{"error":{"code":"intake_unknown""#))
            let project = try installation.run("intake", "list", "--project", "none")
            #expect(project.code == 1)
        }

        @Test("The status shows how much waits, and raises an alarm after too many attempts")
        func status() throws {
            let empty = try installation.run("status", "--listen", "127.0.0.1:1")
            #expect(empty.output.contains("intake     0 waiting\n"), "\(empty.output)")
            try queue(1)
            try queue(2)
            try database.run("update deed.intake set tries = 6 where id = 'i_2'")
            let json = try installation.run("status", "--listen", "127.0.0.1:1", "--json").json
            #expect(
                json["intake"]
                    == [
                        "waiting": 2, "stuck": 1, "oldest_added_at": "2026-11-20T19:21:00.000Z",
                    ])
            let text = try installation.run("status", "--listen", "127.0.0.1:1").output
            #expect(text.contains("ALARM: 1 tried 6 times or more"), "\(text)")
        }
    }
}
