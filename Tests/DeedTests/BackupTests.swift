import Core
import Foundation
import Glibc
import JSON
import Minting
import TestSupport
import Testing

/// Follows `docs/backup.md` like an operator, with the programs that it names.
extension ProgramTests {
    @Suite("Backup and restore", .serialized, .timeLimit(.minutes(20)))
    struct Backup {
        private let evidence: EvidenceFolder
        private let files: BackupFiles

        init() throws {
            evidence = try EvidenceFolder()
            files = BackupFiles(folder: evidence.path)
        }

        @Test(
            "A dump restores an external database with its logins' rights, and is proven")
        func outside() throws {
            let analyst = try TestLogin()
            let source = try ScratchDatabase(migrated: false)
            let deed = try Installation(source)
            #expect(try deed.run("migrate").code == 0)
            try fill(deed)
            try source.run(analyst.grants(on: source.name))
            let told = try answers(deed)
            try files.dump(source.url)
            // The dump does not contain later events.
            #expect(try give("late", with: deed).code == 0)

            let target = try NewServer()
            try files.restore(to: target)
            let restored = try Installation(url: target.url)
            try prove(restored)
            #expect(try answers(restored) == told)
            #expect(
                try queriedNumber(
                    "select count(*) from deed.events where payload ~ 'late'", at: target.url) == 0)
            try expectRights(of: analyst, on: target.url)
            // The restored log accepts new events, and the service has only its own rights.
            #expect(try give("pro", with: restored).code == 0)
            try prove(restored)
            #expect {
                try target.database.run("delete from deed.events")
            } throws: { "\($0)".contains("DD001") }
        }

        @Test(
            "A private database moves to its own server with all grants, and makes no superuser"
        )
        func movedOut() throws {
            let deed = try Installation()
            #expect(try deed.run("migrate").code == 0)
            try fill(deed)
            let told = try answers(deed)
            let service = try deed.serve()
            let analyst = try TestLogin(at: deed.databaseURL)
            try analyst.run(analyst.grants(on: "postgres"))
            try analyst.run("create role \(analyst.name)_idle login; create role odd superuser")
            try files.dump(deed.databaseURL)
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 60_000) == 0)
            #expect(
                try Set(files.roles) == [
                    "create role deed_service nologin;", "create role \(analyst.name) login;",
                ])

            let target = try NewServer()
            try files.restore(to: target)
            defer { try? target.run("drop owned by \(analyst.name); drop role \(analyst.name)") }
            let restored = try Installation(url: target.url)
            try prove(restored)
            #expect(try answers(restored) == told)
            try expectRights(of: analyst, on: target.url)
            let privileged =
                "select count(*) from pg_roles where rolsuper and rolname = current_user"
            #expect(try queriedNumber(privileged, at: target.url) == 0)
        }

        @Test(
            "If more was seen than the dump has, the restore stops at its last line until accepted"
        )
        func seenMore() throws {
            let source = try ScratchDatabase(migrated: false)
            let deed = try Installation(source)
            #expect(try deed.run("migrate").code == 0)
            try fill(deed)
            let key = try deed.makeKey()
            try files.dump(source.url)
            let service = try deed.serve()
            // Before the service answers, it has seen its own commits.
            var client = try APIClient(key: key)
            let late = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"late","reason":"r","allow_unknown":true}"#)
            #expect(late.status < 300, "\(late.text)")
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 60_000) == 0)

            let target = try NewServer()
            let machine = [
                "PROGRAM": Installation.program, "DEED_DATA_DIR": deed.dataFolder,
                "DEED_EXTRA_ROOTS": "\(evidence.path)/roots",
            ]
            let ended = try files.restoreWhole(to: target, machine)
            #expect(ended.map(\.command) == ["audit", "status"])
            #expect(ended[0].code == 0 && ended[1].code != 0, "\(ended)")
            #expect(try files.accept(target, machine).map(\.code) == [0])
            let status = try deed.run("status", "--database-url", target.url)
            #expect(status.code == 0, "\(status.errors)")
        }

        @Test("A private database is restored into a new folder while nothing else uses it")
        func newFolder() throws {
            let deed = try Installation()
            #expect(try deed.run("migrate").code == 0)
            try fill(deed)
            let told = try answers(deed)
            let service = try deed.serve()
            try files.dump(deed.databaseURL)
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 60_000) == 0)

            let restored = try Installation()
            #expect(try restored.run("migrate").code == 0)
            try files.control(restored.dataFolder, "start")
            try files.restore(over: restored.databaseURL)
            try files.control(restored.dataFolder, "stop")
            try prove(restored)
            #expect(try answers(restored) == told)
        }

        // MARK: What the tests share

        private func fill(_ deed: Installation) throws {
            try deed.sell(in: evidence)
            let store = MintedStore(environment: "Sandbox")
            let sales = [
                Sale("1", "level2", .nonConsumable, at: Payload.signedAt),
                Sale("2", "coins.100", .consumable, at: Payload.signedAt),
            ]
            let paths = try sales.map {
                try evidence.write(Array(store.transaction($0).utf8), "sale-\($0.transaction)")
            }
            let submitted = try deed.run(
                ["submit"] + paths + ["--customer", "u1", "--environment", "sandbox"] + roots)
            #expect(submitted.code == 0, "\(submitted.errors)")
            #expect(try give("pro", with: deed).code == 0)
        }

        private var roots: [String] { ["--extra-roots", "\(evidence.path)/roots"] }

        private func give(_ entitlement: String, with deed: Installation) throws -> Finished {
            try deed.run(
                "grant", "--customer", "u1", "--entitlement", entitlement, "--reason", "r",
                "--allow-unknown")
        }

        private func prove(_ deed: Installation) throws {
            let status = try deed.run("status")
            #expect(status.code == 0, "\(status.output) \(status.errors)")
            let audit = try deed.run(["audit", "--evidence", "--json"] + roots)
            #expect(audit.code == 0, "\(audit.output) \(audit.errors)")
            #expect(try audit.json["evidence"]?["proven"]?.integer == 2)
        }

        /// Returns the customer's rights in both environments at a fixed time.
        private func answers(_ deed: Installation) throws -> [String] {
            try ["production", "sandbox"].map { environment in
                let shown = try deed.run(
                    "customer", "show", "u1", "--json", "--environment", environment, "--at",
                    "2030-01-01T00:00:00Z")
                #expect(shown.code == 0, "\(shown.errors)")
                return shown.output
            }
        }

        private func expectRights(of analyst: TestLogin, on url: String) throws {
            let own = analyst.url(of: url)
            let runs = "select count(*) from deed.entitlements"
            #expect(try queriedNumber(runs, at: own) > 0)
            #expect {
                try queriedNumber("select count(*) from deed.events", at: own)
            } throws: { "\($0)".contains("42501") }
        }
    }
}

/// An empty database whose owner is not a superuser.
private struct NewServer {
    let database: ScratchDatabase
    let owner: String
    var administrator: String { database.serverURL }
    var url: String { database.url.replacing("user=deed", with: "user=\(owner)") }

    init() throws {
        database = try ScratchDatabase(migrated: false)
        owner = "deed_owner_\(UInt64.random(in: 0...UInt64.max))"
        try run("create role \(owner) login; alter database \(database.name) owner to \(owner)")
    }

    func run(_ text: String) throws { try database.run(text) }
}

/// A dump of a database and its roles. The page's own commands make and restore it.
private struct BackupFiles {
    let folder: String

    /// The statements that make the roles, one per line.
    var roles: [String] {
        get throws {
            try String(contentsOfFile: "\(folder)/roles.sql", encoding: .utf8)
                .split(separator: "\n").map(String.init)
        }
    }

    func dump(_ url: String) throws {
        try run(holding: "pg_dump ", ["OWNER_URL": url])
    }

    /// Restores the dump. Existing roles are reported and stay unchanged.
    func restore(to server: NewServer) throws {
        try run(
            holding: "grant deed_service to $OWNER",
            ["ADMIN_URL": server.administrator, "NEW_URL": server.url, "OWNER": server.owner])
    }

    /// A command of Deed and its exit code.
    struct Ended {
        let command: String
        let code: Int32
    }

    /// Restores the dump, and runs Deed's commands on that machine until one fails.
    func restoreWhole(
        to server: NewServer, _ machine: [String: String]
    ) throws -> [Ended] {
        try runWhole(
            holding: "grant deed_service to $OWNER",
            machine.merging(
                ["ADMIN_URL": server.administrator, "NEW_URL": server.url, "OWNER": server.owner]
            ) { $1 })
    }

    func accept(_ server: NewServer, _ machine: [String: String]) throws -> [Ended] {
        try runWhole(
            holding: "deed accept-log --reason \"", machine.merging(["NEW_URL": server.url]) { $1 })
    }

    private func runWhole(
        holding words: String, _ variables: [String: String]
    ) throws -> [Ended] {
        let path = "\(folder)/ended"
        let settings = variables.map { "export \($0.key)=\"\($0.value)\"\n" }.joined()
        let deed =
            "deed() { c=0; \"$PROGRAM\" \"$@\" || c=$?; echo \"$1 $c\" >>'\(path)'; return $c; }"
        try "".write(toFile: path, atomically: true, encoding: .utf8)
        let lines = try block(holding: words)
        try BackupFiles.sh(
            "cd '\(folder)'\n\(settings)\(deed)\n( set -e\n\(lines) )\ntrue\n")
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            line in
            let parts = line.split(separator: " ")
            return Ended(command: String(parts[0]), code: try #require(Int32(parts[1])))
        }
    }

    /// Replaces the empty schema of a private database.
    func restore(over url: String) throws {
        try BackupFiles.psql(url, ["-c", "drop schema deed cascade"])
        try run(
            holding: "grant deed_service to $OWNER",
            ["ADMIN_URL": url, "NEW_URL": url, "OWNER": "deed"])
    }

    /// Runs the page's block that contains these words, up to the first of Deed's own commands.
    private func run(holding words: String, _ variables: [String: String]) throws {
        let block = try block(holding: words)
        let lines = block.split(separator: "\n").prefix { !$0.hasPrefix("deed ") }
        let settings = variables.map { "\($0.key)=\"\($0.value)\"\n" }.joined()
        try BackupFiles.sh("set -e; cd '\(folder)'\n\(settings)\(lines.joined(separator: "\n"))\n")
    }

    private func block(holding words: String) throws -> String {
        let page = try String(contentsOf: BackupFiles.page, encoding: .utf8)
        let blocks = page.components(separatedBy: "```sh\n").dropFirst().map {
            $0.components(separatedBy: "```\n")[0]
        }
        return try #require(blocks.first { $0.contains(words) })
    }

    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/backup.md")

    /// Starts or stops the private PostgreSQL in a folder, without Deed.
    func control(_ folder: String, _ verb: String) throws {
        let asOwner = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
        let bin = "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)"
        let options = "-k '\(folder)/socket' -c listen_addresses=''"
        try BackupFiles.sh(
            "cd / && \(asOwner) \(bin)/pg_ctl -D '\(folder)/postgres' -w -o \"\(options)\" "
                + "-l '\(folder)/postgres/restore.log' \(verb) >/dev/null")
    }

    static func psql(_ url: String, _ arguments: [String]) throws {
        let words = arguments.map { "\"\($0)\"" }.joined(separator: " ")
        try sh("psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 \(words) '\(url)'")
    }

    static func sh(_ line: String) throws {
        let folder = try ScratchFolder()
        let shell = try ChildProcess(
            "/bin/sh", ["-c", line], environment: ProcessInfo.processInfo.environment,
            output: folder.file("out"), errors: folder.file("err"))
        let code = shell.wait(milliseconds: 60_000)
        if code == 0 { return }
        let errors = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
        throw Installation.Failed(description: "\(line)\nended with \(code ?? -1): \(errors)")
    }
}
