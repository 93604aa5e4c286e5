import Foundation
import Glibc
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("The service and its login", .serialized, .timeLimit(.minutes(2)))
    struct Login {
        @Test("A login that is only a member of deed_service serves, inheriting or not")
        func members() throws {
            for attribute in ["inherit", "noinherit"] {
                let login = try TestLogin("\(attribute) in role deed_service")
                let listed = try login.run("project", "list")
                #expect(listed.code == 0, "\(attribute): \(listed.errors)")
                #expect(try login.run("status").code == 0)
            }
        }

        @Test("A login that may not become the service is told before anything is served")
        func stranger() throws {
            let login = try TestLogin("")
            let refused = try login.run("serve", "--listen", "127.0.0.1:0")
            #expect(refused.code == 3)
            #expect(refused.errors.contains("permission denied"), "\(refused.errors)")
            #expect(
                refused.errors.contains(". Have an administrator run: grant deed_service to"),
                "\(refused.errors)")
            #expect(!refused.errors.contains(#""event":"ready""#))
        }

        @Test("An instance whose database hangs is not ready, and is again when it answers")
        func hung() throws {
            let installation = try Installation()
            let service = try installation.serve()
            var client = try APIClient(key: "none")
            func status() throws -> Int { try client.send("GET", "\(service.url)/readyz").status }
            #expect(try status() == 200)
            let processes = installation.postgresProcesses
            for process in processes { kill(process, SIGSTOP) }
            defer { for process in processes { kill(process, SIGCONT) } }
            #expect(try eventually(within: 10_000) { try status() == 503 })
            for process in processes { kill(process, SIGCONT) }
            #expect(try eventually(within: 20_000) { try status() == 200 })
        }

        @Test("Why the database is not reached is in the log, once")
        func reason() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let service = try installation.serve()
            var client = try APIClient(key: "none")
            try database.drop()
            #expect(
                try eventually(within: 10_000) {
                    try client.send("GET", "\(service.url)/readyz").status == 503
                })
            #expect(eventually(within: 5000) { service.log.contains("does not exist") })
            pause(milliseconds: 1500)
            #expect(service.log.components(separatedBy: #""event":"not_ready""#).count == 2)
        }
    }
}

/// Deed over a database whose login is another one than the schema's owner.
private final class TestLogin {
    private let database: ScratchDatabase
    private let installation: Installation
    private let name = "deed_login_\(UInt64.random(in: 0...UInt64.max))"

    init(_ attributes: String) throws {
        database = try ScratchDatabase()
        installation = try Installation(database)
        try database.run("create role \(name) login \(attributes)")
    }

    deinit { try? database.run("drop role \(name)") }

    func run(_ arguments: String...) throws -> Finished {
        let url = database.url.replacing("user=deed", with: "user=\(name)")
        return try installation.run(arguments, variables: ["DEED_DATABASE_URL": url])
    }
}
