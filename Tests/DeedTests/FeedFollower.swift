import Foundation
import Glibc
import JSON
import Synchronization
import TestSupport

/// A follower from `docs/examples/feed` and its two files. The files outlive the program.
final class FeedFollower: Sendable {
    enum Program: String, CaseIterable, Sendable {
        case python = "follow.py"
        case node = "follow.mjs"

        /// The program and its file as arguments of `env`.
        var words: [String] { [self == .python ? "python3" : "node", path] }

        private var path: String {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/examples/feed/\(rawValue)").path
        }
    }

    private let program: Program
    private let key: String
    private let folder: ScratchFolder
    private let running = Mutex<(process: ChildProcess?, size: Int)>((nil, 0))
    private let starts = Atomic(0)

    init(_ program: Program, key: String) throws {
        self.program = program
        self.key = key
        folder = try ScratchFolder()
    }

    var cursor: String { folder.file("cursor") }
    var out: String { folder.file("out") }

    /// Runs the follower until it is killed. Its lines go to a file.
    func start(at service: String) throws {
        let (process, _, _) = try launch(["--url", service, "--out", out])
        running.withLock { $0 = (process, size) }
    }

    func kill() {
        running.withLock { running in
            running.process?.signal(SIGKILL)
            _ = running.process?.wait(milliseconds: 5000)
            running.process = nil
        }
    }

    /// Whether the follower has written to its file since it was started.
    var hasGrown: Bool { running.withLock { size > $0.size } }

    private var size: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: out)
        return attributes?[.size] as? Int ?? 0
    }

    /// Runs the follower to its end. It prints lines, unless the options name a file.
    func run(
        _ options: String..., more: [String] = [], key: String? = nil
    ) throws -> Finished {
        let (process, output, errors) = try launch(options + more, key: key)
        guard let code = process.wait(milliseconds: 60_000) else {
            throw Installation.Failed(description: "\(program) does not end")
        }
        return Finished(
            code: code, output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// Returns the lines of the follower's file. There are none before the file exists.
    func events() throws -> [JSON] {
        try ((try? String(contentsOfFile: out, encoding: .utf8)) ?? "").events
    }

    private func launch(
        _ options: [String], key: String? = nil
    ) throws -> (ChildProcess, output: String, errors: String) {
        let number = starts.add(1, ordering: .relaxed).newValue
        let (output, errors) = (folder.file("\(number).output"), folder.file("\(number).errors"))
        var environment = ["DEED_KEY": key ?? self.key]
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        let process = try ChildProcess(
            "/usr/bin/env", program.words + ["--cursor", cursor] + options,
            environment: environment, output: output, errors: errors)
        return (process, output, errors)
    }
}

extension String {
    /// The follower's complete lines. Text after the last line end is left out.
    var events: [JSON] {
        get throws {
            try split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .map { try JSON.read(String($0)) }
        }
    }
}
