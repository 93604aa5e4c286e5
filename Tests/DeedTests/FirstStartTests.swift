import Foundation
import Glibc
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("The first start", .serialized, .timeLimit(.minutes(20)))
    struct FirstStart {
        @Test(
            "Killed while it made the database, the next start makes it again",
            arguments: [0, 100, 250, 400, 600])
        func killed(_ delay: Int64) throws {
            let installation = try Installation()
            let (first, _, _) = try installation.start(["project", "create", "default"])
            #expect(
                eventually(within: 20_000) {
                    let names = try? FileManager.default.contentsOfDirectory(
                        atPath: installation.dataFolder)
                    return names?.contains { $0.hasPrefix("postgres.new") } ?? false
                })
            pause(milliseconds: delay)
            first.signal(SIGKILL)
            _ = first.wait(milliseconds: 5000)
            // The first command is dead, but its initdb is still running.
            let second = try installation.run("project", "create", "default", "--if-missing")
            #expect(second.code == 0, "\(second.errors)")
            #expect(try installation.run("project", "list").output.contains("default"))
            let left = try FileManager.default.contentsOfDirectory(atPath: installation.dataFolder)
            #expect(!left.contains("postgres.new"))
        }

        @Test(
            "If a port is in use, no database is made",
            arguments: ["--listen", "--operations-listen"])
        func takenPort(flag: String) throws {
            let installation = try Installation()
            let (listener, port) = try boundSocket()
            defer { close(listener) }
            try #require(listen(listener, 8) == 0)
            let address = "127.0.0.1:\(port)"
            let other = flag == "--listen" ? [] : ["--listen", "127.0.0.1:0"]
            let refused = try installation.run(["serve", flag, address] + other)
            #expect(refused.code == 3, "\(refused.errors)")
            #expect(refused.errors.contains("\(address) is in use"), "\(refused.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: installation.dataFolder)
            #expect(!left.contains { $0.hasPrefix("postgres") }, "\(left)")
        }
    }
}
