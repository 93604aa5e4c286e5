import Foundation
import Glibc
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("The service and its login", .serialized, .timeLimit(.minutes(20)))
    struct Login {
        @Test("A login that is only a member of deed_service serves, inheriting or not")
        func members() throws {
            for attribute in ["inherit", "noinherit"] {
                let place = try Place("\(attribute) in role deed_service")
                let listed = try place.run("project", "list")
                #expect(listed.code == 0, "\(attribute): \(listed.errors)")
                #expect(try place.run("status").code == 0)
            }
        }

        @Test("A login that may not become the service is refused before anything is served")
        func stranger() throws {
            let place = try Place("")
            let refused = try place.run("serve", "--listen", "127.0.0.1:0")
            #expect(refused.code == 3)
            #expect(refused.errors.contains("permission denied"), "\(refused.errors)")
            #expect(
                refused.errors.contains(
                    ". Have the database's owner run: deed migrate --service-login"),
                "\(refused.errors)")
            #expect(!refused.errors.contains(#""event":"ready""#))
        }

        @Test("The login of one database cannot write into another of the cluster")
        func neighbours() throws {
            let (production, staging) = (try Place("in role deed_service"), try Place(""))
            let stranger = try TestLogin(at: staging.database.url)
            let analyst = try TestLogin(analystOf: production.database)
            // As in earlier releases, each login with the role can serve each database of the server.
            try staging.close()
            try production.close()
            #expect(try production.run("project", "create", "default").code == 0)
            #expect(try staging.run("project", "create", "default").code == 0)
            for intruder in [staging.login, stranger] {
                let refused = try production.run(
                    "project", "create", "theirs", login: intruder)
                #expect(refused.code == 3)
                #expect(
                    refused.errors.contains("deed migrate --service-login"), "\(refused.errors)")
            }
            // A login with a grant can still read the database.
            #expect(
                try queriedNumber(
                    "select count(*) from deed.grants", at: analyst.url(of: production.database))
                    == 0)
            // Only one login may serve. A new one replaces it.
            let next = try TestLogin(at: staging.database.url)
            try production.close(to: next)
            #expect(try production.run("project", "list", login: next).code == 0)
            #expect(try production.run("project", "list").code == 3)
        }

        @Test("A missing login must be made first")
        func missing() throws {
            let place = try Place("")
            let refused = try Installation(place.database).run(
                "migrate", "--service-login", "deed_nobody")
            #expect(refused.code == 1)
            #expect(refused.errors.contains("create role deed_nobody login"))
        }

        @Test("Only the owner's login can give a database a test clock, and is named")
        func testClock() throws {
            let place = try Place("in role deed_service")
            let refused = try place.run("serve", "--listen", "127.0.0.1:0", "--test-clock")
            #expect(refused.code == 1)
            #expect(refused.errors.contains("with the login for deed migrate"), "\(refused.errors)")
            #expect(try place.database.number("select count(*) from deed.test_clock") == 0)
        }

        @Test("deed migrate and the service name schema changes that no migration made")
        func differences() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            #expect(try deed.run("migrate").code == 0)
            try database.run("drop trigger events_only_grow on deed.events")
            let refused = try deed.run("migrate", "--json")
            #expect(refused.code == 1)
            #expect(refused.errors.contains("schema_differs"), "\(refused.errors)")
            let named = try refused.json["differences"]?.array ?? []
            #expect(named.contains { $0["aspect"] == "trigger events_only_grow" })
            let service = try deed.serve()
            #expect(
                eventually(within: 5000) {
                    service.log.contains(#""event":"schema_differs""#)
                        && service.log.contains("trigger events_only_grow")
                })
        }

        @Test("An instance with a hanging database is not ready, and is again when it answers")
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

        @Test("The reason for an unreachable database is in the log, once")
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

/// Deed over a database whose owner is a different login.
private struct Place {
    let database: ScratchDatabase
    let login: TestLogin
    private let installation: Installation

    init(_ attributes: String) throws {
        database = try ScratchDatabase()
        installation = try Installation(database)
        login = try TestLogin(attributes, at: database.url)
    }

    /// Follows the page to close the database to other logins, as the owner.
    func close(to other: TestLogin? = nil) throws {
        let closed = try installation.run(
            "migrate", "--service-login", (other ?? login).name)
        #expect(closed.code == 0, "\(closed.errors)")
        #expect(closed.errors == "")
    }

    func run(_ arguments: String..., login other: TestLogin? = nil) throws -> Finished {
        try installation.run(
            arguments, variables: ["DEED_DATABASE_URL": (other ?? login).url(of: database)])
    }
}
