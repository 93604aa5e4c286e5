import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("deed events", .timeLimit(.minutes(20)))
    struct EventsCommandTests {
        private func give(_ entitlement: String, in installation: Installation) throws {
            let given = try installation.run(
                "grant", "--customer", "u1", "--entitlement", entitlement, "--reason", "r",
                "--allow-unknown")
            #expect(given.code == 0, "\(given.errors)")
        }

        private func lines(of file: String) throws -> [JSON] {
            try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map {
                try JSON.read(String($0))
            }
        }

        @Test(
            "A follower prints each event as it happens, and where to go on when it is interrupted",
            arguments: [SIGINT, SIGTERM])
        func interrupted(signal: Int32) throws {
            let installation = try Installation(try ScratchDatabase())
            _ = try installation.makeKey()
            try give("early", in: installation)
            let (follower, output, errors) = try installation.start(
                ["events", "--follow", "--json", "--types", "grant.*"])
            func isTold(_ count: Int) -> Bool {
                eventually(within: 20_000) { (try? lines(of: output).count) ?? 0 >= count }
            }
            #expect(isTold(1))
            try give("late", in: installation)
            #expect(isTold(2))
            follower.signal(signal)
            let told = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(follower.wait(milliseconds: 10_000) == 0, "\(told)")
            let printed = try lines(of: output)
            #expect(
                printed.dropLast().map { $0["data"]?["entitlement"]?.string } == ["early", "late"])
            let next = try #require(printed.last?["next"]?.string)
            try give("later", in: installation)
            let rest = try installation.run("events", "--after", next, "--json")
            let further = rest.output.split(separator: "\n").compactMap {
                try? JSON.read(String($0))
            }
            #expect(further.dropLast().map { $0["data"]?["entitlement"]?.string } == ["later"])
        }

        @Test("A follower says that the database is away, and continues when it is back")
        func restarted() throws {
            let pair = try PostgresPair()
            let installation = try Installation(url: pair.url)
            #expect(try installation.run("migrate").code == 0)
            _ = try installation.makeKey()
            try give("before", in: installation)
            let (follower, output, errors) = try installation.start(
                ["events", "--follow", "--json", "--types", "grant.*"])
            func told() -> [String?] {
                ((try? lines(of: output)) ?? []).map { $0["data"]?["entitlement"]?.string }
            }
            #expect(eventually(within: 60_000) { told() == ["before"] })
            try pair.stop(.primary)
            #expect(
                try eventually(within: 60_000) {
                    try String(contentsOfFile: errors, encoding: .utf8).contains(
                        "Deed keeps trying")
                })
            try pair.start(.primary)
            try give("after", in: installation)
            #expect(eventually(within: 60_000) { told() == ["before", "after"] }, "\(told())")
            let said = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(said.contains("can be reached again") && said.split(separator: "\n").count == 2)
            follower.signal(SIGINT)
            #expect(follower.wait(milliseconds: 60_000) == 0)
        }
    }
}
