import Core
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Boundaries while services run")
    struct BoundaryJobTests {
        @Test("Two services publish an end within a second of its instant, and once")
        func inTime() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            let key = try deed.makeKey()
            let services = [try deed.serve(), try deed.serve()]
            let isPublishing = try eventually(within: 10_000) {
                try database.number(
                    "select count(*) from deed.events where type = 'publication.started'") == 1
            }
            #expect(isPublishing)
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
    }
}
