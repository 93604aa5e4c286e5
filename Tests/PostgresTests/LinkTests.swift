import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Links that reconnect")
struct LinkTests {
    private static let backend = Statement(
        "select pg_backend_pid()::bigint")

    @Test(
        "An unreachable server is a connection error",
        arguments: [
            "postgresql:///postgres?host=/nonexistent/folder",
            "postgresql://deed@127.0.0.1:1/postgres", "postgresql://no.such.host.invalid/postgres",
        ])
    func unreachable(_ url: String) {
        let failure = #expect(throws: PostgresError.self) {
            _ = try Connection.open(ConnectionSettings(url: url, role: nil))
        }
        #expect(failure?.kind == .connection)
        #expect(failure?.description.contains("DEED_DATABASE_URL") == true)
    }

    @Test("A missing database or role is reported at once")
    func unknownNames() throws {
        let database = try ScratchDatabase(migrated: false)
        let elsewhere = database.url.replacingOccurrences(of: database.name, with: "no_database")
        #expect(throws: PostgresError.self) {
            _ = try Connection.open(ConnectionSettings(url: elsewhere, role: nil))
        }
        let failure = #expect(throws: PostgresError.self) {
            _ = try Connection.open(database.settings(role: "no_role"))
        }
        #expect(failure?.sqlState == "22023")
    }

    @Test("A connection that was given up cannot give up the others and survive")
    func givenUp() throws {
        let database = try ScratchDatabase(migrated: false)
        var settings = database.settings()
        let pulse = Pulse()
        settings.pulse = pulse
        var first = try Connection.open(settings)
        var second = try Connection.open(settings)
        second.outliveOthers()
        #expect(first.isGivenUp && !second.isGivenUp)
        try second.run([LinkTests.backend()])
        // Either connection may have the wrong server. Only a third connection can decide.
        first.outliveOthers()
        #expect(first.isGivenUp && second.isGivenUp)
        #expect(throws: PostgresError.self) { try first.run([LinkTests.backend()]) }
        #expect(throws: PostgresError.self) { try second.run([LinkTests.backend()]) }
        var third = try Connection.open(settings)
        try third.run([LinkTests.backend()])
    }

    @Test("A session that the server ended is noticed, and the next call has a new one")
    func terminated() throws {
        let database = try ScratchDatabase(migrated: false)
        var link = Link(database.settings())
        let first = try backend(&link)
        #expect(try backend(&link) == first)
        try database.run("select pg_terminate_backend(\(first))")
        let failure = #expect(throws: PostgresError.self) { try backend(&link) }
        #expect(failure?.kind == .connection)
        let isConnected = link.isConnected
        #expect(!isConnected)
        let second = try backend(&link)
        #expect(second != first)
    }

    @Test(
        "A server that is silent for too long is given up, and the next call has a new session")
    func silent() throws {
        let database = try ScratchDatabase(migrated: false)
        var settings = database.settings()
        settings.statementTimeoutMilliseconds = 300
        var link = Link(settings)
        let first = try backend(&link)
        let sleep = Statement(
            "select pg_sleep(30) from set_config('statement_timeout', '0', false)")
        let unlimited = Statement(
            "select set_config('statement_timeout', '0', false)")
        try link.use { connection throws(PostgresError) in try connection.run([unlimited()]) }
        let started = monotonicMilliseconds()
        let failure = #expect(throws: PostgresError.self) {
            try link.use { connection throws(PostgresError) in try connection.run([sleep()]) }
        }
        #expect(failure?.kind == .connection)
        #expect(failure?.serverMessage == "the server has fallen silent")
        #expect(monotonicMilliseconds() - started < 5000)
        #expect(try backend(&link) != first)
    }

    @Test("A session that ends during a call is noticed by that call")
    func terminatedMeanwhile() throws {
        let database = try ScratchDatabase(migrated: false)
        var link = Link(database.settings())
        let suicide = Statement(
            "select pg_terminate_backend(pg_backend_pid())")
        let failure = #expect(throws: PostgresError.self) {
            try link.use { connection throws(PostgresError) in
                try connection.run([LinkTests.backend(), suicide(), LinkTests.backend()])
            }
        }
        #expect(failure?.kind == .connection)
        _ = try backend(&link)
    }

    @Test("A refused statement keeps the session; a transaction left open ends it")
    func keptOrDropped() throws {
        let database = try ScratchDatabase(migrated: false)
        var link = Link(database.settings())
        let malformed = Statement("selekt 1")
        let begin = Statement("begin")
        let first = try backend(&link)
        #expect(throws: PostgresError.self) {
            try link.use { connection throws(PostgresError) in
                try connection.run([malformed()])
            }
        }
        #expect(try backend(&link) == first)
        #expect(throws: PostgresError.self) {
            try link.use { connection throws(PostgresError) in
                try connection.run([begin(), malformed()])
            }
        }
        #expect(try backend(&link) != first)
    }

    @Test("Attempts to connect are spaced out, and calls in between fail at once")
    func backOff() throws {
        let server = try DeafServer()
        var link = Link(
            ConnectionSettings(
                url: "postgresql://deed@127.0.0.1:\(server.port)/postgres"
                    + "?sslmode=disable&gssencmode=disable",
                role: nil))
        let end = monotonicMilliseconds() + 1300
        var calls = 0
        while monotonicMilliseconds() < end {
            #expect(throws: PostgresError.self) { try backend(&link) }
            calls += 1
            usleep(1000)
        }
        // The attempts are at 0, 50, 150, 350 and 750 ms. A slow machine may make fewer.
        #expect((2...5).contains(server.connections))
        #expect(calls > 10 * server.connections)
    }

    @Test("A server that comes back is found within the longest pause")
    func found() throws {
        let database = try ScratchDatabase(migrated: false)
        let folder = try ScratchFolder()
        let real = try #require(database.url.firstMatch(of: /host=([^&]+)/)?.1)
        var link = Link(
            ConnectionSettings(
                url: database.url.replacingOccurrences(of: real, with: folder.path), role: nil))
        for _ in 0..<8 {
            #expect(throws: PostgresError.self) { try backend(&link) }
            usleep(50_000)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file(".s.PGSQL.5432"), withDestinationPath: "\(real)/.s.PGSQL.5432")
        let start = monotonicMilliseconds()
        while (try? backend(&link)) == nil, monotonicMilliseconds() < start + 5000 {
            usleep(5000)
        }
        let isConnected = link.isConnected
        #expect(isConnected)
        #expect(monotonicMilliseconds() < start + 3000)
    }

    private func backend(_ link: inout Link) throws(PostgresError) -> Int64 {
        var process: Int64 = 0
        try link.use { connection throws(PostgresError) in
            try connection.run([LinkTests.backend()]) { _, rows in process = rows.int8(0, 0) }
        }
        return process
    }
}

/// A server that closes every connection without an answer.
private final class DeafServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let accepted = Mutex(0)

    var connections: Int { accepted.withLock { $0 } }

    init() throws {
        (listener, port) = try listenOnFreePort()
        startThread("deaf") { [self, listener] in
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0 { return }
                accepted.withLock { $0 += 1 }
                close(socket)
            }
        }
    }

    deinit { close(listener) }
}
