import Foundation
import Glibc
import JSON
import Synchronization
import TestSupport
import Threading

/// A command's output and its exit code.
struct Finished: Sendable {
    let code: Int32
    let output: String
    let errors: String

    /// The one JSON document in the output.
    var json: JSON { get throws { try JSON.read(output) } }
}

/// A `deed serve` that answers.
struct RunningService: Sendable {
    let process: ChildProcess
    let port: UInt16
    let errors: String

    var url: String { "http://127.0.0.1:\(port)" }
    var log: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }
}

/// An installed Deed: the built program, its database, and everything that it starts. All of it ends with the test.
final class Installation: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: ScratchFolder
    private let variables: [String: String]
    private let database: ScratchDatabase?
    private let started = Mutex<[ChildProcess]>([])
    private let files = Atomic(0)
    /// The descriptor limit of its programs, as arguments of the shell's `ulimit`.
    private let descriptors: String

    /// Installs Deed over a private PostgreSQL in a separate folder.
    init() throws {
        folder = try ScratchFolder()
        variables = ["DEED_DATA_DIR": folder.file("data")]
        database = nil
        descriptors = Installation.loginDescriptors
    }

    /// Installs Deed over a database that runs elsewhere.
    init(_ database: ScratchDatabase, descriptors: String = loginDescriptors) throws {
        folder = try ScratchFolder()
        variables = ["DEED_DATABASE_URL": database.url, "DEED_DATA_DIR": folder.file("data")]
        self.database = database
        self.descriptors = descriptors
    }

    /// Installs Deed over the database at that URL. It may be empty.
    init(url: String) throws {
        folder = try ScratchFolder()
        variables = ["DEED_DATABASE_URL": url, "DEED_DATA_DIR": folder.file("data")]
        database = nil
        descriptors = Installation.loginDescriptors
    }

    deinit {
        for process in started.withLock({ $0 }) {
            process.signal(SIGKILL)
            _ = process.wait(milliseconds: 5000)
        }
        guard let postmaster else { return }
        kill(postmaster, SIGQUIT)
        let deadline = monotonicMilliseconds() + 10_000
        while self.postmaster != nil, monotonicMilliseconds() < deadline { pause(milliseconds: 5) }
        for process in postgresProcesses { kill(process, SIGKILL) }
    }

    /// Runs a command to its end.
    func run(
        _ arguments: String..., variables more: [String: String] = [:]
    ) throws -> Finished {
        try run(arguments, variables: more)
    }

    func run(_ arguments: [String], variables more: [String: String] = [:]) throws -> Finished {
        let (process, output, errors) = try start(arguments, more)
        guard let code = process.wait(milliseconds: 120_000) else {
            throw Failed(description: "deed \(arguments) did not end")
        }
        return Finished(
            code: code, output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// Starts a service on that port, or on a free one. Returns once it answers.
    func serve(
        _ options: String..., port: UInt16 = 0, variables: [String: String] = [:]
    ) throws -> RunningService {
        try serve(options, port: port, variables)
    }

    /// Migrates the schema, creates a key, and starts a service.
    func begin(_ options: String...) throws -> (RunningService, key: String) {
        let migration = try run("migrate")
        if migration.code != 0 { throw Failed(description: migration.errors) }
        let key = try makeKey()
        return (try serve(options), key)
    }

    func serve(
        _ options: [String], port: UInt16 = 0, _ variables: [String: String] = [:]
    ) throws -> RunningService {
        let arguments = ["serve", "--listen", "127.0.0.1:\(port)"] + options
        let (process, _, errors) = try start(arguments, variables)
        let deadline = monotonicMilliseconds() + 60_000
        while true {
            let log = try String(contentsOfFile: errors, encoding: .utf8)
            let ready = log.split(separator: "\n").lazy.compactMap { try? JSON.read(String($0)) }
                .first { $0["event"]?.string == "ready" }
            if let port = ready?["port"]?.integer {
                return RunningService(process: process, port: UInt16(port), errors: errors)
            }
            if process.wait(milliseconds: 5) != nil || monotonicMilliseconds() > deadline {
                let log = try String(contentsOfFile: errors, encoding: .utf8)
                throw Failed(description: "deed serve is not ready: \(log)")
            }
        }
    }

    func start(
        _ arguments: [String], _ more: [String: String] = [:]
    ) throws -> (ChildProcess, output: String, errors: String) {
        let number = files.add(1, ordering: .relaxed).newValue
        let (output, errors) = (folder.file("\(number).out"), folder.file("\(number).err"))
        var environment = variables.merging(more) { $1 }
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        let shell = ["-c", "ulimit \(descriptors); exec \"$0\" \"$@\"", Installation.program]
        let process = try ChildProcess(
            "/bin/sh", shell + arguments, environment: environment, output: output, errors: errors)
        started.withLock { $0.append(process) }
        return (process, output, errors)
    }

    /// The usual limit in a login shell. The tests themselves may have a higher one.
    static let loginDescriptors = "-Sn 1024"

    /// The program `deed`, as built next to the tests.
    static let program: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return URL(fileURLWithPath: tests ?? "").deletingLastPathComponent()
            .appendingPathComponent("deed").path
    }()
}

extension Installation {
    /// Creates a key on the command line.
    func makeKey(_ role: String = "admin") throws -> String {
        let created = try run("project", "create", "default", "--if-missing")
        let made = try run("key", "create", "--role", role, "--json")
        guard created.code == 0, let key = try made.json["key"]?.string else {
            throw Failed(description: "no key was made: \(created.errors) \(made.errors)")
        }
        return key
    }

    var dataFolder: String { variables["DEED_DATA_DIR"] ?? "" }

    /// The URL with which the tests themselves can query the database.
    var databaseURL: String {
        variables["DEED_DATABASE_URL"]
            ?? "postgresql:///postgres?host=\(dataFolder)/socket&user=deed"
    }

    /// The private PostgreSQL's first process; `nil` if it does not run.
    var postmaster: pid_t? {
        let file = "\(dataFolder)/postgres/postmaster.pid"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8),
            let process = text.split(separator: "\n").first.flatMap({ pid_t($0) }),
            name(of: process) == "postgres"
        else { return nil }
        return process
    }

    /// Every process of the private PostgreSQL, starting with the first.
    var postgresProcesses: [pid_t] {
        guard let postmaster else { return [] }
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return [postmaster] + all.compactMap { pid_t($0) }.filter { parent(of: $0) == postmaster }
    }

    private func name(of process: pid_t) -> String? {
        let text = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
        return text?.split(separator: "\n").first.map(String.init)
    }

    private func parent(of process: pid_t) -> pid_t? {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // State and parent follow the name in parentheses.
        let fields = text?.split(separator: ")").last?.split(separator: " ")
        return fields.flatMap { $0.count > 1 ? pid_t($0[1]) : nil }
    }
}
