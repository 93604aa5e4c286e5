import Foundation
import Glibc
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("The demo", .timeLimit(.minutes(20)))
    struct Demo {
        @Test(
            "Fourteen customers of two stores live in it, and it leaves nothing behind when stopped"
        )
        func demo() throws {
            let folder = try ScratchFolder()
            let port = try freePort()
            let output = folder.file("demo.out")
            // The demo must not change the data folder, which is here.
            let real = folder.file("real")
            var environment = [
                "DEED_DATA_DIR": real, "TMPDIR": folder.path, "DEED_TEST_CLOCK": "1",
            ]
            for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
                environment[name] = ProcessInfo.processInfo.environment[name]
            }
            let programs = URL(fileURLWithPath: Installation.program)
                .deletingLastPathComponent().path
            let process = try ChildProcess(
                "/usr/bin/env",
                [
                    "bash", Demo.script, "--demo", "--pace", "20s", "--programs", programs,
                    "--listen", "127.0.0.1:\(port)",
                ], environment: environment, output: output, errors: folder.file("demo.err"))
            defer {
                process.signal(SIGTERM)
                _ = process.wait(milliseconds: 30_000)
            }
            let seen = { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
            for line in [
                "ada pro may use (trial)", "ada pro may use (active)", "cleo pro may use (grace)",
                "cleo pro may not use (retry)", "cleo pro may not use (expired)",
                "ben pro may not use (expired)",
                "eve premium may use (active)", "hana level2 may not use (revoked)",
                "ivan season_pass may use (active)", "oli basic may use (active)",
                "gus coins may use (400)", "ivan season_pass may not use (expired)",
                "pia pro may use (active)", "raj level2 may use (active)",
            ] {
                let isSeen = eventually(within: 240_000) { seen().contains(line) }
                let errors = try? String(contentsOfFile: folder.file("demo.err"), encoding: .utf8)
                #expect(isSeen, "\(line) is not in: \(seen()) \(errors ?? "")")
                if !isSeen { break }
            }
            let link = try #require(
                seen().firstMatch(of: /http:\/\/127\.0\.0\.1:\d+(\/console\/link\/\S+)/)?.1)
            let visitor = try RawClient(undocumented: port, milliseconds: 10_000)
            visitor.send("GET \(link) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(visitor.reply()?.body.contains("demo@example.com") == true)
            process.signal(SIGINT)
            #expect(process.wait(milliseconds: 60_000) == 0)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.sorted() == ["demo.err", "demo.out"])
            #expect(throws: (any Error).self) { try RawClient(port: port) }
        }

        @Test("A port in use is reported before anything is made")
        func takenPort() throws {
            let folder = try ScratchFolder()
            let (listener, port) = try boundSocket()
            defer { close(listener) }
            try #require(listen(listener, 8) == 0)
            let process = try ChildProcess(
                "/usr/bin/env",
                [
                    "bash", Demo.script, "--demo", "--programs", "/nowhere", "--listen",
                    "127.0.0.1:\(port)",
                ],
                environment: [
                    "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "",
                    "TMPDIR": folder.path,
                ], output: folder.file("out"), errors: folder.file("err"))
            #expect(process.wait(milliseconds: 20_000) == 1)
            let words = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
            #expect(words.contains("something serves on 127.0.0.1:\(port) already"), "\(words)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.sorted() == ["err", "out"])
        }

        @Test(
            "An unknown flag, or one without its value, is named",
            arguments: [
                (["--bogus"], "unknown flag: --bogus"),
                (["--listen"], "--listen needs a value"), (["here"], "unexpected argument: here"),
            ])
        func misused(words: [String], sentence: String) throws {
            let folder = try ScratchFolder()
            let process = try ChildProcess(
                "/usr/bin/env", ["bash", Demo.script] + words,
                environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""],
                output: folder.file("out"), errors: folder.file("err"))
            #expect(process.wait(milliseconds: 20_000) == 2)
            let told = try String(contentsOfFile: folder.file("err"), encoding: .utf8)
            #expect(told.contains(sentence), "\(told)")
        }

        private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("scripts/run").path
    }
}
