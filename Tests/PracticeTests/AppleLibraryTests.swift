import AppStore
import Core
import Evidence
import Foundation
import Glibc
import Outbound
import Practice
import StoreAccess
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@Suite("Apple's own Python library and the practice store", .timeLimit(.minutes(20)))
struct AppleLibraryTests {
    @Test("It uses every call of the server API, meets its errors, and verifies signed answers")
    func library() async throws {
        try await aside { try talk() }
    }

    private func talk() throws {
        let folder = try ScratchFolder()
        let environment = folder.file("python")
        let made = try run("/usr/bin/env", ["python3", "-m", "venv", environment])
        #expect(made.code == 0, "install python3-venv: \(made.text)")
        let installed = try run(
            "\(environment)/bin/pip",
            [
                "install", "--quiet", "--disable-pip-version-check",
                "app-store-server-library==3.1.*",
            ])
        try #require(
            installed.code == 0,
            "PyPI cannot be reached, which this test needs; see the network: \(installed.text)")

        let program = try PracticeProgram(
            in: folder.file("store"),
            ["--clock", "2026-01-01T00:00:00Z", "--notify", "http://127.0.0.1:1/notifications"])
        let finished = try run(
            "\(environment)/bin/python",
            [
                script, program.url, program.folder, program.issuer, program.keyID,
                try token(for: program),
            ])
        #expect(finished.code == 0, "\(finished.text)")
        #expect(finished.text.contains("every call came out as it should"))
        #expect(program.stop() == 0)
    }

    /// Returns the bearer token that Deed makes with the store's own key.
    private func token(for program: PracticeProgram) throws -> String {
        let pem = try String(
            contentsOfFile: "\(program.folder)/keys/AuthKey_\(program.keyID).p8", encoding: .utf8)
        let line = TellingLine(
            credentials: StoreCredentials([
                "issuer_id": program.issuer, "key_id": program.keyID, "key": pem,
            ]))
        let client = AppStoreClient(line, Prover(minted: Metrics()))
        let app = StoreApp(
            project: try ProjectID("default"),
            key: AppKey(store: .apple, id: try AppID("com.example.game")))
        _ = try? client.ask(.test, about: app, in: .production)
        return try #require(line.shown.withLock { $0 }).replacingOccurrences(
            of: "Bearer ", with: "")
    }

    private var script: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("apple_library.py").path
    }
}

/// `deed-practice serve` as a process.
final class PracticeProgram {
    let folder: String
    let url: String
    let issuer: String
    let keyID: String
    private let process = Process()

    init(in folder: String, _ arguments: [String] = []) throws {
        self.folder = folder
        process.executableURL = practiceProgram
        process.arguments =
            ["serve", "--data-dir", folder, "--listen", "127.0.0.1:0"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.contains("shop.json") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Unreadable() }
            text += String(decoding: data, as: UTF8.self)
        }
        let words = text.split { " \n,".contains($0) }.map(String.init)
        func word(after other: String) -> String {
            words.firstIndex(of: other).map { words[$0 + 1] } ?? ""
        }
        url = word(after: "on")
        issuer = word(after: "issuer")
        keyID = word(after: "id")
    }

    deinit { _ = stop() }

    func stop() -> Int32 {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// `deed-practice`, as built next to the tests.
let practiceProgram: URL = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return URL(fileURLWithPath: tests ?? "").deletingLastPathComponent()
        .appendingPathComponent("deed-practice")
}()

/// Runs a program. Returns its output and its exit code.
func run(
    _ program: String, _ arguments: [String], variables: [String: String] = [:]
) throws -> (code: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
}

/// A store line that records what Deed would send, and sends nothing.
private final class TellingLine: StoreLine {
    let shown = Mutex<String?>(nil)
    private let credentials: StoreCredentials

    init(credentials: StoreCredentials) { self.credentials = credentials }

    func credentials(of app: StoreApp) -> StoreCredentials { credentials }

    func take(_ turn: StoreTurn, now: Instant) -> Instant? { nil }

    func rest(_ turn: StoreTurn, until: Instant) {}

    func send(
        _ request: OutboundRequest, respond: @escaping @Sendable (Courier.Answer) -> Void
    ) {
        let header = request.headers.first { $0.0 == "Authorization" }?.1
        shown.withLock { $0 = header }
        respond(.failure(.cancelled))
    }

    func machineClock() -> Instant {
        Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    func pause(milliseconds: Int64) {}
}
