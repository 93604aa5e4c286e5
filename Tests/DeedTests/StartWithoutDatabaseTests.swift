import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("A start while the database is down", .serialized, .timeLimit(.minutes(20)))
    struct StartWithoutDatabase {
        private let pair: PostgresPair
        private let installation: Installation

        init() throws {
            pair = try PostgresPair()
            installation = try Installation(url: pair.url)
        }

        @Test("The service waits, says so, and serves once the database is up")
        func waits() throws {
            #expect(try installation.run("migrate").code == 0)
            let key = try installation.makeKey()
            try pair.stop(.standby)
            try pair.stop(.primary)
            startThread("starting") { [pair] in
                pause(milliseconds: 3000)
                try? pair.start(.primary)
            }
            let service = try installation.serve()
            #expect(service.log.contains("database_awaited"))
            #expect(service.log.contains("database_found"))
            var client = try APIClient(key: key)
            #expect(try client.read("\(service.url)/v1/products")["products"] != nil)
        }

        @Test("With --no-wait it ends at once, and also if the login is refused")
        func ends() throws {
            let stranger = pair.url(of: .primary).replacing("user=deed", with: "user=nobody")
            let refused = try installation.run("serve", "--database-url", stranger)
            #expect(refused.code == 3)
            try pair.stop(.standby)
            try pair.stop(.primary)
            #expect(try installation.run("serve", "--no-wait").code == 3)
        }
    }
}
