import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Setting up", .serialized, .timeLimit(.minutes(20)))
    struct Setup {
        /// Without questions, setup chooses a private database, keys, and other common settings.
        @Test("Without questions it makes everything missing, and the second time nothing")
        func unasked() throws {
            let installation = try Installation()
            let address = "127.0.0.1:\(try freePort())"
            let first = try installation.run("setup", "--yes", "--json", "--listen", address)
            #expect(first.code == 0, "\(first.errors)")
            #expect(try first.states == Array(repeating: "done", count: 6))
            let before = try contents(of: installation.dataFolder)
            let again = try installation.run("setup", "--yes", "--json")
            #expect(again.code == 0, "\(again.errors)")
            #expect(try again.states == Array(repeating: "there", count: 6))
            #expect(try again.json["url"]?.string == "http://\(address)")
            #expect(try contents(of: installation.dataFolder) == before)
            let keys = try installation.run("key", "list", "--json").json["keys"]?.array
            #expect(keys?.count == 3)
            for name in before.keys where name.hasPrefix("keys") || name == "environment" {
                #expect(mode(of: "\(installation.dataFolder)/\(name)") & 0o077 == 0, "\(name)")
            }
        }

        @Test("Its three commands serve, grant and read when pasted")
        func pasted() throws {
            let installation = try Installation()
            let address = "127.0.0.1:\(try freePort())"
            let set = try installation.run("setup", "--yes", "--listen", address)
            #expect(set.code == 0, "\(set.errors)")
            let commands = set.output.split(separator: "\n").suffix(3).joined(separator: "\n")
            let shell = try Shell("trap 'kill $!; wait' EXIT\n\(commands)", [:])
            #expect(shell.code == 0, "\(shell.errors)")
            #expect(shell.output.contains(#""pro":{"active":true"#), "\(shell.output)")
        }

        @Test("Wrong answers are asked again with the reason, and right ones are carried out")
        func asked() throws {
            let installation = try Installation()
            let (taken, port) = try boundSocket()
            defer { close(taken) }
            try #require(listen(taken, 8) == 0)
            let address = "127.0.0.1:\(try freePort())"
            let answers = [
                "mysql://db", "private", "8080", "127.0.0.1:\(port)", address, "my\u{1}game",
                "game",
                "", "25:00", "04:30", "maybe", "yes",
            ]
            let set = try installation.setup(
                answering: answers.map { $0 + "\n" }.joined())
            #expect(set.code == 0, "\(set.errors)")
            for reason in [
                "the address of a PostgreSQL", "is not an address to listen on", "is in use",
                "cannot be printed", "as in 03:00", "Answer yes or no",
            ] { #expect(set.errors.contains(reason), "\(set.errors)") }
            let settings = try contents(of: installation.dataFolder)["environment"] ?? ""
            #expect(settings.contains("DEED_LISTEN=\(address)\n"), "\(settings)")
            #expect(settings.contains("DEED_RECONCILE_AT=04:30\n"), "\(settings)")
            #expect(try installation.run("project", "list").output.hasPrefix("game "))
        }

        @Test(
            "A no, or no answer, changes nothing",
            arguments: ["private\n\n\n\n\nno\n", "private\n\n\n", ""])
        func declined(lines: String) throws {
            let installation = try Installation()
            let free = "DEED_LISTEN=127.0.0.1:\(try freePort())"
            let refused = try installation.setup(answering: lines, [free])
            #expect(refused.code == (lines.hasSuffix("no\n") ? 1 : 2), "\(refused.errors)")
            #expect(refused.errors.lowercased().contains("nothing was changed"))
            #expect(!FileManager.default.fileExists(atPath: installation.dataFolder))
        }

        @Test(
            "An impossible flag is refused before anything is made",
            arguments: [
                ["--database-url", "mysql://db"], ["--listen", "8080"],
                ["--listen", "127.0.0.1:0"],
                ["--project", "my\u{1}game"], ["--keys", ""], ["--reconcile-at", "25:00"],
            ])
        func flags(words: [String]) throws {
            let installation = try Installation()
            let refused = try installation.run(["setup", "--yes"] + words)
            #expect(refused.code == 2, "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: installation.dataFolder))
        }

        @Test("With --dry-run it says what is missing and makes nothing")
        func dry() throws {
            let installation = try Installation()
            let address = "127.0.0.1:\(try freePort())"
            let shown = try installation.run("setup", "--dry-run", "--json", "--listen", address)
            #expect(shown.code == 0, "\(shown.errors)")
            #expect(try shown.states == Array(repeating: "missing", count: 6))
            #expect(!FileManager.default.fileExists(atPath: installation.dataFolder))
        }

        @Test("It accepts your own PostgreSQL, and shows no password of it")
        func own() throws {
            let database = try ScratchDatabase(migrated: false)
            let installation = try Installation(database)
            let url = "\(database.url)&password=se$cret\"`\\"
            let address = "127.0.0.1:\(try freePort())"
            let words = ["setup", "--yes", "--database-url", url, "--listen", address]
            let set = try installation.run(words)
            #expect(set.code == 0, "\(set.errors)")
            #expect(!set.output.contains("cret"), "\(set.output)")
            #expect(set.output.contains("from migration 0 to"))
            // A shell reads the settings unchanged.
            let file = "\(installation.dataFolder)/environment"
            let read = try Shell("set -a; . \(file); printf %s \"$DEED_DATABASE_URL\"", [:])
            #expect(read.output == url)
            #expect(try installation.run("project", "list").output.hasPrefix("default "))
            let again = try installation.run(
                "setup", "--yes", "--json", variables: ["DEED_DATABASE_URL": ""])
            #expect(try again.states.allSatisfy { $0 == "there" }, "\(again.output)")
        }

        @Test("A refusal by PostgreSQL is shown in its own words, and changes nothing")
        func refusing() throws {
            let database = try ScratchDatabase(migrated: false)
            let installation = try Installation(url: "")
            let stranger = try TestLogin(at: database.url)
            let address = "127.0.0.1:\(try freePort())"
            let gone = database.url.replacing(database.name, with: "deed_of_nobody")
            for (url, reason) in [
                ("postgresql://deed@127.0.0.1:1/deed?connect_timeout=2", "refused"),
                (gone, "does not exist"),
            ] {
                let refused = try installation.run(
                    "setup", "--yes", "--json", "--database-url", url, "--listen", address)
                #expect(refused.code == 1, "\(refused.errors)")
                #expect(refused.errors.contains("database_refused"), "\(refused.errors)")
                #expect(refused.errors.contains(reason), "\(refused.errors)")
                #expect(refused.errors.contains("Nothing was changed"))
                #expect(!FileManager.default.fileExists(atPath: "\(installation.dataFolder)/keys"))
            }
            // If a login has no rights in the database, setup says which command to run.
            let poor = try installation.run(
                "setup", "--yes", "--database-url", stranger.url(of: database), "--listen", address)
            #expect(poor.code == 1, "\(poor.errors)")
            #expect(poor.errors.contains("deed migrate --service-login"), "\(poor.errors)")
            #expect(poor.errors.contains("Nothing was changed"), "\(poor.errors)")
            #expect(
                !FileManager.default.fileExists(atPath: "\(installation.dataFolder)/environment"))
            // After that command, the same setup succeeds.
            #expect(
                try Installation(database).run("migrate", "--service-login", stranger.name).code
                    == 0)
            let set = try installation.run(
                "setup", "--yes", "--json", "--database-url", stranger.url(of: database),
                "--listen",
                address)
            #expect(try set.states.first == "there", "\(set.errors)")
            #expect(set.code == 0, "\(set.errors)")
        }
    }
}

extension Finished {
    /// The state of each step: whether it already existed, was done, or is missing.
    var states: [String] {
        get throws { (try json["steps"]?.array ?? []).compactMap { $0["state"]?.string } }
    }
}

/// The result of a shell script.
struct Shell {
    let code: Int32?
    let output: String
    let errors: String

    init(_ script: String, _ variables: [String: String]) throws {
        let folder = try ScratchFolder()
        var environment = variables
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
            environment[name] = environment[name] ?? ProcessInfo.processInfo.environment[name]
        }
        let process = try ChildProcess(
            "/bin/bash", ["-c", script], environment: environment, output: folder.file("out"),
            errors: folder.file("err"))
        code = process.wait(milliseconds: 120_000)
        output = try String(contentsOfFile: folder.file("out"), encoding: .utf8)
        errors = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
    }
}

extension Installation {
    /// Runs setup with these lines as input.
    func setup(answering lines: String, _ variables: [String] = []) throws -> Shell {
        let environment = variables.map { "export \($0)\n" }.joined()
        return try Shell(
            "\(environment)printf %s \"$ANSWERS\" | \"$PROGRAM\" setup",
            ["ANSWERS": lines, "PROGRAM": Installation.program, "DEED_DATA_DIR": dataFolder])
    }
}

/// Returns the files that setup writes in a data folder, by name.
func contents(of folder: String) throws -> [String: String] {
    var found: [String: String] = [:]
    for name in ["environment", "keys/reader", "keys/backend", "keys/admin"] {
        found[name] = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
    return found
}

func mode(of path: String) -> mode_t {
    var found = stat()
    return lstat(path, &found) == 0 ? found.st_mode & 0o777 : 0
}
