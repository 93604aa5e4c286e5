import Core
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Assembly
@testable import Ledger

@Suite("Files with the seen part of a log")
final class SeenLogFileTests: Sendable {
    private let folder: ScratchFolder
    private let root = SHA256.digest([1])
    private let production = ServerIdentity(system: "7", database: "deed", timeline: 1)
    private let copy = ServerIdentity(system: "8", database: "deed", timeline: 1)

    init() throws {
        folder = try ScratchFolder()
    }

    private var memory: LogMemory { .files(in: folder.path, areKept: true) }

    private func seen(_ head: Int64, of server: ServerIdentity?) -> SeenLog {
        var seen = SeenLog()
        seen.root = root
        seen.server = server
        seen.note([
            ShardMark(
                shard: Shard(number: 3), head: head, chain: [UInt8](repeating: 9, count: 32))
        ])
        return seen
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.file("seen"))
                .filter { $0.hasSuffix(".json") }.map { folder.file("seen/\($0)") }
        }
    }

    @Test("Stored marks are recalled, and nothing if there are none")
    func kept() throws {
        #expect(try memory.recall(root, production) == nil)
        var whole = seen(5, of: production)
        whole.acceptances = [try AcceptanceID("ac_1")]
        #expect(memory.keep(whole, .synced) == nil)
        #expect(try memory.recall(root, production) == whole)
        #expect(try memory.recall(SHA256.digest([2]), production) == nil)
        // A login without permission to read the database's identity works as well.
        #expect(memory.keep(seen(6, of: nil), .synced) == nil)
        #expect(try memory.recall(root, nil) == seen(6, of: nil))
    }

    @Test("Unsynced marks are recalled, and a power failure never blocks the machine")
    func recent() throws {
        #expect(memory.keep(seen(5, of: production), .synced) == nil)
        #expect(memory.keep(seen(6, of: production), .quick) == nil)
        #expect(try memory.recall(root, production) == seen(6, of: production))
        let file = try #require(try files.first)
        for text in ["", "{"] {
            try text.write(toFile: file + ".recent", atomically: true, encoding: .utf8)
            #expect(try memory.recall(root, production) == seen(5, of: production))
        }
        #expect(memory.keep(seen(7, of: production), .quick) == nil)
        #expect(try memory.recall(root, production) == seen(7, of: production))
        // Positions from before an accepted loss do not come back.
        var accepted = seen(3, of: production)
        accepted.acceptances = [try AcceptanceID("ac_1")]
        #expect(memory.keep(accepted, .synced) == nil)
        #expect(try memory.recall(root, production) == accepted)
    }

    @Test("Two simultaneous writers keep what both have seen", arguments: [true, false])
    func shared(isSynced: Bool) throws {
        let memory = memory
        #expect(memory.keep(seen(1, of: production), .synced) == nil)
        inParallel(2) { [self] number in
            for head in 1...50 {
                let seen = seen(Int64(2 * head + number), of: production)
                _ = memory.keep(seen, isSynced ? .synced : .quick)
            }
        }
        #expect(try memory.recall(root, production) == seen(101, of: production))
        #expect(try files.count == 1)
    }

    @Test("A copy of the log in another database is compared with it, and does not change it")
    func copied() throws {
        #expect(memory.keep(seen(5, of: production), .synced) == nil)
        // The copy lacks the end of the log, so the operator must accept the loss. After that, the
        // copy has a separate record.
        #expect(try memory.recall(root, copy) == seen(5, of: production))
        var accepted = seen(3, of: copy)
        accepted.acceptances = [try AcceptanceID("ac_1")]
        #expect(memory.keep(accepted, .synced) == nil)
        #expect(memory.keep(seen(9, of: copy), .synced) == nil)
        #expect(try memory.recall(root, production) == seen(5, of: production))
    }

    /// Makes every file about a log look two years old.
    private func age(_ log: Digest32) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("seen"))
        for name in names where name.hasPrefix(log.hex.prefix(32)) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
                ofItemAtPath: folder.file("seen/\(name)"))
        }
    }

    private func seen(_ log: Digest32, of server: ServerIdentity) -> SeenLog {
        var seen = seen(5, of: server)
        seen.root = log
        return seen
    }

    private func keep(_ log: Digest32, of server: ServerIdentity) {
        #expect(memory.keep(seen(log, of: server), .synced) == nil)
        #expect(memory.keep(seen(log, of: server), .quick) == nil)
    }

    @Test("What was seen of other logs goes when it is old; of the served one, nothing does")
    func forgotten() throws {
        let (old, young) = (SHA256.digest([2]), SHA256.digest([3]))
        for log in [root, old, young] { keep(log, of: production) }
        keep(root, of: copy)
        keep(old, of: copy)
        for log in [root, old] { try age(log) }
        try "mine".write(
            toFile: folder.file("seen/notes.json"), atomically: true, encoding: .utf8)
        let end = Instant(milliseconds: 1_750_000_000_000)
        #expect(memory.forget(seen(5, of: production), end) == 1)
        #expect(memory.forget(seen(5, of: production), end) == 0)
        #expect(try memory.recall(old, production) == nil)
        #expect(try memory.recall(old, copy) == nil)
        #expect(try memory.recall(root, production) == seen(5, of: production))
        #expect(try memory.recall(root, copy) == seen(5, of: copy))
        #expect(try memory.recall(young, production) != nil)
        #expect(try files.contains { $0.hasSuffix("/notes.json") })
        // A service reports that it still uses another log in this folder.
        #expect(memory.forget(seen(young, of: production), end) == 0)
        #expect(try memory.recall(root, production) == seen(5, of: production))
        // A process that only reads removes no files.
        try age(young)
        let reader = LogMemory.files(in: folder.path, areKept: false)
        #expect(reader.forget(seen(5, of: production), end) == 0)
        #expect(memory.forget(seen(5, of: production), end) == 1)
    }

    @Test(
        "A damaged file does not count as an empty one",
        arguments: ["", "{", #"{"root":null,"ends":[]}"#])
    func damaged(_ text: String) throws {
        #expect(memory.keep(seen(5, of: production), .synced) == nil)
        let file = try #require(try files.first)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        for server in [production, copy] {
            #expect {
                try memory.recall(root, server)
            } throws: { error in
                (error as? LogMemory.NotRecalled)?.reason == "\(file) is damaged"
            }
        }
        // The file may have been readable when this process started, so writing also refuses.
        #expect(memory.keep(seen(6, of: production), .synced) == "\(file) is damaged")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        #expect(memory.keep(seen(6, of: production), .overwriting) == nil)
        #expect(try memory.recall(root, production) == seen(6, of: production))
    }

    @Test("A log keeps its file when another shard gets a first event that is dated earlier")
    func earlierRoot() throws {
        let database = try ScratchDatabase()
        let stream = try Stream.test("u1")
        let streams = try ["u2", "u3", "u4"].map { try Stream.test($0) }
        let other = try #require(streams.first(where: { $0.shard != stream.shard }))
        func ledger() -> Ledger {
            let memory = memory
            return database.ledger(change: { $0.memory = memory })
        }
        let first = ledger()
        _ = try first.append(.give("pro", to: stream, grant: "g1"))
        _ = try first.look()
        first.close()
        let late = database.ledger(clock: { Instant(milliseconds: 1_795_202_458_500) })
        _ = try late.append(.give("pro", to: other, grant: "g2"))
        late.close()

        let second = ledger()
        _ = try second.look()
        #expect(second.known.isRemembered)
        second.close()
        #expect(try files.count == 1)
    }

    @Test("A server is not used while the stored marks are unreadable and not given up")
    func notRecalled() throws {
        let database = try ScratchDatabase()
        let stream = try Stream.test("u1")
        func ledger() -> Ledger {
            let memory = memory
            return database.ledger(change: { $0.memory = memory })
        }
        let first = ledger()
        _ = try first.append(.give("pro", to: stream, grant: "g1"))
        // A log's first event identifies it. The connection that wrote that event did not know it yet.
        _ = try first.look()
        first.close()
        try "".write(toFile: try #require(try files.first), atomically: true, encoding: .utf8)

        let second = ledger()
        defer { second.close() }
        #expect {
            try second.customer(of: stream)
        } throws: { error in
            guard case .impeded(let impediment)? = error as? Fault else { return false }
            return impediment.kind == .behind && impediment.sentence.contains("is damaged")
                && impediment.remedy == .acceptServer
        }
        try database.acceptLog()
        #expect(
            eventually(within: 10_000) {
                (try? second.customer(of: stream).customer.grants.count) == 1
            })
        second.known.keep()
        let kept = try #require(try files.first)
        #expect(try String(contentsOfFile: kept, encoding: .utf8).contains("ac_1"))
    }
}
