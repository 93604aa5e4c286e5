import Postgres
import SQL
import TestSupport
import Testing

extension PlanTests {
    @Test("A page of figures costs what is on it, however many customers there are")
    func figures() throws {
        let database = try ScratchDatabase()
        try database.run(
            """
            insert into deed.customers (shard, project, environment, customer, version, catalog_version, runs)
            select n % 64, 'p', 'production', 'c' || n, 1, 1, '{"pro": "{[1,2)}"}'
            from generate_series(1, 20000) as n;
            insert into deed.purchases (shard, project, environment, customer, store, original, app, kind, product,
                purchased_at, is_upgraded, transactions)
            select n % 64, 'p', 'production', 'c' || n, 'apple', n, 'a', 'auto_renewable', 'm', 1, false, '[]'
            from generate_series(1, 20000) as n;
            analyze deed.customers, deed.purchases
            """)
        for statement in [
            .findFigurePage, .countActiveEntitlements, .countActiveProducts, .listEndingAccess,
            .listLateRefunds, Statement.countUnclaimedPage,
        ] {
            let plan = try plan(of: statement, in: database)
            #expect(!plan.contains("Seq Scan"), "\(plan)")
            let search = plan.split(separator: "\n").first { $0.contains("Index Cond") }
            #expect(search?.contains("(shard = ") == true, "\(plan)")
            let isRange = search?.contains("ROW(customer, project, environment) > ROW(")
            #expect(isRange == true, "\(plan)")
        }
    }
}
