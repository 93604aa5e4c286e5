import Foundation
import Glibc
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    /// Tests `deed backup`, `deed backup check` and `deed restore`.
    @Suite("Backups that were tried", .serialized, .timeLimit(.minutes(20)))
    struct BackupCommands {
        private let evidence: EvidenceFolder

        init() throws {
            evidence = try EvidenceFolder()
        }

        private func file(_ name: String) -> String { "\(evidence.path)/\(name)" }

        private var out: String { file("backups") }

        private func backUp(_ deed: Installation, _ more: String...) throws -> String {
            let made = try deed.run(["backup", "--out", out, "--json"] + more)
            try #require(made.code == 0, "\(made.errors)")
            return try #require(try made.json["folder"]?.string)
        }

        private func fill(_ deed: Installation) throws {
            #expect(try deed.run("migrate").code == 0)
            try deed.sell(in: evidence)
            for number in 0..<5 {
                let given = try deed.run(
                    "grant", "--customer", "u\(number)", "--entitlement", "pro", "--reason", "r")
                #expect(given.code == 0, "\(given.errors)")
            }
        }

        @Test(
            "While 32 clients write and the service is killed, each backup restores whole, audits clean, and serves"
        )
        func whole() throws {
            let deed = try Installation()
            try fill(deed)
            let key = try deed.makeKey()
            var service = try deed.serve()
            let writers = try GrantWriters(service.url, key: key)
            var (folders, answered) = ([String](), [Int]())
            for _ in 0..<3 {
                let before = writers.count
                #expect(eventually(within: 60_000) { writers.count > before + 32 })
                answered.append(writers.count)
                let (dumping, output, errors) = try deed.start(["backup", "--out", out, "--json"])
                #expect(
                    eventually(within: 60_000) {
                        hasReached("/dump") || dumping.wait(milliseconds: 0) != nil
                    })
                service.process.signal(SIGKILL)
                #expect(service.process.wait(milliseconds: 60_000) == 128 + SIGKILL)
                service = try deed.serve()
                writers.moveTo(service.url)
                let code = dumping.wait(milliseconds: 120_000)
                let complaint = try String(contentsOfFile: errors, encoding: .utf8)
                #expect(code == 0, "\(complaint)")
                let made = try JSON.read(String(contentsOfFile: output, encoding: .utf8))
                folders.append(try #require(made["folder"]?.string))
                // The backup contains everything that was answered before it began.
                #expect((made["events"]?.integer ?? 0) >= answered.last ?? 0)
            }
            _ = writers.stop()
            #expect(writers.unexpected == [])
            for folder in folders {
                let checked = try deed.run(
                    "backup", "check", folder, "--extra-roots", "\(evidence.path)/roots")
                #expect(checked.code == 0, "\(checked.errors)")
                #expect(FileManager.default.fileExists(atPath: "\(folder)/tried.json"))
            }
            let done = try deed.run("status", "--json").json["last_done"]
            #expect(done?["backup"]?.string != nil && done?["backup_tried"]?.string != nil)
            try expectServed(of: deed, key)
            _ = try backUp(deed, "--keep", "2")
            #expect(try BackupsIn(out).whole.count == 2)
            #expect(try BackupsIn(out).unfinished == [])
        }

        /// Expects the newest backup to be restored into a new data folder, pass an audit there, and answer calls.
        private func expectServed(of deed: Installation, _ key: String) throws {
            let copy = try Installation()
            let restored = try copy.run(
                ["restore", out, "--json"], variables: ["DEED_SECRET_KEY_FILE": keyFile(of: deed)])
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(try restored.json["remembered"] == false)
            let audit = try copy.run(
                "audit", "--evidence", "--projections", "--extra-roots", "\(evidence.path)/roots")
            #expect(audit.code == 0, "\(audit.errors) \(audit.output)")
            let shown = try copy.run("customer", "show", "u1", "--json")
            #expect(shown.output.contains("\"pro\""))
            let serving = try copy.serve()
            var client = try APIClient(key: key)
            #expect(
                try client.send("GET", "\(serving.url)/v1/customers/u1/entitlements").status == 200)
        }

        /// Returns whether a backup in progress has this file. "deed-" stands for a finished backup.
        private func hasReached(_ phase: String) -> Bool {
            guard let names = try? BackupsIn(out) else { return false }
            if phase == "deed-" { return !names.whole.isEmpty }
            return names.unfinished.contains {
                FileManager.default.fileExists(atPath: "\(out)/\($0)\(phase)")
            }
        }

        private func keyFile(of deed: Installation) -> String { "\(deed.dataFolder)/secret.key" }

        @Test("What was written after the dump is named as far as this machine knows")
        func later() throws {
            let source = try ScratchDatabase(migrated: false)
            let deed = try Installation(source)
            try fill(deed)
            let key = try deed.makeKey()
            _ = try backUp(deed)
            let service = try deed.serve()
            var client = try APIClient(key: key)
            let late = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"pro","reason":"late"}"#)
            #expect(late.status < 300, "\(late.text)")
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 60_000) == 0)
            let target = try ScratchDatabase(migrated: false)
            let restored = try deed.run("restore", out, "--json", "--database-url", target.url)
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(try restored.json["lacking"]?.string?.contains("lacks") == true)
            #expect(
                try restored.json["accept"]?.string?.contains("deed accept-log --reason") == true)
            let accepted = try deed.run(
                "accept-log", "--reason", "the backup was restored", "--database-url", target.url)
            #expect(accepted.code == 0, "\(accepted.errors)")
            let again = try deed.run("restore", out, "--database-url", target.url)
            #expect(again.code == 1 && again.errors.contains("already"), "\(again.errors)")
        }

        @Test("A backup that is not what it was is refused before anything is written")
        func damage() throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let backup = try backUp(deed)
            let files =
                FileManager.default.enumerator(atPath: "\(backup)/dump")?
                .compactMap { $0 as? String } ?? []
            let data = try #require(files.first { $0.hasSuffix(".dat.gz") || $0.hasSuffix(".dat") })
            let manifest = "\(backup)/manifest.json"
            let damages: [(words: String, path: String, change: (Data) -> Data?)] = [
                ("was changed", "\(backup)/dump/\(data)", { Data($0.dropLast()) + [0] + [1] }),
                ("is missing", "\(backup)/dump/\(data)", { _ in nil }),
                (
                    "is not signed", manifest,
                    {
                        Data(
                            String(decoding: $0, as: UTF8.self)
                                .replacing("\"postgres\":15", with: "\"postgres\":14").utf8)
                    }
                ),
                ("is not a backup's manifest", manifest, { _ in Data("{}".utf8) }),
                ("is not part of the backup", "\(backup)/dump/strange", { _ in Data("x".utf8) }),
            ]
            let target = try ScratchDatabase(migrated: false)
            for damage in damages {
                let before = FileManager.default.contents(atPath: damage.path)
                let url = URL(fileURLWithPath: damage.path)
                if let changed = damage.change(before ?? Data()) {
                    try changed.write(to: url)
                } else {
                    try FileManager.default.removeItem(at: url)
                }
                for command in [
                    ["restore", backup, "--database-url", target.url], ["backup", "check", backup],
                ] {
                    let refused = try deed.run(command)
                    #expect(refused.code == 1, "\(damage.words): \(refused.output)")
                    #expect(refused.errors.contains(damage.words), "\(refused.errors)")
                }
                if let before {
                    try before.write(to: url)
                } else {
                    try FileManager.default.removeItem(at: url)
                }
            }
            let schemas = "select count(*) from pg_namespace where nspname = 'deed'"
            let newer = try signed(manifest, of: deed) {
                $0.replacing(/"migration":\d+/, with: "\"migration\":999")
            }
            let later = try deed.run("restore", newer, "--database-url", target.url)
            #expect(later.code == 1 && later.errors.contains("migration 999"), "\(later.errors)")
            #expect(try queriedNumber(schemas, at: target.url) == 0)
            let foreign = try deed.run(
                "restore", backup, "--database-url", target.url, "--secret-key-file",
                file("other.key"))
            #expect(foreign.code != 0)
            #expect(try queriedNumber(schemas, at: target.url) == 0)
            #expect(try deed.run("restore", backup, "--database-url", target.url).code == 0)
        }

        /// Returns a copy of the backup with a changed manifest and a valid signature, as another
        /// release could write it.
        private func signed(
            _ manifest: String, of deed: Installation, _ change: (String) -> String
        ) throws -> String {
            let copy = file("newer")
            let backup = URL(fileURLWithPath: manifest).deletingLastPathComponent().path
            try FileManager.default.copyItem(atPath: backup, toPath: copy)
            let text = change(try String(contentsOfFile: manifest, encoding: .utf8))
            let end = try #require(text.firstRange(of: ",\"signature\"")).lowerBound
            let content = try evidence.write(Array("\(text[..<end])}".utf8), "content")
            let sign = """
                hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" | sed 's/.*= //'; }
                key=$(printf 'deed backup\\001' | hmac "$(cat '\(keyFile(of: deed))')")
                hmac "$key" <'\(content)'
                """
            let signature = try Shell(sign, [:]).output.trimmingCharacters(in: .newlines)
            try "\(text[..<end]),\"signature\":\"\(signature)\"}\n".write(
                toFile: "\(copy)/manifest.json", atomically: true, encoding: .utf8)
            return copy
        }

        @Test(
            "Databases, logins and folders that cannot be used are refused before anything is written"
        )
        func refusals() throws {
            let source = try ScratchDatabase(migrated: false)
            let deed = try Installation(source)
            try fill(deed)
            let backup = try backUp(deed)
            // The target is not empty.
            let full = try deed.run("restore", backup, "--database-url", source.url)
            #expect(full.code == 1 && full.errors.contains("empty database"), "\(full.errors)")
            // The message differs from that for a lost key, because a new folder has had no key yet.
            let place = file("place")
            let keyless = try deed.run("restore", backup, "--data-dir", place)
            #expect(
                keyless.code == 1 && keyless.errors.contains("with --secret-key-file"),
                "\(keyless.errors)")
            #expect(!keyless.errors.contains("--lost") && access(place, F_OK) != 0)
            // Uses a login without rights.
            let name = "backup_\(UInt32.random(in: 0...UInt32.max))"
            try source.run("create role \(name) login in role deed_service")
            defer { try? source.run("drop owned by \(name); drop role \(name)") }
            let service = source.url.replacing("user=deed", with: "user=\(name)")
            let dumped = try deed.run("backup", "--out", out, "--database-url", service)
            #expect(
                dumped.code == 1 && dumped.errors.contains("schema's owner"), "\(dumped.errors)")
            let target = try ScratchDatabase(migrated: false)
            let poor = target.url.replacing("user=deed", with: "user=\(name)")
            let restored = try deed.run("restore", backup, "--database-url", poor)
            #expect(
                restored.code == 1 && restored.errors.contains("may not create a schema"),
                "\(restored.errors)")
            // Uses a folder without free space.
            let tiny = file("tiny")
            mkdir(tiny, 0o755)
            if mount("tmpfs", tiny, "tmpfs", 0, "size=16k") == 0 {
                defer { umount(tiny) }
                let roomless = try deed.run("backup", "check", backup, "--scratch", tiny)
                #expect(roomless.code == 1 && roomless.errors.contains("free, and about"))
                let small = try deed.run("backup", "--out", "\(tiny)/backups")
                #expect(small.code == 1 && small.errors.contains("free, and about"))
            }
            // Uses a schema that is newer than this release knows.
            try source.run(
                "insert into deed.migrations select 999, '0999_later', digest, applied_at from deed.migrations "
                    + "where number = 1")
            let newer = try deed.run("backup", "--out", out)
            #expect(newer.code == 1, "\(newer.output)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: out).count == 2)
        }

        @Test(
            "Killed in each phase, a backup that has a name is whole",
            arguments: ["", "/dump", "/roles.sql", "/checkpoint.json", "/manifest.json", "deed-"])
        func killedBackup(phase: String) throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let (dumping, _, _) = try deed.start(["backup", "--out", out])
            let deadline = monotonicMilliseconds() + 120_000
            while !hasReached(phase), dumping.wait(milliseconds: 0) == nil {
                if monotonicMilliseconds() > deadline { break }
            }
            dumping.signal(SIGKILL)
            _ = dumping.wait(milliseconds: 60_000)
            let target = try ScratchDatabase(migrated: false)
            let restored = try deed.run("restore", out, "--database-url", target.url)
            let isWhole = try !BackupsIn(out).whole.isEmpty
            #expect((restored.code == 0) == isWhole, "\(restored.errors)")
            if isWhole {
                let audit = try deed.run("audit", "--projections", "--database-url", target.url)
                #expect(audit.code == 0, "\(audit.output)")
            } else {
                #expect(restored.errors.contains("no_backup") || restored.errors.contains(out))
            }
            // The next backup removes what the killed one left.
            _ = try backUp(deed)
            #expect(try BackupsIn(out).unfinished == [])
        }

        @Test(
            "Killed in each phase, a restore leaves nothing that serves and is not whole",
            arguments: ["shards", "events", "customers", "events_pkey", "migrations_pkey"])
        func killedRestore(relation: String) throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let backup = try backUp(deed)
            let target = try ScratchDatabase(migrated: false)
            let (restoring, _, _) = try deed.start(
                ["restore", backup, "--database-url", target.url])
            let isThere = "select count(*) from pg_class where relname = '\(relation)'"
            #expect(
                eventually(within: 120_000) {
                    (try? target.number(isThere)) == 1 || restoring.wait(milliseconds: 0) != nil
                })
            restoring.signal(SIGKILL)
            _ = restoring.wait(milliseconds: 60_000)
            // Programs that the command started continue after its death.
            let others = """
                select count(*) from pg_stat_activity
                where datname = current_database() and application_name = 'pg_restore'
                """
            #expect(eventually(within: 120_000) { (try? target.number(others)) == 0 })
            let place = ["--database-url", target.url]
            if try deed.run(["status"] + place).code == 0 {
                let audit = try deed.run(["audit", "--projections"] + place)
                #expect(audit.code == 0, "\(audit.output)")
                return
            }
            for command in [
                ["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["restore", backup],
            ] {
                let refused = try deed.run(command + place)
                #expect(refused.code != 0, "\(command): \(refused.output)")
            }
            // Follows the page about backups.
            try target.run("drop schema deed cascade")
            #expect(try deed.run(["restore", backup] + place).code == 0)
            #expect(try deed.run(["audit", "--projections"] + place).code == 0)
        }
    }
}

/// The contents of a folder of backups.
private struct BackupsIn {
    let names: [String]

    init(_ folder: String) throws {
        names = try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    var whole: [String] { names.filter { $0.hasPrefix("deed-") } }
    var unfinished: [String] { names.filter { $0.hasPrefix(".unfinished") } }
}
