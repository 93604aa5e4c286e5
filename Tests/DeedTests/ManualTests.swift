import Foundation
import TestSupport
import Testing

extension ProgramTests {
    @Suite("The manual page and the completion", .timeLimit(.minutes(20)))
    struct Manual {
        private let installation: Installation

        init() throws { installation = try Installation(url: "") }

        private func text(_ words: String...) throws -> String {
            let printed = try installation.run(words)
            #expect(printed.code == 0, "\(printed.errors)")
            return printed.output
        }

        /// Returns the names of all commands in `deed --help`.
        private func commands() throws -> [String] {
            try text("--help").split(separator: "\n").filter { $0.hasPrefix("  deed ") }.map {
                $0.dropFirst(7).split(separator: "   ")[0].trimmingCharacters(in: .whitespaces)
            }
        }

        @Test("The manual page says about each command and flag what --help says")
        func page() throws {
            let page = try text("manual").replacing("\\-", with: "-")
                .replacing("\\(dq", with: "\"").replacing("\\&", with: "")
                .replacing("\\e", with: "\\")
            let names = try commands()
            #expect(names.count > 60)
            for name in names {
                let help = try installation.run(
                    name.split(separator: " ").map(String.init) + ["--help"])
                let lines = help.output.split(separator: "\n")
                #expect(page.contains(String(lines[0])), "\(name)")
                for line in lines where line.hasPrefix("  ") {
                    let columns = line.trimmingPrefix("  ").split(
                        separator: #/ {3,}/#, maxSplits: 1, omittingEmptySubsequences: true)
                    #expect(
                        page.contains(".TP\n.B \(columns[0])\n\(columns[1])"), "\(name): \(line)")
                }
            }
        }

        @Test("bash completes the next word of a command, and then its flags")
        func bash() throws {
            let folder = try ScratchFolder()
            try text("completion", "bash").write(
                toFile: folder.file("deed"), atomically: true, encoding: .utf8)
            func offered(_ words: String...) throws -> Set<String> {
                let line = words.map { "'\($0)'" }.joined(separator: " ")
                let script = """
                    source \(folder.file("deed"))
                    COMP_WORDS=(deed \(line)); COMP_CWORD=\(words.count)
                    _deed; printf '%s\\n' "${COMPREPLY[@]}"
                    """
                let shell = try ChildProcess(
                    "/bin/bash", ["-c", script], environment: ["PATH": "/usr/bin:/bin"],
                    output: folder.file("out"), errors: folder.file("err"))
                #expect(shell.wait(milliseconds: 10_000) == 0)
                let text = try String(contentsOfFile: folder.file("out"), encoding: .utf8)
                return Set(text.split(separator: "\n").map(String.init))
            }
            #expect(try offered("gra") == ["grant"])
            #expect(try offered("key", "") == ["create", "list", "revoke", "rotate"])
            #expect(try offered("key", "create", "--ro") == ["--role"])
            #expect(try offered("key", "create", "--role", "admin", "--na") == ["--name"])
        }

        @Test("An unknown shell is refused by name")
        func otherShell() throws {
            let refused = try installation.run("completion", "csh")
            #expect(refused.code == 2 && refused.errors.contains("bash, zsh or fish"))
        }
    }
}
