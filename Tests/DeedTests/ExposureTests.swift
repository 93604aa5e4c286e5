import Foundation
import Glibc
import JSON
import Postgres
import TestSupport
import Testing

@testable import deed

extension ProgramTests {
    @Suite("What strangers can reach and see", .timeLimit(.minutes(20)))
    struct Exposure {
        @Test("A password on the command line does not show in the process list")
        func password() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let mark = database.url.contains("?") ? "&" : "?"
            let url = "\(database.url)\(mark)password=hunter2&application_name=shown"
            let service = try installation.serve("--database-url", url)
            let line = try String(
                contentsOfFile: "/proc/\(service.process.id)/cmdline", encoding: .utf8)
            #expect(line.contains("password=xxxxxxx&application_name=shown"), "\(line)")
            #expect(!line.contains("hunter2") && !service.log.contains("hunter2"))
        }

        @Test(
            "Passwords are found wherever a connection string may have them",
            arguments: [
                ("postgresql://u:secret@h:5432/d", "postgresql://u:xxxxxx@h:5432/d"),
                (
                    "--database-url=postgres://u:a:b@c@h/d?x=y",
                    "--database-url=postgres://u:xxxxx@h/d?x=y"
                ),
                ("postgresql://u@h:5432/d", "postgresql://u@h:5432/d"),
                ("postgresql:///d?password=se&user=u", "postgresql:///d?password=xx&user=u"),
                ("host=h password=secret user=u", "host=h password=xxxxxx user=u"),
                ("host=h password = 'se \\' c' user=u", "host=h password = xxxxxxxxx user=u"),
                ("sslpassword=a password=b", "sslpassword=x password=x"),
                ("password=a\\ b&c user=u", "password=xxxxxx user=u"),
                ("password\t=\nsecret\tuser=u", "password\t=\nxxxxxx\tuser=u"),
                ("postgresql:///d?password=s e&user=u", "postgresql:///d?password=xxx&user=u"),
                ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
                ("password", "password"),
            ])
        func passwords(_ text: String, _ hidden: String) {
            var bytes = Array(text.utf8)
            for range in passwordRanges(in: bytes) {
                for place in range { bytes[place] = UInt8(ascii: "x") }
            }
            #expect(String(decoding: bytes, as: UTF8.self) == hidden)
        }

        @Test(
            "PostgreSQL's programs get the password apart from their arguments",
            arguments: [
                (
                    "postgresql://o:se%26cret@h:5432/d?sslmode=require",
                    "dbname='d' host='h' port='5432' sslmode='require' user='o'", "se&cret"
                ),
                ("postgresql://h/d?user=o&password=s3", "dbname='d' host='h' user='o'", "s3"),
                ("host=db user=o password=s3 dbname=d", "dbname='d' host='db' user='o'", "s3"),
                (
                    "host=db password = 's \\' 3' dbname='it\\'s'", "dbname='it\\'s' host='db'",
                    "s ' 3"
                ),
                ("postgresql://o@h/d", "postgresql://o@h/d", nil),
                ("host=db user=o", "host=db user=o", nil),
            ] as [(String, String, String?)])
        func programs(_ url: String, _ address: String, _ password: String?) {
            let source = Source(ConnectionSettings(url: url, role: nil))
            #expect(source.address == address)
            #expect(source.password == password)
        }

        @Test("During a backup and a restore, no process shows the owner's password")
        func backup() throws {
            let database = try ScratchDatabase()
            let target = try ScratchDatabase(migrated: false)
            let deed = try Installation(url: "\(database.url)&password=hunter2")
            let folder = try ScratchFolder()
            let out = folder.file("out")
            let pairs = try keywords(of: target.url)
            for (program, words, url) in [
                ("pg_dump", ["backup", "--out", out], "\(database.url)&password=hunter2"),
                ("pg_restore", ["restore", out], "\(pairs) password='hunter2'"),
            ] {
                let (process, _, errors) = try deed.start(words, ["DEED_DATABASE_URL": url])
                var seen: Set<String> = []
                var code: Int32?
                while code == nil {
                    seen.formUnion(arguments(of: program, naming: folder.path))
                    code = process.wait(milliseconds: 1)
                }
                let complaint = try String(contentsOfFile: errors, encoding: .utf8)
                #expect(code == 0, "\(complaint)")
                #expect(!seen.isEmpty, "\(program) was not seen")
                #expect(!seen.contains { $0.contains("hunter2") }, "\(seen)")
            }
        }

        /// Returns the URL of a test's database in libpq's other format.
        private func keywords(of url: String) throws -> String {
            let parts = try #require(URLComponents(string: url))
            let pairs = (parts.queryItems ?? []).map { "\($0.name)='\($0.value ?? "")'" }
            return "\(pairs.joined(separator: " ")) dbname=\(parts.path.dropFirst())"
        }

        /// Returns the arguments of every process that runs the program for files in the folder.
        private func arguments(of program: String, naming folder: String) -> [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.filter { pid_t($0) != nil }.compactMap {
                try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8)
            }.filter { $0.contains("/\(program)\0") && $0.contains(folder) }
        }

        @Test(
            "A user's service keeps its memory out of dumps and from the user's other processes"
        )
        func memory() throws {
            let database = try ScratchDatabase()
            let folder = try ScratchFolder()
            var user: [String] = []
            if getuid() == 0 {
                let entry = try #require(getpwnam("postgres")).pointee
                chown(folder.path, entry.pw_uid, entry.pw_gid)
                user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
            }
            func start(_ words: [String], _ errors: String) throws -> ChildProcess {
                try ChildProcess(
                    "/usr/bin/env", user + words,
                    environment: [
                        "DEED_DATABASE_URL": database.url, "DEED_DATA_DIR": folder.file("data"),
                        "PATH": "/usr/bin:/bin",
                    ], output: folder.file("output"), errors: errors)
            }
            let log = folder.file("log")
            let service = try start(
                [Installation.program, "serve", "--listen", "127.0.0.1:0"], log)
            let isReady = eventually(within: 60_000) {
                (try? String(contentsOfFile: log, encoding: .utf8))?.contains("\"ready\"") ?? false
            }
            #expect(isReady)
            var found = stat()
            #expect(lstat("/proc/\(service.id)/mem", &found) == 0 && found.st_uid == 0)
            let limits = try String(contentsOfFile: "/proc/\(service.id)/limits", encoding: .utf8)
            #expect(limits.contains(#/Max core file size +0 +0 /#))
            // The process's environment may contain a password.
            if user.isEmpty { return }
            let reader = try start(["cat", "/proc/\(service.id)/environ"], folder.file("denied"))
            #expect(reader.wait(milliseconds: 10_000) == 1)
        }

        @Test("Metrics can have their own address, and are then only there")
        func operations() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            _ = try installation.makeKey()
            let service = try installation.serve("--operations-listen", "127.0.0.1:0")
            let ready = try #require(
                service.log.split(separator: "\n").lazy.compactMap { try? JSON.read(String($0)) }
                    .first { $0["event"]?.string == "ready" })
            let port = try #require(ready["operations_port"]?.integer)
            for (path, atAPI, apart) in [
                ("/healthz", 200, 200), ("/metrics", 404, 200), ("/readyz", 404, 200),
                ("/openapi.json", 404, 200), ("/v1/products", 401, 404),
            ] {
                #expect(try status(of: path, at: service.port) == atAPI, "\(path)")
                #expect(try status(of: path, at: UInt16(port)) == apart, "\(path)")
            }
        }

        private func status(of path: String, at port: UInt16) throws -> Int? {
            // The document does not say which of the two addresses serves which path.
            let client = try RawClient(undocumented: port, milliseconds: 10_000)
            client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            return client.reply()?.status
        }
    }
}
