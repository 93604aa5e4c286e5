import Foundation
import Glibc
import JSON
import TestSupport
import Threading

/// Receivers of webhooks in a separate process, which outlives services.
final class WebhookReceivers {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let folder: ScratchFolder
    private(set) var ports: [String: Int] = [:]
    private var text = ""

    /// With a Python interpreter that has the public libraries, the receivers check each call.
    init(_ receivers: [(name: String, faults: String)], python: String? = nil) throws {
        folder = try ScratchFolder()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "webhook_receivers.py").path
        process.executableURL = URL(fileURLWithPath: python ?? "/usr/bin/env")
        let words = [script, folder.path] + (python == nil ? [] : ["library"])
        process.arguments = (python == nil ? ["python3"] : []) + words
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        for (name, faults) in receivers {
            let answer = try ask("\(name) \(faults)").split(separator: " ")
            ports[name] = answer.count == 2 ? Int(answer[1]) : nil
        }
    }

    deinit {
        // A test's child blocks every signal that can be blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func url(_ name: String) -> String { "http://127.0.0.1:\(ports[name] ?? 0)/hook" }

    /// Makes the failing receivers work again.
    func heal() throws { _ = try ask("well") }

    func setKeys(_ name: String, _ secret: String, _ publicKey: String) throws {
        _ = try ask("keys \(name) \(secret) \(publicKey)")
    }

    private func ask(_ line: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Array((line + "\n").utf8))
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Installation.Failed(description: "the receivers ended") }
            text += String(decoding: data, as: UTF8.self)
        }
        defer { text = "" }
        return text.trimmingCharacters(in: .newlines)
    }

    /// Returns the calls that the receiver answered with 2xx, or all calls.
    func calls(_ name: String, all: Bool = false) throws -> [JSON] {
        let text = (try? String(contentsOfFile: folder.file(name), encoding: .utf8)) ?? ""
        // The last line may be incomplete.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let calls = try lines.map { try JSON.read(String($0)) }
        return all ? calls : calls.filter { $0["end"]?.string == "ok" }
    }

    /// The mistakes that the libraries found in calls.
    var wrong: String { (try? String(contentsOfFile: folder.file("wrong"), encoding: .utf8)) ?? "" }
}

extension Installation {
    /// Makes a webhook for one of the receivers. Returns the answer.
    func makeWebhook(
        _ receivers: WebhookReceivers, _ name: String, _ options: String...
    ) throws -> JSON {
        let made = try run(
            [
                "webhook", "create", "--url", receivers.url(name), "--webhook-allow", "127.0.0.1",
                "--json",
            ] + options)
        guard made.code == 0 else { throw Failed(description: made.errors) }
        return try made.json
    }
}
