import Foundation
import Glibc
import TestSupport
import Testing
import Threading

extension ProgramTests {
    /// Runs `docs/first-hour.md` as a newcomer would paste it: block by block into one shell, without pauses.
    @Suite("The first hour", .timeLimit(.minutes(20)))
    struct FirstHour {
        @Test("Its blocks do what the page says, and leave nothing behind")
        func pasted() throws {
            let page = try PastedPage()
            let outputs = try page.paste()
            try #require(outputs.count == 7, "\(page.words)")
            let answer = try #require(outputs["answer"])
            #expect(answer.contains(#""pro":{"active":true"#), "\(page.words)")
            let game = try #require(outputs["4"])
            #expect(game.contains(#""coins": 100"#), "\(page.words)")
            #expect(game.contains(#"{"balance": 70}"#), "\(page.words)")
            #expect(game.contains(#"{"rights": ["pro"], "#), "\(page.words)")
            let later = try #require(outputs["5"])
            #expect(later.contains(#"{"rights": ["pro"], "#), "\(page.words)")
            #expect(later.contains(#"{"rights": [], "#), "\(page.words)")
            #expect(later.contains("purchase.refunded"), "\(page.words)")
            #expect(later.contains("-30"), "\(page.words)")
            #expect(try #require(page.secondsToFirstAnswer) < 180)
            for text in outputs.values {
                #expect(!text.contains("error:") && !text.contains("curl: ("), "\(text)")
            }
            #expect(try page.leftovers() == [])
        }
    }
}

/// The page's shell blocks, which run next to copies of a clone's files.
private final class PastedPage {
    private let folder: ScratchFolder
    private let process: ChildProcess
    init() throws {
        folder = try ScratchFolder()
        let port = try freePort(inARow: 3)
        for name in ["clone/.build", "home", "tmp", "out"] {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: true)
        }
        // The user who runs PostgreSQL cannot enter root's home folder.
        chmod(folder.file("home"), 0o700)
        let programs = URL(fileURLWithPath: Installation.program).deletingLastPathComponent().path
        symlink(programs, folder.file("clone/.build/release"))
        symlink(PastedPage.root + "/docs", folder.file("clone/docs"))
        var environment = [
            "TMPDIR": folder.file("tmp"), "HOME": folder.file("home"),
        ]
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        let text = try String(
            contentsOfFile: PastedPage.root + "/docs/first-hour.md", encoding: .utf8)
        // The page derives all other ports from this one.
        let script = PastedPage.script(text, out: "../out")
            .replacing("port=8080 ", with: "port=\(port) ")
        process = try ChildProcess(
            "/usr/bin/env",
            ["-C", folder.file("clone"), "bash", try folder.write(script, to: "script")],
            environment: environment, output: folder.file("stdout"),
            errors: folder.file("stderr"))
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// Returns the blocks after the demo's, each with a separate output. The output that the page
    /// tells the reader to paste comes after the purchase.
    private static func script(_ page: String, out: String) -> String {
        let blocks = page.split(separator: "```sh\n").dropFirst().map { part in
            String(part.prefix(upTo: part.firstRange(of: "```")?.lowerBound ?? part.endIndex))
        }.filter { !$0.contains("scripts/run") }
        // The programs are already built.
        var script = "swift() { :; }\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n"
        for (number, block) in blocks.enumerated() {
            script += "{\n\(block)} >\(out)/\(number + 1) 2>&1\n"
            if block.contains("buy --customer u1 --product pro.month") {
                script += "sed -n '/^curl /,$p' \(out)/\(number + 1) >../paste\n"
                script += ". ../paste >\(out)/answer 2>/dev/null\n"
            }
        }
        return script
    }

    /// Runs the blocks. Returns the output of each block by its number.
    func paste() throws -> [String: String] {
        guard process.wait(milliseconds: 240_000) != nil else {
            throw Installation.Failed(description: "the page does not end: \(words)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("out"))
        return Dictionary(uniqueKeysWithValues: names.map { ($0, read("out/\($0)")) })
    }

    /// The seconds from Deed's start to the answer with the first purchase.
    var secondsToFirstAnswer: Double? {
        guard let start = changed("out/1"), let end = changed("out/answer") else { return nil }
        return end.timeIntervalSince(start)
    }

    /// Returns the files left in the clone, in the home folder and in the folder for temporary files.
    func leftovers() throws -> [String] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: folder.file("tmp"))
            + files.contentsOfDirectory(atPath: folder.file("home"))
            + files.contentsOfDirectory(atPath: folder.file("clone")).filter {
                $0 != ".build" && $0 != "docs"
            }
    }

    /// All of the output, for a failing test's message.
    var words: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file("out"))) ?? []
        return (names.sorted().map { "out/\($0)" } + ["stderr"])
            .map { "\($0): \(read($0))" }.joined(separator: "\n")
    }

    private func read(_ name: String) -> String {
        (try? String(contentsOfFile: folder.file(name), encoding: .utf8)) ?? ""
    }

    private func changed(_ name: String) -> Date? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.file(name))
        return attributes?[.modificationDate] as? Date
    }
}
