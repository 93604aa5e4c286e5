import Core
import Postgres
import SQL
import TestSupport
import Testing

@testable import Ledger

@Suite("What statements read of long logs and streams")
struct LongPlanTests {
    @Test("A look at a project's news costs the same, however long the project's log is")
    func longLog() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: .test("u"), grant: "g1"))
        ledger.close()
        try database.run(
            """
            set statement_timeout = '5min';
            insert into deed.events select (jsonb_populate_record(e, jsonb_build_object(
                'shard', n % 64, 'seq', 1800 + n / 64, 'customer', 'c' || n))).*
            from (select e from deed.events as e limit 1) as one, generate_series(0, 12799) as n;
            update deed.shards set head = 1999;
            analyze deed.events, deed.shards
            """)
        let arrays = ["smallint", "bigint", "text", "boolean", "bigint", "boolean"]
        let all = ["n", "1990", "(select max(project) from deed.events)", "true", "100", "true"]
        let values = zip(arrays, all).map { type, value in
            "(select array_agg(\(value) order by n)::\(type)[] from generate_series(0, 63) as n)"
        }
        var query = Statement.followShards.text(in: "deed")
        for (place, value) in values.enumerated() {
            query = query.replacing("$\(place + 1)::\(arrays[place])[]", with: value)
        }
        let plan = try database.lines(of: "explain (analyze, buffers) \(query)")
        #expect(try pages(of: plan) < 64 * 30, "\(plan)")
    }

    @Test(
        "The first events behind a version cost the same, however long the stream is",
        arguments: [
            (Statement.loadStreams, "array[0], array[0], 128"),
            (.loadStreams, "array[9000], array[0], 128"),
            (.readLaterEvents, "array[0], array[30000], 100"), (.listEvents, "0, 100"),
        ])
    func longStream(statement: Statement, binds: String) throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: .test("u"), grant: "g1"))
        ledger.close()
        try database.run(
            """
            insert into deed.events select (jsonb_populate_record(e, jsonb_build_object(
                'seq', 100 + n, 'version', n))).*
            from deed.events as e, generate_series(2, 20000) as n
            where e.customer = 'u' and e.version = 1;
            update deed.shards set head = 20100;
            analyze deed.events, deed.shards
            """)
        let isOfOne = statement.name == Statement.listEvents.name
        let form = isOfOne ? "%s, %L, %L, %L" : "array[%s], array[%L], array[%L], array[%L]"
        let stream = try database.lines(
            of: "select format('\(form)', shard, project, environment, customer) "
                + "from deed.events where version = 20000")
        let plan = try database.lines(
            of: "explain (analyze, buffers) execute planned(\(stream), \(binds))",
            after: "set plan_cache_mode = force_generic_plan; "
                + "prepare planned as \(statement.text(in: "deed"))")
        #expect(try pages(of: plan) < 60, "\(plan)")
    }

    private func pages(of plan: String) throws -> Int {
        let total = try #require(plan.firstMatch(of: /Buffers: shared hit=(\d+)(?: read=(\d+))?/))
        return (Int(total.1) ?? 0) + (total.2.flatMap { Int($0) } ?? 0)
    }
}

extension ScratchDatabase {
    fileprivate func lines(of query: String, after preparing: String = "") throws -> String {
        var connection = try Connection.open(settings())
        if !preparing.isEmpty {
            try connection.run(Script(embedded: Array(preparing.utf8)))
        }
        var lines: [String] = []
        try connection.run([Statement(embedded: Array(query.utf8))()]) { _, rows in
            for row in 0..<rows.count { lines.append(rows.text(row, 0)) }
        }
        return lines.joined(separator: "\n")
    }
}
