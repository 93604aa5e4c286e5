import Postgres
import TestSupport
import Testing

@Suite("Calls sent together")
struct PipelineTests {
    private static let number = Statement("select $1::bigint")
    private static let insert = Statement(
        "insert into public.names (name) values ($1::text) returning name")

    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase(migrated: false)
        try database.run(
            """
            create table public.names (
                name text constraint names_name_key unique
                    constraint names_name_check check (name <> 'bad'))
            """)
    }

    @Test("Each call's rows come in the order of the calls")
    func order() throws {
        var connection = try Connection.open(database.settings())
        var read: [Int64] = []
        let calls = (0..<5000).map { PipelineTests.number(.int8(Int64($0) * 3)) }
        try connection.run(calls) { index, rows in
            #expect(index == read.count)
            read.append(rows.int8(0, 0))
        }
        #expect(read == (0..<5000).map { $0 * 3 })
    }

    @Test("All calls share one round trip, and with it one transaction")
    func oneRoundTrip() throws {
        let transaction = Statement(
            "select pg_current_xact_id()::text, now()::text")
        var connection = try Connection.open(database.settings())
        var seen: Set<[String]> = []
        try connection.run((0..<100).map { _ in transaction() }) { _, rows in
            seen.insert([rows.text(0, 0), rows.text(0, 1)])
        }
        #expect(seen.count == 1)
        try connection.run([transaction()]) { _, rows in
            seen.insert([rows.text(0, 0), rows.text(0, 1)])
        }
        #expect(seen.count == 2)
    }

    @Test("More data than the sockets buffer travel both ways at once", .timeLimit(.minutes(20)))
    func large() throws {
        let echo = Statement("select $1::bytea")
        var connection = try Connection.open(database.settings())
        var sizes: [Int] = []
        let calls = (0..<48).map { echo(.bytea([UInt8](repeating: UInt8($0), count: 1 << 20))) }
        try connection.run(calls) { index, rows in
            let bytes = rows.bytes(0, 0)
            #expect(bytes.first == UInt8(index) && bytes.last == UInt8(index))
            sizes.append(bytes.count)
        }
        #expect(sizes == [Int](repeating: 1 << 20, count: 48))
    }

    @Test(
        "An error in the middle names its SQLSTATE and constraint, and undoes the rest",
        arguments: [
            ("bad", "23514", "names_name_check"), ("first", "23505", "names_name_key"),
        ])
    func errorInTheMiddle(_ name: String, _ sqlState: String, _ constraint: String) throws {
        var connection = try Connection.open(database.settings())
        var answered: [Int] = []
        let late = Statement("select count(*) from public.names")
        let failure = #expect(throws: PostgresError.self) {
            try connection.run(
                [
                    PipelineTests.insert(.text("first")), PipelineTests.insert(.text(name)),
                    PipelineTests.insert(.text("third")), late(),
                ]
            ) { index, _ in answered.append(index) }
        }
        #expect(failure?.kind == .statement)
        #expect(failure?.sqlState == sqlState)
        #expect(failure?.constraint == constraint)
        #expect(answered == [0])
        expect(connection, isUsable: true)
        // The error prevented this statement from being prepared, so it is prepared now.
        var count: Int64?
        try connection.run([late()]) { _, rows in count = rows.int8(0, 0) }
        #expect(count == 0)
    }

    @Test("A statement that cannot be prepared leaves the connection usable")
    func malformedStatement() throws {
        var connection = try Connection.open(database.settings())
        let malformed = Statement("selekt 1")
        for _ in 0..<2 {
            let failure = #expect(throws: PostgresError.self) {
                try connection.run([PipelineTests.number(.int8(1)), malformed()])
            }
            #expect(failure?.sqlState == "42601")
        }
        var read: Int64?
        try connection.run([PipelineTests.number(.int8(9))]) { _, rows in read = rows.int8(0, 0) }
        #expect(read == 9)
    }

    @Test("An error inside an open transaction leaves it open, for a rollback")
    func openTransaction() throws {
        let begin = Statement("begin")
        let rollback = Statement("rollback")
        var connection = try Connection.open(database.settings())
        #expect(throws: PostgresError.self) {
            try connection.run([begin(), PipelineTests.insert(.text("bad"))])
        }
        expect(connection, isUsable: false)
        try connection.run([rollback()])
        expect(connection, isUsable: true)
        try connection.run([PipelineTests.insert(.text("good"))])
    }

    @Test("A description contains no value; the server's own words are kept apart")
    func description() throws {
        var connection = try Connection.open(database.settings())
        let parse = Statement("select $1::text::bigint")
        let failure = try #require(
            #expect(throws: PostgresError.self) {
                try connection.run([parse(.text("hunter2"))])
            })
        #expect(!"\(failure)".contains("hunter2"))
        #expect("\(failure)".contains("22P02"))
        #expect(failure.serverMessage.contains("hunter2"))
    }

    @Test("A script runs completely, and the pipeline works again after it")
    func script() throws {
        var connection = try Connection.open(database.settings())
        let two = "insert into public.names values ('a'); insert into public.names values ('b');"
        try connection.run(Script(embedded: Array(two.utf8)))
        let failure = #expect(throws: PostgresError.self) {
            try connection.run(Script(embedded: Array("select 1; nonsense".utf8)))
        }
        #expect(failure?.sqlState == "42601")
        let count = Statement("select count(*) from public.names")
        var read: Int64?
        try connection.run([count()]) { _, rows in read = rows.int8(0, 0) }
        #expect(read == 2)
    }

    private func expect(_ connection: borrowing Connection, isUsable: Bool) {
        let isIdle = connection.isIdle
        let isBroken = connection.isBroken
        #expect(isIdle == isUsable)
        #expect(!isBroken)
    }
}
