import Auditing
import Core
import Foundation
import Ledger
import Postgres
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@Suite("A ledger while its database is in trouble")
struct OutageTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase()
    }

    private func endSessions() throws {
        try govern(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = '\(database.name)'
            """)
    }

    private func allowConnections(_ allowed: Bool) throws {
        try govern("alter database \(database.name) allow_connections \(allowed)")
    }

    /// Runs SQL from another database, so that it also works while this one allows no connections.
    private func govern(_ text: String) throws {
        var server = try Connection.open(ConnectionSettings(url: database.serverURL, role: nil))
        try server.run(Script(embedded: Array(text.utf8)))
    }

    private func sessions() throws -> [pid_t] {
        let list = Statement(
            "select pid::bigint from pg_stat_activity where datname = $1")
        var server = try Connection.open(ConnectionSettings(url: database.serverURL, role: nil))
        var found: [pid_t] = []
        try server.run([list(.text(database.name))]) { _, rows in
            found = (0..<rows.count).map { pid_t(rows.int8($0, 0)) }
        }
        return found
    }

    /// Returns the session of the health check, and the ledger's other sessions.
    private func lookingAndOthers() throws -> (looking: pid_t, others: Set<pid_t>) {
        let looking = pid_t(
            try database.number(
                """
                select pid::bigint from pg_stat_activity
                where datname = '\(database.name)' and pid <> pg_backend_pid()
                    and query like '%deed.standbys()%'
                """))
        // A signal to process 0 would reach this process and its whole group.
        try #require(looking > 1)
        return (looking, try Set(sessions()).subtracting([looking]))
    }

    @Test("The locks of a silent session are given up within about a second")
    func silence() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        var frozen = try Connection.open(ConnectionSettings(url: database.url, role: nil))
        let text = "begin; select * from deed.shards for update"
        try frozen.run(Script(embedded: Array(text.utf8)))
        let started = monotonicMilliseconds()
        let outcome = try ledger.append(.give("vip", to: .test("u1"), grant: "g2"))
        #expect(outcome.position.sequence == 2)
        let waited = monotonicMilliseconds() - started
        #expect(waited > 500 && waited < 4000, "\(waited) ms")
    }

    @Test("While a silent session holds a shard, commits to the others continue")
    func silenceElsewhere() throws {
        let ledger = database.ledger(change: { $0.committers = 1 })
        defer { ledger.close() }
        let held = try Stream.test("u1")
        _ = try ledger.append(.give("pro", to: held, grant: "g1"))
        var frozen = try Connection.open(ConnectionSettings(url: database.url, role: nil))
        let text = "begin; select * from deed.shards where shard = \(held.shard.number) for update"
        try frozen.run(Script(embedded: Array(text.utf8)))
        let answered = Monitor<Position?>(nil)
        ledger.submit(try .give("vip", to: held, grant: "g2")) { answer in
            answered.change { $0 = try? answer.get().position }
        }
        pause(milliseconds: 50)
        var longest: Int64 = 0
        var others = 0
        let streams = try (0..<10_000).map { try Stream.test("other\($0)") }
            .filter { $0.shard != held.shard }
        while answered.change({ $0 }) == nil, others < streams.count {
            let started = monotonicMilliseconds()
            _ = try ledger.append(.give("pro", to: streams[others], grant: "o\(others)"))
            longest = max(longest, monotonicMilliseconds() - started)
            others += 1
        }
        #expect(answered.change { $0 }?.sequence == 2)
        #expect(others > 3, "\(others)")
        // A command waits for the lock only once, and for less time than commands may take.
        #expect(longest < 900, "\(longest) ms")
    }

    @Test("A lock that someone else holds delays a commit and breaks nothing")
    func lockElsewhere() throws {
        let ledger = database.ledger(change: { $0.patienceMilliseconds = 8000 })
        defer { ledger.close() }
        let held = Monitor(false)
        let url = database.url
        startThread("holder") {
            var settings = ConnectionSettings(url: url, role: nil)
            settings.silentLockMilliseconds = 0
            guard var connection = try? Connection.open(settings) else { return }
            // The lock lasts longer than the ledger lets a statement run.
            let text = "begin; lock deed.shards in exclusive mode; select 1"
            try? connection.run(Script(embedded: Array(text.utf8)))
            held.change { $0 = true }
            pause(milliseconds: 4500)
            try? connection.run(Script(embedded: Array("rollback".utf8)))
        }
        held.wait { $0 ? () : nil }
        let started = monotonicMilliseconds()
        let outcome = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        #expect(monotonicMilliseconds() - started > 3000)
        #expect(outcome.position.sequence == 1)
        #expect(try database.number("select count(*) from deed.events") == 1)
    }

    @Test("A log restored to an earlier day is refused until that is accepted")
    func putBack() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        for grant in ["g1", "g2"] {
            _ = try ledger.append(.give("pro", to: stream, grant: grant))
        }
        #expect(try ledger.customer(of: stream).customer.grants.count == 2)
        try database.run(
            """
            alter table deed.events disable trigger all;
            alter table deed.shards disable trigger all;
            delete from deed.events where seq = 2;
            update deed.shards as s
            set head = 1, chain = e.chain from deed.events as e where e.shard = s.shard;
            """)
        try endSessions()
        let read = #expect(throws: Fault.self) { try ledger.customer(of: stream) }
        #expect(read?.impediment?.kind == .behind)
        let written = #expect(throws: CommandError.self) {
            try ledger.append(.give("pro", to: stream, grant: "g3"))
        }
        guard case .fault(let fault)? = written else { return }
        #expect(fault.impediment?.sentence.contains("ends at 1, but 2 was seen") == true)
        try database.acceptLog()
        #expect(
            eventually(within: 10_000) {
                (try? ledger.customer(of: stream).customer.grants.map(\.id.text)) == ["g1"]
            })
        _ = try ledger.append(.give("pro", to: stream, grant: "g3"))
        #expect(try ledger.audit(stream.shard).findings.isEmpty)
    }

    @Test("A read whose session was ended still gets its answer")
    func readAgain() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        for _ in 0..<5 {
            _ = try ledger.customer(of: stream)
            _ = try ledger.events(of: stream, after: 0, limit: 10)
            try endSessions()
            #expect(try ledger.customer(of: stream).customer.grants.count == 1)
            #expect(try ledger.events(of: stream, after: 0, limit: 10).count == 1)
        }
    }

    /// Lets new sessions write, or not. Existing sessions stay as they are, like those with a server that was demoted.
    private func letWrite(_ isAllowed: Bool) throws {
        let setting = "default_transaction_read_only"
        let change = isAllowed ? "reset \(setting)" : "set \(setting) = on"
        try govern("alter database \(database.name) \(change)")
    }

    @Test("A committer leaves a session that accepts no writes")
    func readOnlySession() throws {
        let ledger = database.ledger(change: { $0.patienceMilliseconds = 2000 })
        defer { ledger.close() }
        try letWrite(false)
        #expect(throws: CommandError.self) {
            try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        }
        try letWrite(true)
        let outcome = try ledger.append(.give("pro", to: .test("u1"), grant: "g2"))
        #expect(outcome.position.sequence == 1)
    }

    @Test("Reads leave a server that accepts no writes, even if servers hide their identity")
    func hiddenServer() throws {
        try database.run("revoke execute on function pg_control_system() from public")
        try letWrite(false)
        let ledger = database.ledger(change: { ($0.readers, $0.lookups) = (1, 1) })
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        func read() throws {
            _ = try ledger.customer(of: stream)
            _ = try ledger.events(of: stream, after: 0, limit: 10)
        }
        _ = try ledger.look()
        try read()
        let old = try Set(sessions())
        try letWrite(true)
        let hasLeft = try eventually(within: 10_000) {
            _ = try ledger.look()
            try read()
            return try old.isDisjoint(with: sessions())
        }
        #expect(hasLeft)
    }

    @Test("A silent session costs the others nothing while the server answers a new one")
    func oneSilentSession() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        _ = try ledger.customer(of: stream)
        _ = try ledger.look()
        let (silent, others) = try lookingAndOthers()
        kill(silent, SIGSTOP)
        defer { kill(silent, SIGCONT) }
        _ = try ledger.look()
        _ = try ledger.append(.give("vip", to: stream, grant: "g2"))
        #expect(try ledger.customer(of: stream).customer.grants.count == 2)
        #expect(try others.isSubset(of: sessions()))
    }

    @Test("A silent session costs the others nothing while the server refuses a new one")
    func refusedSession() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        _ = try ledger.append(.give("pro", to: stream, grant: "g1"))
        _ = try ledger.look()
        let (silent, others) = try lookingAndOthers()
        try allowConnections(false)
        defer { try? allowConnections(true) }
        kill(silent, SIGSTOP)
        defer { kill(silent, SIGCONT) }
        #expect(throws: Fault.self) { try ledger.look() }
        _ = try ledger.append(.give("vip", to: stream, grant: "g2"))
        #expect(try others.isSubset(of: sessions()))
    }

    @Test("Readers learn in time that a database hangs, including those further back in the queue")
    func hangingReads() throws {
        let ledger = database.ledger(change: { $0.readPatienceMilliseconds = 400 })
        defer { ledger.close() }
        var settings = ConnectionSettings(url: database.url, role: nil)
        settings.silentLockMilliseconds = 0
        var holder = try Connection.open(settings)
        let lock = "begin; lock deed.events in access exclusive mode; select 1"
        try holder.run(Script(embedded: Array(lock.utf8)))
        let started = monotonicMilliseconds()
        let faults = Mutex<[Fault]>([])
        // This is more than all readers together take at once, which is twice 64.
        let count = 200
        inParallel(count) { number in
            do {
                _ = try ledger.customer(of: .test("u\(number)"))
            } catch {
                if let fault = error as? Fault { faults.withLock { $0.append(fault) } }
            }
        }
        #expect(faults.withLock { $0 } == Array(repeating: .busy, count: count))
        #expect(monotonicMilliseconds() - started < 2000)
        try holder.run(Script(embedded: Array("rollback".utf8)))
        var state = try? ledger.customer(of: .test("u1")).customer
        while state == nil {
            pause(milliseconds: 20)
            state = try? ledger.customer(of: .test("u1")).customer
        }
        #expect(state?.version == 0)
    }

    @Test("An outage is one line in the log, and its end another")
    func oneLine() throws {
        let lines = Mutex<[String]>([])
        let ledger = database.ledger(
            log: Log { line in lines.withLock { $0.append(line) } },
            change: {
                $0.committers = 1
                $0.patienceMilliseconds = 8000
            })
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        try allowConnections(false)
        try endSessions()
        startThread("operator") {
            pause(milliseconds: 700)
            try? allowConnections(true)
        }
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g2"))
        // The log line is written after the answer.
        ledger.close()
        let events = lines.withLock { $0 }.compactMap { line in
            ["commit_retried", "commit_succeeded"].first { line.contains($0) }
        }
        #expect(events == ["commit_retried", "commit_succeeded"])
    }

    @Test(
        "A command without a database within its patience fails, and is not done twice")
    func outOfPatience() throws {
        let ledger = database.ledger(change: { $0.patienceMilliseconds = 300 })
        defer { ledger.close() }
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        try allowConnections(false)
        try endSessions()
        #expect(throws: CommandError.fault(.unavailable)) {
            try ledger.append(.give("pro", to: .test("u1"), grant: "g2"))
        }
        try allowConnections(true)
        while (try? ledger.append(.give("pro", to: .test("u1"), grant: "g2"))) == nil {
            pause(milliseconds: 20)
        }
        #expect(try database.number("select count(*) from deed.events") == 2)
    }

    @Test("A ledger with almost no memory for folds gives the same answers")
    func smallCache() throws {
        let ledger = database.ledger(change: { $0.cachedBytes = 2000 })
        defer { ledger.close() }
        for round in 0..<3 {
            for number in 0..<20 {
                _ = try ledger.append(
                    .give("pro", to: .test("u\(number)"), grant: "g\(round)"))
            }
        }
        for number in 0..<20 {
            #expect(try ledger.customer(of: .test("u\(number)")).customer.grants.count == 3)
        }
    }
}

extension Fault {
    fileprivate var impediment: Impediment? {
        if case .impeded(let impediment) = self { impediment } else { nil }
    }
}
