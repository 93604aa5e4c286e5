import Foundation
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The console in Chromium", .timeLimit(.minutes(30)))
    struct ConsoleBrowser {
        /// The folder for pictures of the pages. Without it, none are taken.
        private static let screenshots = ProcessInfo.processInfo.environment[
            "DEED_SCREENSHOTS"]

        @Test(
            "Support does each of its tasks with two presses, and every page is in order",
            arguments: [true, false])
        func tasks(runsScript: Bool) throws {
            let ground = try PracticeGround(
                ScratchDatabase(),
                serving: ["--console", "--webhook-allow", "127.0.0.1"])
            let mark = runsScript ? "script" : "plain"
            var variables = [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "",
                "DEED_URL": ground.service.url, "DEED_KEY": ground.adminKey,
                "DEED_STORE": ground.store.url,
            ]
            for role in ["admin", "support"] {
                let made = try ground.deed.run(
                    "person", "create", "--email", "\(role)-\(mark)@example.com", "--role", role,
                    "--console-url", ground.service.url, "--json",
                    variables: ["DEED_TEST_CLOCK": "1"])
                let person = try made.json
                let name = role.uppercased()
                variables["DEED_\(name)"] = try #require(
                    person["person"]?.string, "\(made.errors)")
                variables["DEED_\(name)_LINK"] = person["link"]?.string
            }
            let spare = try ground.deed.run(
                "key", "create", "--role", "reader", "--name", "spare", "--json",
                variables: ["DEED_TEST_CLOCK": "1"]
            ).json
            variables["DEED_SPARE_ID"] = spare["id"]?.string
            variables["DEED_SPARE_KEY"] = spare["key"]?.string
            var arguments = [script] + (runsScript ? [] : ["--without-script"])
            if let folder = ConsoleBrowser.screenshots {
                arguments += ["--screenshots", "\(folder)/\(mark)"]
            }
            let folder = try ScratchFolder()
            variables["HOME"] = folder.path
            // The distribution's interpreter has the distribution's Selenium.
            let process = try ChildProcess(
                "/usr/bin/python3", arguments, environment: variables,
                output: folder.file("out"), errors: folder.file("err"))
            let code = process.wait(milliseconds: 1_200_000)
            let words = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
            #expect(
                code == 0,
                "If it cannot start, install chromium, chromium-driver and python3-selenium. \(words)"
            )
        }

        private var script: String {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("console_browser.py").path
        }
    }
}
