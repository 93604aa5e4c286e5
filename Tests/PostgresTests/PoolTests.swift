import Postgres
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("The pool of links")
struct PoolTests {
    private static let backend = Statement(
        "select pg_backend_pid()::bigint")
    private static let pause = Statement("select pg_sleep(0.01)")

    @Test("No more connections are used at a time than the pool has")
    func bound() throws {
        let database = try ScratchDatabase(migrated: false)
        let pool = Pool(database.settings(), size: 3, waitMilliseconds: 20_000)
        let backends = Mutex<Set<Int64>>([])
        let most = Mutex(0)
        let failures = Mutex(0)
        inParallel(16) { _ in
            for _ in 0..<10 {
                do throws(PostgresError) {
                    try pool.use { connection throws(PostgresError) in
                        let inUse = pool.inUse
                        most.withLock { $0 = max($0, inUse) }
                        try connection.run([PoolTests.backend(), PoolTests.pause()]) {
                            index, rows in
                            if index == 0 {
                                let process = rows.int8(0, 0)
                                _ = backends.withLock { $0.insert(process) }
                            }
                        }
                    }
                } catch {
                    failures.withLock { $0 += 1 }
                }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(most.withLock { $0 } == 3)
        #expect(backends.withLock { $0.count } == 3)
        #expect(pool.inUse == 0)
    }

    @Test("A caller who waits too long is told that the pool is exhausted; others get a link")
    func wait() throws {
        let database = try ScratchDatabase(migrated: false)
        let pool = Pool(database.settings(), size: 1, waitMilliseconds: 200)
        let held = Monitor((isHeld: false, isOver: false))
        startThread("holder") {
            try? pool.use { connection throws(PostgresError) in
                try connection.run([PoolTests.backend()])
                held.change { $0.isHeld = true }
                held.wait { $0.isOver ? () : nil }
            }
        }
        held.wait { $0.isHeld ? () : nil }
        #expect(pool.inUse == 1)
        let start = monotonicMilliseconds()
        let failure = #expect(throws: PostgresError.self) { try use(pool) }
        let waited = monotonicMilliseconds() - start
        #expect(failure?.kind == .exhausted)
        #expect(failure?.description.contains("pool") == true)
        #expect((195..<3000).contains(waited))
        startThread("release") {
            Threading.pause(milliseconds: 20)
            held.change { $0.isOver = true }
        }
        try use(pool)
        #expect(pool.inUse == 0)
    }

    @Test("A link whose session was ended works again after one failed call")
    func endedSession() throws {
        let database = try ScratchDatabase(migrated: false)
        let pool = Pool(database.settings(), size: 1)
        var process: Int64 = 0
        try pool.use { connection throws(PostgresError) in
            try connection.run([PoolTests.backend()]) { _, rows in process = rows.int8(0, 0) }
        }
        try database.run("select pg_terminate_backend(\(process))")
        let failure = #expect(throws: PostgresError.self) { try use(pool) }
        #expect(failure?.kind == .connection)
        try use(pool)
    }

    private func use(_ pool: Pool) throws(PostgresError) {
        try pool.use { connection throws(PostgresError) in
            try connection.run([PoolTests.backend()])
        }
    }
}
