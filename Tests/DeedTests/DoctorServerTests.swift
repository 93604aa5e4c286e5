import Foundation
import Glibc
import Ledger
import TestSupport
import Testing

extension ProgramTests {
    /// Tests the doctor's checks of servers, disks and logins. Each test breaks a separate database, disk or login.
    @Suite("The doctor at the server", .serialized, .timeLimit(.minutes(20)))
    struct DoctorAtServer {
        /// Programs that a command in the test needs, as the cluster's owner.
        private static let programs =
            "PROGRAMS=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1); "
            + "owner() { if [ $(id -u) -eq 0 ]; then (cd / && runuser -u postgres -- \"$@\"); "
            + "else \"$@\"; fi; }; "

        /// Returns the findings of one check.
        private func find(_ code: String, _ deed: Installation, _ more: [String] = []) throws
            -> [Finished.Found]
        {
            try deed.run(["doctor", "--only", code, "--json"] + more).findings
        }

        @Test("Pages without checksums are named, and the advice gives them some")
        func checksums() throws {
            let ward = try Ward()
            #expect(try find("checksums_off", ward.deed).isEmpty)
            #expect(eventually(within: 60_000) { ward.deed.postmaster == nil })
            let cluster = "--pgdata='\(ward.deed.dataFolder)/postgres'"
            let broken = try Shell(
                "\(Self.programs)owner $PROGRAMS/pg_checksums --disable \(cluster)", [:])
            try #require(broken.code == 0, "\(broken.errors)")
            let found = try ward.deed.run("doctor", "--only", "checksums_off")
            #expect(found.output.contains("pg_checksums --enable --pgdata="), "\(found.output)")
            #expect(eventually(within: 60_000) { ward.deed.postmaster == nil })
            let mended = try Shell(
                "\(Self.programs)owner $PROGRAMS/pg_checksums --enable \(cluster)", [:])
            try #require(mended.code == 0, "\(mended.errors)")
            #expect(try find("checksums_off", ward.deed).isEmpty)
        }

        @Test("Transactions that are nearly used up are named, and vacuuming renews them")
        func transactions() throws {
            let ward = try Ward()
            #expect(try find("transactions_old", ward.deed).isEmpty)
            #expect(eventually(within: 60_000) { ward.deed.postmaster == nil })
            // The next transaction is number 1,200,000,000. Its state is in file 0478.
            let broken = try Shell(
                """
                set -e; \(Self.programs)
                D='\(ward.deed.dataFolder)/postgres'
                owner $PROGRAMS/pg_resetwal -x 1200000000 "$D"
                owner dd if=/dev/zero of="$D/pg_xact/0478" bs=8192 count=32 2>/dev/null
                """, [:])
            try #require(broken.code == 0, "\(broken.errors)")
            let found = try ward.deed.run("doctor", "--only", "transactions_old")
            #expect(found.output.contains("vacuumdb --all --freeze"), "\(found.output)")
            let service = try ward.deed.serve()
            defer { service.process.signal(SIGTERM) }
            let advice = try #require(try find("transactions_old", ward.deed).first?.commands.first)
            let followed = try Shell(
                advice.text, ["PGHOST": "\(ward.deed.dataFolder)/socket", "PGUSER": "deed"])
            #expect(followed.code == 0, "\(followed.errors)")
            #expect(try find("transactions_old", ward.deed).isEmpty)
        }

        @Test("A database that stores no UTF-8 is named")
        func encoding() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            #expect(try find("encoding_wrong", deed).isEmpty)
            let name = "latin_\(UInt32.random(in: 0...UInt32.max))"
            try database.run(
                "create database \(name) template template0 encoding 'LATIN1' locale 'C'")
            defer { try? database.run("drop database \(name) with (force)") }
            let url = database.url.replacing(database.name, with: name)
            let found = try find("encoding_wrong", deed, ["--database-url", url])
            #expect(found.map(\.code) == ["encoding_wrong"])
        }

        @Test("A login that owns the schema is named, and one that only serves is not")
        func owner() throws {
            let database = try ScratchDatabase()
            let names = ["owner", "server"].map { "\($0)_\(UInt32.random(in: 0...UInt32.max))" }
            for name in names { try database.run("create role \(name) login in role deed_service") }
            defer {
                for name in names { try? database.run("drop owned by \(name); drop role \(name)") }
            }
            let old = try database.text(
                "select nspowner::regrole::text from pg_namespace where nspname = 'deed'")
            try database.run("alter schema deed owner to \(names[0])")
            defer { try? database.run("alter schema deed owner to \(old)") }
            let deed = try Installation(database)
            for (name, codes) in zip(names, [["login_owner"], []]) {
                let url = database.url.replacing("user=deed", with: "user=\(name)")
                let found = try find("login_owner", deed, ["--database-url", url])
                #expect(found.map(\.code) == codes, "\(name)")
            }
        }

        @Test("An outdated schema is named, and the advice brings it up to date")
        func schema() throws {
            let database = try ScratchDatabase(migratedThrough: Schema.needed - 1)
            let deed = try Installation(database)
            let found = try find("schema_outdated", deed)
            let advice = try #require(found.first?.commands.first?.text)
            let followed = try Shell(
                Ward.path + advice, ["DEED_DATABASE_URL": database.url])
            #expect(followed.code == 0, "\(followed.errors)")
            #expect(try find("schema_outdated", deed).isEmpty)
        }

        @Test(
            "A disk that is nearly full is named until there is room",
            .enabled(if: getuid() == 0, "mounting takes rights that these tests lack"))
        func disk() throws {
            let folder = try ScratchFolder()
            let mount = folder.file("disk")
            func shell(_ line: String) throws {
                let done = try Shell(line, [:])
                try #require(done.code == 0, "\(line): \(done.errors)")
            }
            try shell("mkdir '\(mount)' && mount -t tmpfs -o size=900m tmpfs '\(mount)'")
            defer { _ = try? Shell("umount '\(mount)'", [:]) }
            let deed = try Installation(ScratchDatabase())
            let place = ["--data-dir", mount]
            #expect(try find("disk_low", deed, place).map(\.code) == ["disk_low"])
            try shell("mount -o remount,size=1100m '\(mount)'")
            #expect(try find("disk_low", deed, place).isEmpty)
        }

        @Test("A night that is overdue is named, and one that was held is not")
        func night() throws {
            let deed = try Installation(ScratchDatabase())
            _ = try deed.makeKey()
            func found(_ offset: String) throws -> [String] {
                let clock = try FakeClock(offset)
                defer { withExtendedLifetime(clock) {} }
                return try deed.run(
                    "doctor", "--only", "reconciliation_late", "--json", variables: clock.variables
                ).findings.map(\.code)
            }
            #expect(try found("+35h") == [])
            #expect(try found("+37h") == ["reconciliation_late"])
            #expect(try deed.run("reconcile").code == 0)
            #expect(try found("+35h") == [])
        }
    }
}
