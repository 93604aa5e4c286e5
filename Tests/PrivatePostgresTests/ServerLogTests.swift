import Foundation
import Glibc
import TestSupport
import Testing

@testable import PrivatePostgres

@Suite("The log of a private PostgreSQL", .timeLimit(.minutes(20)))
final class ServerLogTests {
    private let scratch: ScratchFolder
    private let log: ServerLog

    init() throws {
        scratch = try ScratchFolder()
        log = ServerLog(path: scratch.file("deed.log"))
    }

    /// Appends to the file like PostgreSQL's processes, which keep it open.
    private func append(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    private func opened() -> Int32 {
        open(log.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    }

    private func size(of path: String) -> Int64 {
        var found = stat()
        return stat(path, &found) == 0 ? Int64(found.st_size) : -1
    }

    @Test("Only the end of a log is read, even if years have made it larger than the memory")
    func tail() {
        let descriptor = opened()
        defer { close(descriptor) }
        #expect(ftruncate(descriptor, 1 << 36) == 0)
        append("\nHINT: pre-existing shared memory block\n", to: descriptor)
        #expect(log.tail.hasSuffix("shared memory block\n"))
        #expect(log.tail.utf8.count <= 2000)
    }

    @Test("A log that is missing or short is read as it is")
    func short() {
        #expect(log.tail.isEmpty)
        let descriptor = opened()
        defer { close(descriptor) }
        append("FATAL: lock file\n", to: descriptor)
        #expect(log.tail == "FATAL: lock file\n")
        log.shorten { $0 }
        #expect(log.tail == "FATAL: lock file\n")
        #expect(size(of: log.formerPath) == -1)
    }

    @Test("A large log keeps its end beside it, and its writers go on at its beginning")
    func shortened() throws {
        let descriptor = opened()
        defer { close(descriptor) }
        for round in 1...3 {
            #expect(ftruncate(descriptor, off_t(ServerLog.limit + 1000)) == 0)
            append("the last of round \(round)\n", to: descriptor)
            log.shorten { $0 }
            append("after round \(round)\n", to: descriptor)
            #expect(log.tail == "after round \(round)\n")
            #expect(size(of: log.path) < 100)
            #expect(size(of: log.formerPath) == ServerLog.limit)
            let former = ServerLog(path: log.formerPath).tail
            #expect(former.hasSuffix("the last of round \(round)\n"))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(Set(files) == ["deed.log", "deed.log.1"])
    }
}
