import Core
import Foundation
import Minting
import TestSupport
import Testing

extension ProgramTests {
    /// Runs the commands of `docs/support.md` in order, under a clock that stands still.
    @Suite("The page for support", .timeLimit(.minutes(20)))
    struct SupportPage {
        private struct Step {
            let command: String
            var output: [String] = []
        }

        private static func steps() throws -> [Step] {
            let file = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/support.md").standardizedFileURL
            let page = try String(contentsOf: file, encoding: .utf8)
            var steps: [Step] = []
            for block in page.matches(of: /(?s)```console\n(.*?)\n```/) {
                for line in block.1.split(separator: "\n") {
                    if line.hasPrefix("$ deed ") {
                        steps.append(Step(command: String(line.dropFirst("$ deed ".count))))
                    } else {
                        steps[steps.count - 1].output.append(String(line))
                    }
                }
            }
            return steps
        }

        @Test("Its commands do as they are pasted what it says, and it has seven cases")
        func pasted() throws {
            let deed = try stage()
            let steps = try SupportPage.steps()
            #expect(steps.count > 15)
            var names: [String: String] = [:]
            for step in steps {
                var line = step.command
                for (name, id) in names { line = line.replacing(name, with: id) }
                let done = try deed.run(words(line), variables: ["DEED_TEST_CLOCK": "1"])
                #expect(done.code == 0, "\(step.command): \(done.errors)")
                let output = done.output.split(separator: "\n").map(String.init)
                #expect(output.count == step.output.count, "\(step.command)\n\(done.output)")
                for (shown, line) in zip(step.output, output) {
                    expect(line, as: shown, &names)
                }
            }
        }

        /// Compares a line with the page. Grant ids may differ, and `…` stands for any text.
        private func expect(
            _ line: String, as shown: String, _ names: inout [String: String]
        ) {
            let known = Set(names.keys)
            for id in shown.matches(of: /g_[a-z]+/).map({ String($0.0) }) where !known.contains(id)
            {
                guard let found = line.firstMatch(of: /g_[a-z0-9]+/) else { continue }
                names[id] = String(found.0)
            }
            var expected = shown
            for (name, id) in names { expected = expected.replacing(name, with: id) }
            let parts = expected.components(separatedBy: "…")
            let isSame =
                parts.count == 1
                ? line == expected : line.hasPrefix(parts[0]) && line.hasSuffix(parts[1])
            #expect(isSame, "\(line)\n\(expected)")
        }

        /// Returns the words of a line as a shell splits them.
        private func words(_ line: String) -> [String] {
            line.matches(of: /"([^"]*)"|(\S+)/).map { String($0.1 ?? $0.2 ?? "") }
        }

        private func stage() throws -> Installation {
            let database = try ScratchDatabase()
            let start = Instant(milliseconds: 1_795_202_460_000)
            try database.run(
                "insert into deed.test_clock (stands_at, marked_at) "
                    + "values (\(start.milliseconds), \(start.milliseconds))")
            let deed = try Installation(database)
            let folder = try EvidenceFolder()
            let service = try deed.serve("--test-clock", "--extra-roots", "\(folder.path)/roots")
            let clock = ["DEED_TEST_CLOCK": "1"]
            try folder.write(
                Array(
                    """
                    {"products":[{"id":"level2","kind":"non_consumable","entitlements":["level2"]},
                      {"id":"pro.month","kind":"auto_renewable","group":"pro","level":1,"entitlements":["pro"]}],
                     "entitlements":{"pro":{},"level2":{}},"currencies":{"coins":{}}}
                    """.utf8), "catalog.json")
            for command in [
                ["project", "create", "default"],
                [
                    "app", "set", "--bundle-id", Payload.bundleID, "--apple-id", "1234567890",
                    "--sandbox-access", "none",
                ],
                ["catalog", "apply", "\(folder.path)/catalog.json"],
            ] {
                let done = try deed.run(command, variables: clock)
                #expect(done.code == 0, "\(done.errors)")
            }
            func days(_ count: Int64) -> Instant {
                start.advanced(byMilliseconds: count * 86_400_000)
            }
            var store = MintedStore(environment: "Sandbox")
            store.appleID = 1_234_567_890
            try folder.write(
                Array(
                    store.transaction(
                        Sale("30", "pro.month", .autoRenewable, at: days(-1), until: days(29))
                    ).utf8), "month.jws")
            let bought = try deed.run(
                [
                    "submit", "\(folder.path)/month.jws", "--customer", "eve", "--environment",
                    "sandbox", "--extra-roots", "\(folder.path)/roots",
                ], variables: clock)
            #expect(bought.code == 0, "\(bought.errors)")
            let news = store.signedNotification(
                "ONE_TIME_CHARGE", id: "n1", at: days(-1),
                transaction: store.transaction(
                    Sale("40", "level2", .nonConsumable, at: days(-2))))
            var client = try APIClient(key: "")
            let told = try client.send(
                "POST", "\(service.url)/v1/stores/apple/notifications",
                body: #"{"signedPayload":"\#(news)"}"#)
            #expect(told.status == 200, "\(told.text)")
            return deed
        }
    }
}
