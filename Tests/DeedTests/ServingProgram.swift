import Foundation
import Glibc
import JSON
import Outbound
import TestSupport
import Threading

/// A program that prints its address and then serves until the test ends.
final class ServingProgram: Sendable {
    let url: String
    private let process: ChildProcess

    init(
        _ program: String, _ arguments: [String], _ variables: [String: String] = [:],
        in folder: borrowing ScratchFolder
    ) throws {
        let name = "\(UInt64.random(in: 0...UInt64.max))"
        let (output, errors) = (folder.file("\(name).out"), folder.file("\(name).err"))
        var environment = variables
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        process = try ChildProcess(
            program, arguments, environment: environment, output: output, errors: errors)
        let deadline = monotonicMilliseconds() + 60_000
        while true {
            let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
            if let found = text.firstMatch(of: /on (http:\/\/127\.0\.0\.1:\d+)\n/) {
                url = String(found.1)
                return
            }
            if process.wait(milliseconds: 10) != nil || monotonicMilliseconds() > deadline {
                let words = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
                throw Installation.Failed(description: "\(program) does not serve: \(words)")
            }
        }
    }

    deinit {
        process.signal(SIGKILL)
        _ = process.wait(milliseconds: 5000)
    }

    /// Sends a signal. After SIGSTOP, connections stay open but get no answers.
    func signal(_ number: Int32) { process.signal(number) }

    /// Makes a request, and returns the answer.
    func ask(
        _ method: String, _ path: String, _ body: JSON? = nil
    ) throws -> (status: Int, json: JSON) {
        var client = try HTTPClient()
        var request = OutboundRequest(
            method, url + path, headers: [("Content-Type", "application/json")],
            body: body?.bytes ?? [])
        request.timeoutMilliseconds = 60_000
        let answer = try client.send(request)
        return (answer.status, try JSON.read(answer.body))
    }
}

/// Deed with a test clock, and a practice store that moves it, each in its own process.
final class PracticeGround: Sendable {
    let deed: Installation
    let service: RunningService
    let store: ServingProgram
    let adminKey: String
    private let folder: ScratchFolder
    /// The practice store's folder.
    let data: String

    /// `options` go to the practice store, and `serving` to Deed. With another ground, the store
    /// signs with that ground's keys.
    init(
        _ database: ScratchDatabase, _ options: [String] = [], keysOf other: PracticeGround? = nil,
        serving: [String] = []
    ) throws {
        folder = try ScratchFolder()
        deed = try Installation(database)
        let data = folder.file("practice")
        self.data = data
        if let other {
            try FileManager.default.createDirectory(
                atPath: data, withIntermediateDirectories: true)
            for name in ["roots", "keys", "private"] {
                try FileManager.default.copyItem(
                    atPath: "\(other.data)/\(name)", toPath: "\(data)/\(name)")
            }
        }
        let roots = try ServingProgram.run(
            Installation.practice, ["roots", "--data-dir", data], in: folder)
        guard roots == 0 else { throw Installation.Failed(description: "no roots were made") }
        adminKey = try deed.makeKey()
        _ = try deed.run(
            "app", "set", "--bundle-id", "com.example.game", "--apple-id", "1234567890",
            "--sandbox-access", "all")
        let applied = try deed.run("catalog", "apply", PracticeGround.example("catalog.json"))
        guard applied.code == 0 else { throw Installation.Failed(description: applied.errors) }
        service = try deed.serve(
            ["--test-clock", "--extra-roots", "\(data)/roots"] + serving)
        store = try ServingProgram(
            Installation.practice,
            [
                "serve", "--data-dir", data, "--listen", "127.0.0.1:0", "--service-url",
                service.url, "--notify", "\(service.url)/v1/stores/apple/notifications",
            ] + options, ["DEED_PRACTICE_SERVICE_KEY": adminKey], in: folder)
    }

    /// Returns the output of a `deed-practice` command about this store.
    func practise(_ words: String...) throws -> Finished {
        let (output, errors) = (folder.file("practised.out"), folder.file("practised.err"))
        let process = try ChildProcess(
            Installation.practice, words, environment: ["DEED_PRACTICE_URL": store.url],
            output: output, errors: errors)
        guard let code = process.wait(milliseconds: 240_000) else {
            throw Installation.Failed(description: "deed-practice \(words) did not end")
        }
        return Finished(
            code: code, output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// Starts one of the examples' back ends with this Deed.
    func backEnd(_ program: String, _ file: String) throws -> ServingProgram {
        let made = try deed.run(
            "key", "create", "--role", "backend", "--json", variables: ["DEED_TEST_CLOCK": "1"])
        return try ServingProgram(
            "/usr/bin/env", [program, PracticeGround.example(file)],
            [
                "DEED_URL": service.url, "DEED_KEY": made.json["key"]?.string ?? "",
                "DEED_ENVIRONMENT": "sandbox", "PORT": "0",
            ], in: folder)
    }

    /// The variables with which commands reach the practice store.
    var variables: [String: String] {
        [
            "DEED_TEST_CLOCK": "1", "DEED_EXTRA_ROOTS": "\(data)/roots",
            "DEED_SECRET_KEY_FILE": folder.file("secret.key"),
        ]
    }

    /// Gives Deed the practice store's key.
    func connect() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(data)/keys")
        let name = names.first { $0.hasPrefix("AuthKey_") } ?? ""
        let issuer = try String(contentsOfFile: "\(data)/keys/issuer", encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        let set = try deed.run(
            "app", "set", "--bundle-id", "com.example.game", "--store-url", store.url,
            "--issuer-id", issuer, "--key-id", String(name.dropFirst(8).dropLast(3)),
            "--key-file", "\(data)/keys/\(name)", variables: variables)
        guard set.code == 0 else { throw Installation.Failed(description: set.errors) }
    }

    /// Returns a file of `docs/examples/backend`.
    static func example(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/backend/\(name)")
            .path
    }
}

extension ServingProgram {
    /// Runs a program to its end. Returns its exit code.
    static func run(
        _ program: String, _ arguments: [String], in folder: borrowing ScratchFolder
    ) throws -> Int32? {
        let process = try ChildProcess(
            program, arguments, environment: [:], output: folder.file("ended.out"),
            errors: folder.file("ended.err"))
        return process.wait(milliseconds: 60_000)
    }
}

extension Installation {
    /// The program `deed-practice`, as built next to the tests.
    static var practice: String { program + "-practice" }
}
