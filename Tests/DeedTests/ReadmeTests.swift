import Foundation
import Glibc
import TestSupport
import Testing

extension ProgramTests {
    /// Runs `README.md` as a newcomer would paste it, next to a clone's files after its first command.
    @Suite("The README", .timeLimit(.minutes(20)))
    struct Readme {
        private static let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../..").standardizedFileURL

        private let page: String
        /// The page's code blocks, with their languages.
        private let blocks: [(language: Substring, text: Substring)]

        init() throws {
            let text = try String(
                contentsOf: Readme.root.appending(path: "README.md"), encoding: .utf8)
            page = text
            blocks = text.matches(of: /(?s)\n```(sh|json)\n(.*?)```\n/).map { ($0.1, $0.2) }
        }

        @Test("It has at most 70 lines")
        func length() {
            #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 71)
        }

        @Test("Its grant and its read do what it says when pasted")
        func pasted() throws {
            let folder = try ScratchFolder()
            let port = try freePort()
            let (clone, home) = (folder.file("clone"), folder.file("home"))
            for name in [clone + "/.build", home + "/.local/share"] {
                try FileManager.default.createDirectory(
                    atPath: name, withIntermediateDirectories: true)
            }
            let programs = URL(fileURLWithPath: Installation.program).deletingLastPathComponent()
            symlink(programs.path, clone + "/.build/release")
            let commands = blocks.filter { $0.language == "sh" }.map(\.text)
            try #require(commands.count == 3)
            #expect(commands[0].contains("scripts/run "))
            // Acts as an ordinary user, because root would use the machine's data folder.
            let script = """
                id() { echo 1000; }
                cd \(clone)
                DEED_DATA_DIR=~/.local/share/deed \(Readme.root.path)/scripts/run --programs .build/release \
                    --listen 127.0.0.1:\(port) >../log 2>&1 &
                trap 'kill $!; wait' EXIT
                for attempt in $(seq 600); do grep -q '^== Ctrl-C' ../log && break; sleep 0.1; done
                \(commands[1])
                \(commands[2].replacing(":8080/", with: ":\(port)/"))
                """
            let shell = try Shell(script, ["HOME": home])
            let log = (try? String(contentsOfFile: folder.file("log"), encoding: .utf8)) ?? ""
            #expect(shell.code == 0, "\(shell.errors) \(log)")
            #expect(shell.output.contains("The grant "), "\(shell.output) \(log)")
            let answer = try #require(shell.output.split(separator: "\n").last)
            // The answer on the page, of which only the names of members are compared.
            let shown = try #require(blocks.first { $0.language == "json" }).text
            let names = shown.matches(of: /"([a-z_]+)":/).map { String($0.0) }
            #expect(names.count > 10)
            for name in names { #expect(answer.contains(name), "\(name) \(answer)") }
            #expect(answer.contains(#""pro":{"active":true"#), "\(answer)")
        }
    }
}
