import Foundation
import TestSupport
import Testing

@Suite("Google's own Python libraries and the practice store", .timeLimit(.minutes(20)))
struct GoogleLibraryTests {
    @Test("They get a token, use every call, meet its errors, and know every member of the answers")
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
                "google-api-python-client>=2.190", "google-auth>=2.40", "requests",
            ])
        try #require(
            installed.code == 0,
            "PyPI cannot be reached, which this test needs; see the network: \(installed.text)")
        let program = try PracticeProgram(
            in: folder.file("store"), ["--clock", "2026-01-01T00:00:00Z", "--seed", "3"])
        let finished = try run(
            "\(environment)/bin/python",
            [script, program.url, "\(program.folder)/keys/google-service-account.json"])
        #expect(finished.code == 0, "\(finished.text)")
        #expect(finished.text.contains("every call came out as it should"))
        #expect(program.stop() == 0)
    }

    private var script: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("google_library.py").path
    }
}
