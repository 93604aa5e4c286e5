import Dispatch
import Foundation
import Synchronization
import TestSupport
import Threading

/// A part of the transcript: one file with a feature's calls and commands. Each part has its own
/// service, database and clock, so that it can be recorded alone.
struct TranscriptPart: Sendable {
    let name: String

    /// The part that precedes all other parts.
    static let start = TranscriptPart(name: "start")

    static let all: [TranscriptPart] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted()
            .map { TranscriptPart(name: String($0.dropLast(4))) }
    }()

    /// The parts that `DEED_RECORD_TRANSCRIPT` names, or all parts.
    static let chosen: [TranscriptPart] = {
        guard let order, order != "1" else { return all }
        return order.split(separator: ",").map { TranscriptPart(name: String($0)) }
    }()

    static var isRecording: Bool { order != nil }

    private static let order = ProcessInfo.processInfo.environment["DEED_RECORD_TRANSCRIPT"]

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/transcript")

    private var file: URL { TranscriptPart.folder.appendingPathComponent("\(name).txt") }

    func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    func record(_ text: String) throws {
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// Returns the texts of the parts with current answers. Runs a few parts at the same time,
    /// because a part mostly waits for programs.
    static func answered(_ parts: [TranscriptPart]) -> [(TranscriptPart, Result<String, any Error>)]
    {
        let places = DispatchSemaphore(value: 4)
        let texts = sideBySide(parts) { part in
            places.wait()
            defer { places.signal() }
            return Result { try part.answered() }
        }
        return Array(zip(parts, texts))
    }

    private func answered() throws -> String {
        let start = try TranscriptStart.played.get()
        if name == TranscriptPart.start.name { return start.answered }
        return try start.stage().perform(try Transcript(text()))
    }
}

/// The result of start.txt: a project with keys, a catalog and an app. It runs once, and each other
/// part continues with a copy of its database.
private final class TranscriptStart: Sendable {
    static let played = Result { try TranscriptStart() }

    let answered: String
    private let names: Names
    private let database: ScratchDatabase
    private let copying = Mutex(())

    private init() throws {
        let stage = try TranscriptStage()
        answered = try stage.perform(try Transcript(TranscriptPart.start.text()))
        (database, names) = try stage.end()
    }

    func stage() throws -> TranscriptStage {
        let copy = try copying.withLock { _ in try ScratchDatabase(copying: database) }
        return try TranscriptStage(copy, names)
    }
}
