import Auditing
import Core
import Histories
import Postgres
import TestSupport
import Testing
import Threading

@testable import Ledger

/// Tests customers with many events. Deed keeps their states in a table.
@Suite("Kept states", .timeLimit(.minutes(20)))
struct KeptStateTests {
    private let database: ScratchDatabase
    private let stream: Core.Stream
    private static let count = 600

    init() throws {
        database = try ScratchDatabase()
        stream = try Stream.test("long")
        let ledger = database.ledger()
        defer { ledger.close() }
        for number in 0..<Self.count {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(number)"))
        }
        // Waits for the first kept state and for the one 256 events later.
        try wait(for: "version >= 512")
    }

    private func wait(for condition: String) throws {
        for _ in 0..<500 {
            let found = try database.number(
                "select count(*) from deed.kept_states where customer = 'long' and \(condition)")
            if found == 1 { return }
            pause(milliseconds: 20)
        }
        Issue.record("no state is kept with \(condition)")
    }

    private func give(_ grants: Range<Int>, by ledger: Ledger) throws {
        for number in grants {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(number)"))
        }
    }

    /// Returns the state that a process with empty memory reads.
    private func read() throws -> CustomerState {
        let cold = database.ledger()
        defer { cold.close() }
        return try cold.customer(of: stream).customer
    }

    /// Returns the state as folded from all events.
    private func whole() throws -> CustomerState {
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        return try #require(try auditor.snapshot(of: [stream]).states[stream]?.customer)
    }

    private func findings() throws -> [AuditFinding] {
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        var audit = ProjectionAudit()
        try audit.compareAll(auditor) { _ in }
        return audit.findings.listed
    }

    private func tamper(_ change: String) throws {
        try database.run("update deed.kept_states set \(change) where customer = 'long'")
    }

    @Test("A process with nothing in memory reads the kept state and the events behind it")
    func begun() throws {
        #expect(try read() == whole())
        #expect(try findings().isEmpty)
        // With a kept state, a read does not need the earlier events.
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer = 'long' and version < 256;
            """)
        let state = try read()
        #expect(state.version == Int64(Self.count))
        #expect(state.grants.count == Self.count)
    }

    @Test("What was done before is found, however old")
    func repeated() throws {
        let cold = database.ledger()
        defer { cold.close() }
        for number in [0, 7, 63, 64, 65, 255, 256, 257, 300, 511, 512, 513, Self.count - 1] {
            let again = try cold.append(.give("pro", to: stream, grant: "g\(number)"))
            #expect(again.isRepetition && again.events.map(\.version) == [Int64(number) + 1])
            #expect(throws: CommandError.refused(.idempotencyMismatch)) {
                try cold.append(
                    .give("pro", to: stream, grant: "g\(number)", reason: "other", digest: 1))
            }
        }
        #expect(try cold.customer(of: stream).customer.version == Int64(Self.count))
        let new = try cold.append(.give("pro", to: stream, grant: "new"))
        #expect(!new.isRepetition && new.events.map(\.version) == [Int64(Self.count) + 1])
    }

    @Test(
        "What is damaged, of another program or of another log is not believed, and is replaced",
        arguments: [
            "content = set_byte(content, 100, get_byte(content, 100) # 1)", "content = ''",
            "digest = sha256('other')", "version = 300", "seq = seq + 1",
            "chain = sha256('other')", "number = 1", "number = 0", "version = 9000, seq = 9000",
        ])
    func unbelieved(_ change: String) throws {
        try tamper(change)
        #expect(try read() == whole())
        let ledger = database.ledger()
        defer { ledger.close() }
        try give(Self.count..<Self.count + 300, by: ledger)
        try wait(for: "number = \(KeptState.number) and version between 600 and 900")
        #expect(try findings().isEmpty)
        #expect(try read() == whole())
    }

    @Test("A newer program's state stays while that program works, and is replaced when it is gone")
    func newer() throws {
        try tamper(
            "number = \(KeptState.number + 1), version = 600, content = 'newer', digest = ''")
        let ledger = database.ledger()
        defer { ledger.close() }
        try give(Self.count..<Self.count + 700, by: ledger)
        pause(milliseconds: 500)
        try wait(for: "number = \(KeptState.number + 1) and version = 600 and content = 'newer'")
        #expect(try findings().isEmpty)
        #expect(try read() == whole())
        try give(Self.count + 700..<Self.count + 2600, by: ledger)
        try wait(for: "number = \(KeptState.number) and version > 2648")
        #expect(try findings().isEmpty)
        #expect(try read() == whole())
    }

    @Test("An audit finds a kept state that the events do not give, and a repair takes it away")
    func audited() throws {
        for (change, column) in [
            ("chain = sha256('other')", "chain"), ("digest = sha256('other')", "digest"),
        ] {
            let before = try database.text(
                "select encode(\(column), 'hex') from deed.kept_states")
            try tamper(change)
            let found = try findings()
            #expect(found.map(\.table) == ["deed.kept_states"])
            #expect(found.map(\.column) == [column])
            try tamper("\(column) = decode('\(before)', 'hex')")
        }
        // This state is valid, but it is not the customer's.
        let state = CustomerState(of: try whole().parts.without(grants: 1))
        let content = KeptState.content(of: state)
        let version = try database.number("select version from deed.kept_states")
        let digest = KeptState.digest(of: content, stream, version: version)
        try tamper(
            "content = '\\x\(content.hexDigits)', digest = '\\x\(digest.hexDigits)'")
        #expect(try findings().map(\.column) == ["content"])
    }

    @Test("Rows that vanish under load change nothing")
    func dropped() throws {
        let (one, other) = (database.ledger(), database.ledger())
        inParallel(5) { lane in
            if lane == 0 {
                for _ in 0..<20 {
                    try? database.run("delete from deed.kept_states")
                    pause(milliseconds: 30)
                }
                return
            }
            for number in 0..<150 {
                let ledger = number % 2 == 0 ? one : other
                let name = "l\(lane)-\(number)"
                _ = try? ledger.append(.give("pro", to: stream, grant: name))
            }
        }
        one.close()
        other.close()
        let state = try read()
        #expect(state.version == Int64(Self.count) + 600)
        #expect(try state == whole())
        #expect(try findings().isEmpty)
    }

    @Test("Two processes keep one customer's state at once, and lose their sessions meanwhile")
    func together() throws {
        let (one, other) = (database.ledger(), database.ledger())
        inParallel(5) { lane in
            if lane == 0 {
                for _ in 0..<5 {
                    try? database.run(
                        "select pg_terminate_backend(pid) from pg_stat_activity "
                            + "where datname = current_database() and pid <> pg_backend_pid()")
                    pause(milliseconds: 150)
                }
                return
            }
            for number in 0..<150 {
                let ledger = lane % 2 == 0 ? one : other
                let name = "l\(lane)-\(number)"
                _ = try? ledger.append(.give("pro", to: stream, grant: name))
            }
        }
        one.close()
        other.close()
        #expect(try findings().isEmpty)
        #expect(try read() == whole())
        #expect(
            try database.number("select count(distinct cause) from deed.events")
                == database.number("select count(*) from deed.events"))
    }

    @Test("An erasure takes the kept state with it, also one that is being kept")
    func erased() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        inParallel(2) { lane in
            if lane == 0 {
                try? give(Self.count..<Self.count + 300, by: ledger)
                return
            }
            pause(milliseconds: 100)
            _ = try? ledger.append(
                .customer(
                    stream, actor: id("test"),
                    cause: Cause(text: "key:erase", digest: [UInt8](repeating: 0, count: 32)),
                    concernsMerged: true
                ) { _, _, _ in
                    [.customerErased(CustomerErased(reason: id("r"), ticket: nil))]
                })
        }
        pause(milliseconds: 300)
        let erasure = try database.number(
            "select max(version) from deed.events where type = 'customer.erased'")
        #expect(
            try database.number(
                "select count(*) from deed.kept_states where version < \(erasure)") == 0)
        #expect(try read() == whole())
        // A caller's key stands for one call, even after an erasure.
        let cold = database.ledger()
        defer { cold.close() }
        #expect(throws: CommandError.refused(.erasure(.doneBeforeErasure))) {
            try cold.append(.give("pro", to: stream, grant: "g7"))
        }
    }

    @Test("The memory of states keeps its limit")
    func limited() throws {
        let cache = StateCache(bytes: 1 << 20)
        var fold = Fold(emptyFor: stream)
        for event in RandomStream(seed: 1, count: 100).events {
            fold.apply(event, causeDigest: [])
        }
        for number in 0..<200 {
            cache.keep(fold, of: try .test("u\(number)"), askedIn: 0)
            #expect(cache.weight <= 1 << 20)
        }
        #expect(fold.weight > 5_000 && cache.weight > 1 << 18)
    }
}

extension CustomerContent {
    fileprivate func without(grants count: Int) -> CustomerContent {
        var less = self
        less.grants.removeLast(count)
        return less
    }
}
