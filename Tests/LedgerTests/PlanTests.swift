import Core
import Glibc
import Postgres
import SQL
import TestSupport
import Testing

@testable import Ledger

@Suite("Plans of statements")
struct PlanTests {
    /// Each connection makes a plan once and keeps it while the table grows.
    @Test(
        "A stream is read by its own index, however young the log was when planned",
        arguments: [0, 1, 5, 60, 300])
    func youngTables(eventCount: Int) throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        for number in 0..<eventCount {
            _ = try ledger.append(.give("pro", to: .test("u\(number)"), grant: "g1"))
        }
        ledger.close()
        for isAnalyzed in [false, true] {
            if isAnalyzed { try database.run("vacuum analyze deed.events") }
            for statement in [
                Statement.loadStreams, .readStreams, .loadVersions, .listEvents, .recallStreams,
            ] {
                let plan = try plan(of: statement, in: database)
                #expect(plan.contains("using events_version_key"), "\(plan)")
                #expect(!plan.contains("events_pkey"), "\(plan)")
                #expect(!plan.contains("Seq Scan"), "\(plan)")
            }
            for statement in [Statement.loadCauses, .readKeptStates, .keepState, .readStreams] {
                let plan = try plan(of: statement, in: database)
                #expect(!plan.contains("events_of_project"), "\(plan)")
                #expect(!plan.contains("events_pkey"), "\(plan)")
            }
            #expect(
                try plan(of: .loadCauses, in: database).contains("using events_of_causes"))
        }
    }

    @Test(
        "Followers read only what is new to them, however young the log is",
        arguments: [0, 1, 60, 300])
    func followers(eventCount: Int) throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        for number in 0..<eventCount {
            _ = try ledger.append(.give("pro", to: .test("u\(number)"), grant: "g1"))
        }
        ledger.close()
        for isAnalyzed in [false, true] {
            if isAnalyzed { try database.run("vacuum analyze deed.events, deed.shards") }
            let plan = try plan(of: .followShards, in: database)
            let behind = "(shard = known.shard) AND (seq > known.seq) AND (seq <= s.head)"
            let ofProject =
                "(ROW(project, shard, seq) > ROW(known.project, known.shard, known.seq)) AND "
                + "(project <= known.project)"
            let lines = plan.split(separator: "\n")
            for (index, condition) in [("events_pkey", behind), ("events_of_project", ofProject)] {
                let scan = lines.firstIndex { $0.contains("Index Scan using \(index) on events") }
                let next = lines[(try #require(scan, "\(plan)") + 1)...].first
                #expect(next?.hasSuffix("Index Cond: (\(condition))") == true, "\(plan)")
            }
            #expect(plan.contains("One-Time Filter: (known.project IS NULL)"), "\(plan)")
            #expect(plan.contains("Index Scan Backward using shards_pkey"), "\(plan)")
            #expect(!plan.contains("Seq Scan") && !plan.contains("Bitmap"), "\(plan)")
            #expect(plan.split(separator: "on events").count == 3, "\(plan)")
        }
    }

    @Test(
        "A lookup finds its rows by its own index, even while the table is empty",
        arguments: [
            (Statement.loadHolders, "holders_pkey", "original ="),
            (.loadTokens, "tokens_pkey", "token ="),
            (.loadUnclaimed, "unclaimed_tokens_pkey", "token ="),
            (.loadCarried, "carried_tokens_pkey", "token ="),
            (.lookUpEvidence, "evidence_pkey", "digest ="),
        ])
    func lookUps(statement: Statement, index: String, condition: String) throws {
        let database = try ScratchDatabase()
        for isAnalyzed in [false, true] {
            if isAnalyzed {
                try database.run(
                    "vacuum analyze deed.holders, deed.tokens, deed.evidence, "
                        + "deed.unclaimed_tokens, deed.carried_tokens"
                )
            }
            let plan = try plan(of: statement, in: database)
            #expect(plan.contains("using \(index)"), "\(plan)")
            let search = plan.split(separator: "\n").first { $0.contains("Index Cond") }
            #expect(search?.contains(condition) == true, "\(plan)")
        }
    }

    @Test("A page of the trail reads the index of acts in its order")
    func trail() throws {
        let database = try ScratchDatabase()
        for isAnalyzed in [false, true] {
            if isAnalyzed { try database.run("vacuum analyze deed.events") }
            let plan = try plan(of: .listActs, in: database)
            #expect(plan.contains("Index Scan Backward using events_of_people"), "\(plan)")
            #expect(!plan.contains("Seq Scan on events"), "\(plan)")
        }
    }

    @Test("What is old, and what continues another purchase, is found by indexes")
    func forgetting() throws {
        let database = try ScratchDatabase()
        for isAnalyzed in [false, true] {
            if isAnalyzed {
                try database.run(
                    "vacuum analyze deed.histories, deed.unclaimed, deed.holders, deed.events")
            }
            let old = try plan(of: .forgetHistories, in: database)
            #expect(old.contains("using histories_kept"), "\(old)")
            let continuing = try plan(of: .listContinuing, in: database)
            for index in ["unclaimed_pkey", "events_version_key", "holders_pkey"] {
                #expect(continuing.contains("using \(index)"), "\(continuing)")
            }
            #expect(!continuing.contains("Seq Scan"), "\(continuing)")
        }
    }

    @Test("A page of customers is read in the order of their key, and no shard is sorted for it")
    func pagesOfCustomers() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: .test("u"), grant: "g1"))
        ledger.close()
        for isLarge in [false, true] {
            if isLarge {
                try database.run(
                    """
                    insert into deed.customers
                    select (jsonb_populate_record(c, jsonb_build_object('customer', 'c' || n))).*
                    from deed.customers as c, generate_series(0, 19999) as n where c.customer = 'u';
                    analyze deed.customers
                    """)
            }
            let plan = try plan(of: .listCustomers, in: database)
            #expect(plan.contains("using customers_pkey"), "\(plan)")
            #expect(!plan.contains("Sort"), "\(plan)")
            let outdated = try self.plan(of: .listOutdatedCustomers, in: database)
            #expect(!isLarge || outdated.contains("Scan using customers_pkey"), "\(outdated)")
        }
    }

    @Test(
        "Waiting rows are listed and counted by an index, even while their table is empty",
        arguments: [
            (Statement.listUnclaimed, "unclaimed_pkey"), (.countUnclaimed, "unclaimed_pkey"),
            (.listAnyGrants, "customer_grants_given"),
            (.listTicketGrants, "customer_grants_ticket"),
            (.loadWaitingCredits, "waiting_credits_pkey"),
            (.listOutdatedCustomers, "waiting_credits_pkey"),
            (.findNextBoundary, "customers_next_boundary"),
            (.listDueBoundaries, "customers_next_boundary"),
            (.sampleProjectCustomers, "customers_pkey"), (.auditUnlisted, "events_pkey"),
            (.findPlaces, "events_pkey"), (.listEditions, "events_version_key"),
            (.findCatalog, "catalogs_pkey"),
            (.listHistoryQuestions, "history_questions_newest"),
            (.fillHistoryQuestions, "purchases_pkey"), (.countHistoryCustomers, "purchases_pkey"),
        ])
    func waiting(statement: Statement, index: String) throws {
        let database = try ScratchDatabase()
        for isAnalyzed in [false, true] {
            if isAnalyzed {
                try database.run(
                    "vacuum analyze deed.unclaimed, deed.waiting_credits, deed.customers")
            }
            let plan = try plan(of: statement, in: database)
            #expect(plan.contains("using \(index)"), "\(plan)")
            #expect(!plan.contains("Seq Scan"), "\(plan)")
        }
    }

    @Test("Accounts, refunds and inquiries are found by an index, even while the table is empty")
    func accounts() throws {
        let database = try ScratchDatabase()
        for isAnalyzed in [false, true] {
            if isAnalyzed { try database.run("vacuum analyze deed.customers") }
            let account = try plan(of: .findAccount, in: database)
            #expect(account.contains("on customers_app_transactions"), "\(account)")
            let refunds = try plan(of: .listRefundRequests, in: database)
            #expect(refunds.contains("using customers_answer_by"), "\(refunds)")
            let asked = try plan(of: .listAskedRefunds, in: database)
            #expect(asked.contains(" customers_answer_by"), "\(asked)")
            let inquiries = try plan(of: .listDueInquiries, in: database)
            #expect(inquiries.contains("using customers_inquiry"), "\(inquiries)")
            for plan in [account, refunds, asked, inquiries] {
                #expect(!plan.contains("Seq Scan"), "\(plan)")
            }
        }
    }

    @Test("What is found by a name is found by indexes, even while the tables are empty")
    func found() throws {
        let database = try ScratchDatabase()
        for isAnalyzed in [false, true] {
            if isAnalyzed { try database.run("vacuum analyze") }
            let names = try plan(of: .findNames, in: database)
            for index in [
                "holders_pkey", "transaction_names_pkey", "transaction_names_line_item",
                "order_owners_pkey", "tokens_pkey", "carried_tokens_pkey",
                "unclaimed_tokens_pkey", "customer_grants_named",
            ] {
                #expect(names.contains(" \(index)"), "\(index): \(names)")
            }
            for condition in ["transaction_id =", "line_item =", "token =", "original ="] {
                let isSearched = names.split(separator: "\n").contains {
                    $0.contains("Index Cond") && $0.contains(condition)
                }
                #expect(isSearched, "\(condition): \(names)")
            }
            let customers = try plan(of: .findCustomers, in: database)
            let search = customers.split(separator: "\n").first { $0.contains("Index Cond") }
            #expect(customers.contains("using customers_named"), "\(customers)")
            #expect(search?.contains("customer >=") == true, "\(customers)")
            #expect(!customers.contains("Sort"), "\(customers)")
            let event = try plan(of: .findEvent, in: database)
            // Both parts of the index must be used to find the row.
            let place = event.split(separator: "\n").first { $0.contains("Index Cond") }
            #expect(place?.contains("shard =") == true, "\(event)")
            #expect(place?.contains("seq =") == true, "\(event)")
            let isByKey = event.contains("using events_pkey")
            #expect(isByKey || place?.contains("project =") == true, "\(event)")
            let ticket = try plan(of: .findTicket, in: database)
            #expect(ticket.contains(" events_of_tickets"), "\(ticket)")
            for plan in [names, customers, event, ticket] {
                #expect(!plan.contains("Seq Scan"), "\(plan)")
            }
        }
    }

    @Test("Finished waiting rows are found by their purchase, even while the table is empty")
    func gone() throws {
        let database = try ScratchDatabase()
        let clearing = try #require(Table.unclaimedTokens.statements.clear)
        let plan = try plan(of: clearing, in: database)
        #expect(plan.contains(" unclaimed_tokens_of_purchase"), "\(plan)")
        #expect(!plan.contains("Seq Scan"), "\(plan)")
    }

    @Test(
        "A table's own statements find rows by its indexes, even while the table is empty",
        arguments: [false, true])
    func made(isAnalyzed: Bool) throws {
        let database = try ScratchDatabase()
        if isAnalyzed { try database.run("vacuum analyze") }
        let byCustomer: [Table: String] = [
            .tokens: "tokens_of_customer", .carriedTokens: "carried_tokens_of_customer",
            .unclaimedTokens: "unclaimed_tokens_of_purchase",
        ]
        for table in Table.ofCustomers + Table.ofNames + Table.ofProjects {
            let (made, key) = (table.statements, "\(table.name)_pkey")
            for (statement, index) in [
                // Keys are removed by digest and project. Either part leads to them through an index.
                (made.remove, table == .keys && isAnalyzed ? "keys_of_project" : key),
                (made.walk, key),
            ] {
                let plan = try plan(of: statement, in: database)
                #expect(plan.contains(" \(index)"), "\(table.name): \(plan)")
                #expect(!plan.contains("Seq Scan"), "\(table.name): \(plan)")
            }
            if table.shape.kind != .ofProjects {
                let plan = try plan(of: made.read, in: database)
                #expect(plan.contains(" \(byCustomer[table] ?? key)"), "\(table.name): \(plan)")
                #expect(plan.contains("Index Cond"), "\(table.name): \(plan)")
                #expect(!plan.contains("Seq Scan"), "\(table.name): \(plan)")
            }
            if table != .unclaimedTokens, table != .carriedTokens {
                let plan = try plan(of: made.rewrite, in: database)
                #expect(plan.contains("Arbiter Indexes: \(key)"), "\(table.name): \(plan)")
            }
            let sample = try plan(of: made.sample, in: database)
            #expect(sample.contains("Sample Scan on \(table.name)"), "\(sample)")
            if table.shape.kind != .ofCustomers { continue }
            for statement in [made.listOrphans, made.clearOrphans] {
                let plan = try plan(of: statement, in: database)
                #expect(plan.contains(" \(key)"), "\(table.name): \(plan)")
                #expect(!plan.contains("Seq Scan"), "\(table.name): \(plan)")
            }
        }
    }

    @Test(
        "A view finds one customer's rows by a key, however many others there are",
        arguments: [
            ("transactions", "purchases"), ("refunds", "purchases"),
            ("subscriptions", "purchases"), ("entitlements", "customers"),
            ("balances", "customer_balances"), ("grants", "customer_grants"),
        ])
    func views(view: String, table: String) throws {
        let database = try ScratchDatabase()
        try database.run(
            """
            insert into deed.purchases (shard, project, environment, customer, store, original, app,
                product, purchased_at, is_upgraded, transactions, kind)
            select n % 64, 'p', 'production', 'u' || n, 'apple', n::text, 'a', 'pro', 0, false, '[]',
                'auto_renewable'
            from generate_series(1, 20000) as n;
            insert into deed.customers
            select shard, project, environment, customer, 1, 1, '{}' from deed.purchases;
            insert into deed.customer_balances
            select shard, project, environment, customer, 'coins', 1 from deed.purchases;
            insert into deed.customer_grants (shard, project, environment, customer, grant_id,
                entitlement, starts_at, reason, given_at, given_by)
            select shard, project, environment, customer, 'g', 'pro', 0, 'r', 0, 'a'
            from deed.purchases
            """)
        try database.run(
            "vacuum analyze deed.purchases, deed.customers, deed.customer_balances, "
                + "deed.customer_grants")
        var connection = try Connection.open(database.settings())
        let question = "explain select * from deed.\(view) where customer = 'u77'"
        let plan = try lines(
            of: Statement(embedded: Array(question.utf8)), in: &connection)
        #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
        let search = plan.split(separator: "\n").first { $0.contains("Index Cond") }
        #expect(search?.contains("customer = 'u77'") == true, "\(plan)")
    }

    /// With few binds, PostgreSQL would prefer to plan each time, because it ignores the cost of planning.
    @Test("A statement is planned once, however few rows it is called with")
    func plannedOnce() throws {
        let database = try ScratchDatabase()
        var connection = try Connection.open(database.settings())
        let ofNone: [Bind] = [
            .int2s([0]), .texts(["p"]), .texts(["production"]), .texts(["u"]), .int8s([0]),
            .int8s([0]), .int2(nil),
        ]
        for _ in 0..<20 {
            try connection.run([Call(statement: .readStreams, binds: ofNone)]) { _, _ in }
        }
        let counting = Statement(
            "select generic_plans, custom_plans from pg_prepared_statements where name = $1")
        try connection.run([counting(.text(Statement.readStreams.name))]) { _, rows in
            #expect(rows.int8(0, 0) == 20)
            #expect(rows.int8(0, 1) == 0)
        }
    }

    @Test("A plan made for an empty table is forgotten when its time is over")
    func forgotten() throws {
        let database = try ScratchDatabase()
        try database.run("vacuum analyze deed.holders")
        var settings = database.settings()
        settings.planLifetimeMilliseconds = 200
        var connection = try Connection.open(settings)
        let (removing, nothing) = (Table.holders.statements.remove, Bind.texts([]))
        try connection.run([
            Call(statement: removing, binds: Array(repeating: nothing, count: 6))
        ])
        let early = try keptPlan(of: removing, in: &connection)
        #expect(!early.contains("Index Cond"), "\(early)")
        try database.run(
            """
            insert into deed.holders
            select 'p', 'apple', 'production', 'app', n::text, 'u' from generate_series(1, 10000) as n
            """)
        usleep(250_000)
        let later = try keptPlan(of: removing, in: &connection)
        #expect(later.contains("Index Cond"), "\(later)")
    }

    /// Returns the plan that the connection uses for its prepared statement.
    private func keptPlan(
        of statement: Statement, in connection: inout Connection
    ) throws -> String {
        let nulls = Array(repeating: "null", count: 6).joined(separator: ", ")
        let explaining = "explain execute \(statement.name)(\(nulls))"
        return try lines(of: Statement(embedded: Array(explaining.utf8)), in: &connection)
    }

    private func lines(of statement: Statement, in connection: inout Connection) throws -> String {
        var lines: [String] = []
        try connection.run([statement()]) { _, rows in
            for row in 0..<rows.count { lines.append(rows.text(row, 0)) }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the plan of the statement for any binds.
    func plan(of statement: Statement, in database: ScratchDatabase) throws -> String {
        var connection = try Connection.open(database.settings())
        let binds = statement.text(in: "deed").split(separator: "$").dropFirst().compactMap {
            Int($0.prefix { $0.isNumber })
        }
        let nulls = Array(repeating: "null", count: binds.max() ?? 0).joined(separator: ", ")
        let preparing =
            "set plan_cache_mode = force_generic_plan; prepare planned as \(statement.text(in: "deed"))"
        try connection.run(Script(embedded: Array(preparing.utf8)))
        let explaining = "explain execute planned" + (nulls.isEmpty ? "" : "(\(nulls))")
        return try lines(of: Statement(embedded: Array(explaining.utf8)), in: &connection)
    }
}
