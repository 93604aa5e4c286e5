import Foundation
import Glibc
import Minting
import Postgres
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("An interrupted rotation of the installation's key", .timeLimit(.minutes(20)))
    final class Rotation {
        private static let apps = ["com.example.a", "com.example.b"]
        private let folder: ScratchFolder
        private let database: ScratchDatabase
        private let deed: Installation
        private let keyFile: String

        init() throws {
            folder = try ScratchFolder()
            database = try ScratchDatabase()
            deed = try Installation(database)
            keyFile = folder.file("secret.key")
            let pem = try folder.write(MintedKey(.p256).pem, to: "AuthKey.p8")
            #expect(try run("project", "create", "default").code == 0)
            for app in Rotation.apps {
                let set = try run(
                    "app", "set", "--bundle-id", app, "--issuer-id",
                    "57246542-96fe-1a63-e053-0824d011072a", "--key-id", "A1", "--key-file", pem,
                    "--store-url", "http://127.0.0.1:1")
                #expect(set.code == 0, "\(set.errors)")
            }
        }

        private var variables: [String: String] { ["DEED_SECRET_KEY_FILE": keyFile] }

        private func run(_ arguments: String...) throws -> Finished {
            try deed.run(arguments, variables: variables)
        }

        private func text(_ file: String) -> String? {
            try? String(contentsOfFile: file, encoding: .utf8)
        }

        private func move(_ file: String, to other: String) throws {
            try FileManager.default.moveItem(atPath: file, toPath: other)
        }

        private func oldKey() throws -> String {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("secret.key.old.") }
            return folder.file(try #require(names.count == 1 ? names.first : nil, "\(names)"))
        }

        /// Expects each app's key to open, so that Deed asks the store, which does not exist.
        private func expectOpen() throws {
            for app in Rotation.apps {
                let asked = try run("store", "test", "--bundle-id", app)
                #expect(
                    asked.errors.contains("The store cannot be reached now"),
                    "\(app): \(asked.errors)")
            }
        }

        /// Expects the next call to finish the rotation with the key that the first call created.
        private func expectFinished() throws {
            let begun = text("\(keyFile).next")
            #expect(begun != nil)
            try expectOpen()
            let rotated = try run("secret", "rotate")
            #expect(rotated.code == 0, "\(rotated.errors)")
            #expect(text(keyFile) == begun && text("\(keyFile).next") == nil)
            try expectOpen()
            // The new key alone opens all credentials.
            try FileManager.default.removeItem(atPath: try oldKey())
            try expectOpen()
        }

        private func resealed() throws -> Int64 {
            try database.number(
                "select count(*) from deed.store_credentials where revision > 1")
        }

        @Test(
            "Killed before it seals an app anew, it leaves every app readable, and can be finished",
            arguments: [0, 1])
        func killed(done: Int) throws {
            var holder = try Connection.open(ConnectionSettings(url: database.url, role: nil))
            let lock = """
                begin; select from deed.store_credentials where app = '\(Rotation.apps[done])'
                for update
                """
            try holder.run(Script(embedded: Array(lock.utf8)))
            let (process, _, errors) = try deed.start(["secret", "rotate"], variables)
            let waiting = """
                select count(*) from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'
                """
            let isHeld = eventually(within: 30_000) { (try? database.number(waiting)) == 1 }
            #expect(isHeld, "\(text(errors) ?? "")")
            process.signal(SIGKILL)
            #expect(process.wait(milliseconds: 10_000) == 128 + SIGKILL)
            try holder.run(Script(embedded: Array("rollback".utf8)))
            // The killed process's last statement waited for the lock, and may run now.
            #expect(
                eventually(within: 10_000) { (try? database.number(waiting)) == 0 })
            #expect(try (Int64(done)...Int64(done) + 1).contains(resealed()))
            try expectFinished()
        }

        @Test(
            "A folder from a kill between moving keys is readable, and the rotation is finished",
            arguments: [true, false])
        func moved(oldIsLinked: Bool) throws {
            #expect(try run("secret", "rotate").code == 0)
            try move(keyFile, to: "\(keyFile).next")
            let old = try oldKey()
            try move(old, to: keyFile)
            if oldIsLinked { #expect(link(keyFile, old) == 0) }
            #expect(try resealed() == 2)
            try expectFinished()
        }

        @Test("A key that was set while another process rotates opens under the new key")
        func raced() throws {
            var holder = try Connection.open(ConnectionSettings(url: database.url, role: nil))
            let lock = """
                begin; update deed.store_credentials set revision = revision + 1
                where app = '\(Rotation.apps[0])'
                """
            try holder.run(Script(embedded: Array(lock.utf8)))
            let (process, _, errors) = try deed.start(["secret", "rotate"], variables)
            let isHeld = eventually(within: 30_000) {
                let waiting = """
                    select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'
                    """
                return (try? database.number(waiting)) == 1
            }
            #expect(isHeld, "\(text(errors) ?? "")")
            try holder.run(Script(embedded: Array("commit".utf8)))
            #expect(process.wait(milliseconds: 30_000) == 0, "\(text(errors) ?? "")")
            try FileManager.default.removeItem(atPath: try oldKey())
            try expectOpen()
        }
    }
}
