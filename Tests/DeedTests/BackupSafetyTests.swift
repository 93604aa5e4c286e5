import Foundation
import Glibc
import JSON
import Ledger
import TestSupport
import Testing

extension ProgramTests {
    /// Tests operators' mistakes with backups, and what backups withstand.
    @Suite("Backups in the wrong hands", .serialized, .timeLimit(.minutes(20)))
    final class BackupSafety {
        private let folder: ScratchFolder
        private var out: String { folder.file("backups") }

        init() throws {
            folder = try ScratchFolder()
        }

        private func fill(_ deed: Installation) throws {
            #expect(try deed.run("migrate").code == 0)
            let created = try deed.run("project", "create", "default")
            #expect(created.code == 0, "\(created.errors)")
        }

        private func backUp(_ deed: Installation, _ more: String...) throws -> String {
            let made = try deed.run(["backup", "--out", out, "--json"] + more)
            try #require(made.code == 0, "\(made.errors)")
            return try #require(try made.json["folder"]?.string)
        }

        private func there() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: out)
                .filter { $0.hasPrefix("deed-") }.sorted()
        }

        @Test("An empty database in the place of a lost one removes no backup, and says so")
        func otherLog() throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            _ = try backUp(deed)
            _ = try backUp(deed)
            let good = try there()
            let stranger = try Installation(ScratchDatabase(migrated: false))
            #expect(try stranger.run("migrate").code == 0)
            let key = "\(deed.dataFolder)/secret.key"
            for flags in [[], ["--secret-key-file", key]] {
                let refused = try stranger.run(["backup", "--out", out, "--keep", "1"] + flags)
                #expect(refused.code == 1, "\(refused.output)")
                #expect(refused.errors.contains("right database"), "\(refused.errors)")
                #expect(try there() == good)
            }
        }

        @Test("--keep removes the oldest of its own log alone")
        func keep() throws {
            let stranger = try Installation(ScratchDatabase(migrated: false))
            try fill(stranger)
            let foreign = try backUp(stranger)
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let elsewhere = folder.file("own")
            for _ in 0..<3 {
                #expect(try deed.run("backup", "--out", elsewhere).code == 0)
            }
            let own = try FileManager.default.contentsOfDirectory(atPath: elsewhere)
                .filter { $0.hasPrefix("deed-") }.sorted()
            for name in own {
                try FileManager.default.moveItem(
                    atPath: "\(elsewhere)/\(name)", toPath: "\(out)/\(name)")
            }
            let made = try deed.run("backup", "--out", out, "--keep", "2")
            #expect(made.code == 0, "\(made.errors)")
            #expect(made.output.contains("1 other backups"), "\(made.output)")
            let left = try there()
            #expect(left.count == 3 && left.contains(own[2]), "\(left)")
            #expect(left.contains(URL(fileURLWithPath: foreign).lastPathComponent))
        }

        /// Gives a backup the name that it would have got from a clock that was years ahead.
        private func misname(_ backup: String, _ name: String) throws -> String {
            let misnamed = "\(out)/\(name)"
            try FileManager.default.moveItem(atPath: backup, toPath: misnamed)
            return misnamed
        }

        @Test(
            "A backup that a wrong clock dated in the future is not the newest, and --keep removes it"
        )
        func fastClock() throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let stale = try misname(try backUp(deed), "deed-20990101T000000000")
            #expect(try deed.run("project", "create", "later").code == 0)
            let second = try backUp(deed, "--keep", "2")
            // An unsigned manifest never makes a backup the newest.
            let unsigned = "\(out)/deed-20990201T000000000"
            try FileManager.default.createDirectory(
                atPath: unsigned, withIntermediateDirectories: true)
            try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(unsigned)/manifest.json"))
            let target = try ScratchDatabase(migrated: false)
            let restored = try deed.run("restore", out, "--json", "--database-url", target.url)
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(try restored.json["backup"]?.string == second)
            #expect(restored.errors.contains("1 other backups"), "\(restored.errors)")
            let third = try backUp(deed, "--keep", "2")
            #expect(try there() == names([second, third, unsigned]))
            #expect(access(stale, F_OK) != 0)
            // Nothing was recorded since then, so only the names differ.
            _ = try misname(third, "deed-20990301T000000000")
            let fourth = try backUp(deed, "--keep", "1")
            #expect(try there() == names([fourth, unsigned]))
        }

        private func names(_ folders: [String]) -> [String] {
            folders.map { URL(fileURLWithPath: $0).lastPathComponent }.sorted()
        }

        @Test(
            "What an earlier release wrote is backed up before the schema is raised, and restored",
            arguments: 5...Schema.needed - 1)
        func outdated(migration: Int64) throws {
            let database = try ScratchDatabase(migratedThrough: migration)
            let deed = try Installation(database)
            #expect(try deed.run("project", "list").code != 0)
            let backup = try backUp(deed)
            let target = try ScratchDatabase(migrated: false)
            let restored = try deed.run(
                "restore", backup, "--database-url", target.url, "--secret-key-file",
                "\(deed.dataFolder)/secret.key")
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(
                restored.output.contains("The schema was migrated from \(migration)"),
                "\(restored.output)")
            let copy = try Installation(target)
            #expect(try copy.run("project", "create", "default").code == 0)
            #expect(try copy.run("audit", "--evidence", "--projections").code == 0)
        }

        @Test(
            "A schema that was changed by hand, or whose seals cannot be counted, is not backed up")
        func changed() throws {
            let database = try ScratchDatabase(migratedThrough: 7)
            try database.run("update deed.migrations set digest = sha256('x') where number = 6")
            let edited = try Installation(database)
            let refused = try edited.run("backup", "--out", out)
            #expect(refused.code != 0 && refused.errors.contains("0006_erase"), "\(refused.errors)")
            // The schema of migration 3 has no webhooks, and secrets of webhooks count as sealed data.
            let old = try Installation(ScratchDatabase(migratedThrough: 3))
            let keyless = try old.run("backup", "--out", out)
            #expect(keyless.code != 0, "\(keyless.output)")
            #expect(access("\(old.dataFolder)/secret.key", F_OK) != 0)
        }

        @Test("What is no backup is named for what it is")
        func unusable() throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let first = try backUp(deed)
            let second = try backUp(deed)
            let file = try folder.write("x", to: "file")
            let half = folder.file("half")
            try FileManager.default.createDirectory(
                atPath: "\(half)/dump", withIntermediateDirectories: true)
            let empty = folder.file("empty")
            mkdir(empty, 0o700)
            for (path, words) in [
                (folder.file("missing"), "No such file"), (file, "is a file"),
                (half, "lacks manifest.json"), (empty, "contains no complete backup"),
            ] {
                let refused = try deed.run("backup", "check", path)
                #expect(refused.code == 1 && refused.errors.contains(words), "\(refused.errors)")
            }
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(second)/roles.sql"))
            let damaged = try deed.run("backup", "check", out)
            #expect(damaged.errors.contains("roles.sql was changed"), "\(damaged.errors)")
            #expect(damaged.errors.contains("The previous backup is \(first)"), "\(damaged.errors)")
        }

        @Test("A backup into the data folder, and a restore into a backup, are refused")
        func inside() throws {
            let deed = try Installation()
            try fill(deed)
            let into = try deed.run("backup", "--out", "\(deed.dataFolder)/backups")
            #expect(into.code == 2 && into.errors.contains("inside the data folder"))
            let backup = try backUp(deed)
            let key = "\(deed.dataFolder)/secret.key"
            let restored = try deed.run(
                "restore", backup, "--data-dir", "\(backup)/data", "--secret-key-file", key)
            #expect(restored.code == 2 && restored.errors.contains("inside the backup"))
        }

        @Test(
            "A restore that was cut short is refused by every command and begun again by the same one",
            arguments: ["postgres.restoring", "postgres", "postgres/postmaster.pid"])
        func cutShort(phase: String) throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let backup = try backUp(deed)
            let place = folder.file("place")
            let key = ["--secret-key-file", "\(deed.dataFolder)/secret.key"]
            // The database's URL comes from a variable. Deed uses a folder only if the variable is missing.
            let fresh = try Installation()
            let command = ["restore", backup, "--data-dir", place] + key
            let (restoring, _, _) = try fresh.start(command)
            #expect(
                eventually(within: 120_000) {
                    access("\(place)/\(phase)", F_OK) == 0 || restoring.wait(milliseconds: 0) != nil
                })
            restoring.signal(SIGKILL)
            _ = restoring.wait(milliseconds: 60_000)
            let flags = ["--data-dir", place]
            for command in [
                ["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["status"], ["audit"],
                ["setup", "--yes"],
            ] {
                let refused = try fresh.run(command + flags)
                #expect(
                    refused.code != 0 && refused.errors.contains("restore"),
                    "\(command): \(refused.output) \(refused.errors)")
            }
            let doctor = try fresh.run(["doctor", "--json"] + flags)
            #expect(doctor.output.contains("restore_unfinished"), "\(doctor.output)")
            let again = try fresh.run(command)
            #expect(again.code == 0, "\(again.errors)")
            #expect(try fresh.run(["audit", "--projections"] + flags).code == 0)
            let twice = try fresh.run(command)
            #expect(
                twice.code == 1 && twice.errors.contains("holds a database"), "\(twice.errors)")
        }

        @Test(
            "A login that may not act as the service is told the grant before anything is written")
        func membership() throws {
            let deed = try Installation(ScratchDatabase(migrated: false))
            try fill(deed)
            let backup = try backUp(deed)
            let target = try ScratchDatabase(migrated: false)
            let name = "owner_\(UInt32.random(in: 0...UInt32.max))"
            try target.run("create role \(name) login")
            defer { try? target.run("drop owned by \(name); drop role \(name)") }
            try target.run("grant create on database \(target.name) to \(name)")
            let url = target.url.replacing("user=deed", with: "user=\(name)")
            let refused = try deed.run("restore", backup, "--database-url", url)
            let grant = "grant deed_service to \"\(name)\""
            #expect(
                refused.code == 1 && refused.errors.contains(grant), "\(refused.errors)")
            #expect(
                try target.number("select count(*) from pg_namespace where nspname = 'deed'") == 0)
            try target.run(grant)
            let restored = try deed.run("restore", backup, "--database-url", url)
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(try deed.run("audit", "--projections", "--database-url", url).code == 0)
        }
    }
}
