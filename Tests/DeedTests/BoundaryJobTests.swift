import Core
import Foundation
import Glibc
import JSON
import Synchronization
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Boundaries while services run")
    struct BoundaryJobTests {
        @Test("Two services publish an end within a second of its instant, and once")
        func inTime() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            let key = try deed.makeKey()
            let services = [try deed.serve(), try deed.serve()]
            for number in 0..<10 {
                let given = try deed.run(
                    "grant", "--customer", "u\(number)", "--entitlement", "pro", "--for", "PT3S",
                    "--reason", "test")
                #expect(given.code == 0, "\(given.errors)")
            }
            let isOver = try eventually(within: 20_000) {
                try database.number(
                    "select count(*) from deed.events where type = 'access.ended'") == 10
            }
            #expect(isOver)
            let late = try database.number(
                """
                select max(recorded_at - occurred_at) from deed.events where type = 'access.ended'
                """)
            #expect((0...1000).contains(late))
            var client = try APIClient(key: key)
            let events = try client.events(of: "u0", at: services[1].url)
            #expect(
                events.map { $0["type"]?.string } == ["grant.given", "access.ended"])
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        /// Runs reconciliations one after another until it is stopped, and records their exit codes.
        private final class Nights: Sendable {
            private let isOver = Monitor(false)
            private let codes = Monitor<[Int32]?>(nil)

            init(_ deed: Installation) {
                startThread("nights") { [isOver, codes] in
                    var found: [Int32] = []
                    while !isOver.change({ $0 }) {
                        found.append(
                            (try? deed.run("reconcile", "--only", "boundaries"))?.code ?? -1)
                        pause(milliseconds: 200)
                    }
                    codes.change { $0 = found }
                }
            }

            func end() -> [Int32] {
                isOver.change { $0 = true }
                return codes.wait(milliseconds: 120_000) { $0 } ?? []
            }
        }

        @Test(
            "Two services, one of them killed, and the nightly run publish notices on time, once"
        )
        func together() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            let key = try deed.makeKey()
            let folder = try ScratchFolder()
            let catalog: JSON = [
                "products": [], "entitlements": ["pro": ["title": "Pro", "ending_soon": "PT3S"]],
            ]
            try catalog.text.write(
                toFile: folder.file("catalog.json"), atomically: true, encoding: .utf8)
            #expect(try deed.run("catalog", "apply", folder.file("catalog.json")).code == 0)
            let services = [try deed.serve(), try deed.serve()]
            let nights = Nights(deed)
            func give(_ customer: Int, _ length: String) throws {
                let given = try deed.run(
                    "grant", "--customer", "u\(customer)", "--entitlement", "pro", "--for", length,
                    "--reason", "test")
                #expect(given.code == 0, "\(given.errors)")
            }
            for number in 0..<6 { try give(number, "PT8S") }
            services[0].process.signal(SIGKILL)
            let next = try deed.serve()
            func count(_ type: String) throws -> Int64 {
                try database.number("select count(*) from deed.events where type = '\(type)'")
            }
            #expect(try eventually(within: 30_000) { try count("access.ended") == 6 })
            // A late grant continues the access. Deed publishes that once.
            for number in 0..<6 { try give(number, "P1D") }
            let codes = nights.end()
            #expect(codes.count > 2 && codes.allSatisfy { $0 == 0 }, "\(codes)")
            var client = try APIClient(key: key)
            for number in 0..<6 {
                let events = try client.events(of: "u\(number)", at: next.url)
                #expect(
                    events.map { $0["type"]?.string } == [
                        "grant.given", "access.ending_soon", "access.ended", "grant.given",
                        "access.started",
                    ])
            }
            let late = try database.number(
                """
                select max(recorded_at - occurred_at) from deed.events
                where type in ('access.ending_soon', 'access.ended')
                """)
            #expect((0...1000).contains(late))
            #expect(try deed.run("audit", "--projections").code == 0)
        }
    }
}
