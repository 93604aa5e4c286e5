import Auditing
import Core
import JSON
import Ledger
import Minting
import Service
import TestSupport
import Testing

@Suite("Rows that differ from the log, and their repair")
struct MendedRowTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private static let waiting = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12"
    private static let carried = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a13"
    /// The tables derived from the log, except for data that a reconciliation itself changes and
    /// the time since when a purchase has waited.
    private static let tables = [
        "customers", "purchases", "customer_balances", "customer_grants", "orders", "order_owners",
        "tokens",
        "holders", "transaction_names",
        "unclaimed_tokens", "carried_tokens", "waiting_credits", "keys", "apps",
        "(select project, environment, store, original, app from deed.unclaimed)",
        "(select project, created_at, catalog_version from deed.projects)",
    ]
    private let front: Storefront

    /// Creates a customer with rows in every table, another customer, and an unclaimed purchase.
    init() throws {
        front = try Storefront()
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29)
        ).with { $0.lineItem = "771" }
        let sales = [
            month, Sale("2", "coins.100", .consumable, at: front.daysAgo(1)),
            Sale("3", "gems.10", .consumable, at: front.daysAgo(1)),
        ]
        _ = front.submit(front.signed(sales))
        _ = front.send("POST", "/v1/customers/u1/orders", #"{"order":"o1","product":"level2"}"#)
        _ = front.send("PUT", "/v1/customers/u1/account_token", #"{"token":"\#(Self.token)"}"#)
        let level = Sale("5", "level2", .nonConsumable, at: front.daysAgo(1)).with {
            $0.token = Self.carried
        }
        _ = front.submit(level, for: "u2")
        let grant = #"{"entitlement":"pro","for":"P30D","reason":"test"}"#
        let given = front.send("POST", "/v1/customers/u2/grants", grant, key: front.admin)
        #expect(given.status == 201, "\(given.text)")
        let left = Sale("9", "coins.100", .consumable, at: front.daysAgo(1)).with {
            $0.token = Self.waiting
        }
        let news = front.store.notification(
            "ONE_TIME_CHARGE", id: "n9", at: front.daysAgo(0),
            transaction: front.store.transaction(left))
        #expect(front.notify(news).status == 200)
    }

    @Test(
        "Every kind of planted difference is found, counted and repaired",
        arguments: [
            "update deed.customers set runs = '{}' where customer = 'u1'",
            "update deed.customers set version = 9 where customer = 'u1'",
            "update deed.customers set next_boundary_at = 5 where customer = 'u1'",
            "update deed.customers set inquiry_at = null where customer = 'u1'",
            "update deed.customers set answer_by = 5 where customer = 'u1'",
            "update deed.customers set app_transactions = '[\"704\"]' where customer = 'u1'",
            "delete from deed.customers where customer = 'u1'",
            "update deed.customers set customer = 'ghost' where customer = 'u2'",
            """
            insert into deed.customers select shard, project, environment, 'ghost', version,
                catalog_version, runs from deed.customers where customer = 'u1'
            """,
            """
            insert into deed.customers (shard, project, environment, customer, version,
                catalog_version, runs) values (3, 'default', 'mars', 'u7', 1, 0, '{}')
            """,
            """
            insert into deed.customers (shard, project, environment, customer, version, catalog_version, runs)
            select (shard + 1) % 64, project, environment, customer, version, catalog_version, runs
            from deed.customers where customer = 'u1'
            """,
            "update deed.transaction_names set line_item = null",
            "update deed.transaction_names set customer = 'u2'",
            "update deed.transaction_names set transaction_id = '4'",
            "delete from deed.transaction_names",
            """
            insert into deed.transaction_names
            select project, environment, store, app, original, '99', customer from deed.holders where original = '1'
            """,
            "update deed.purchases set product = 'x' where original = '1'",
            "update deed.purchases set expires_at = null where original = '1'",
            "delete from deed.purchases where original = '2'",
            """
            insert into deed.purchases select shard, project, environment, customer, store, '77', app, kind,
                product, purchased_at, expires_at, revoked_at, is_upgraded, will_renew, next_product,
                in_billing_retry, grace_until, transactions from deed.purchases where original = '1'
            """,
            """
            insert into deed.customer_balances
            values (deed.shard_of('default', 'production', 'u9'), 'default', 'production', 'u9', 'coins', 5)
            """,
            "update deed.customer_balances set amount = 1000000",
            """
            insert into deed.customer_balances
            select shard, project, environment, customer, 'gems', 5 from deed.customers
            where customer = 'u1'
            """,
            "delete from deed.customer_balances",
            "update deed.customer_grants set ends_at = null",
            "update deed.customer_grants set given_by = 'key:other'",
            "delete from deed.customer_grants",
            """
            insert into deed.customer_grants (shard, project, environment, customer, grant_id,
                entitlement, starts_at, reason, given_at, given_by)
            select shard, project, environment, customer, 'g_forged', 'pro', 0, 'r', 0, 'a'
            from deed.customers where customer = 'u1'
            """,
            """
            insert into deed.customer_grants (shard, project, environment, customer, grant_id,
                entitlement, starts_at, reason, given_at, given_by)
            values (deed.shard_of('default', 'production', 'u9'), 'default', 'production', 'u9',
                'g_forged', 'pro', 0, 'r', 0, 'a')
            """,
            "update deed.orders set product = 'coins.100'",
            "update deed.orders set token = '\(waiting)', expires_at = 0, closed_at = 5",
            "delete from deed.orders",
            """
            insert into deed.orders select shard, project, environment, customer, 'o2', token, product,
                opened_at, expires_at, fulfilled_by, closed_at, closed_because from deed.orders
            """,
            "update deed.order_owners set customer = 'u2'", "delete from deed.order_owners",
            "insert into deed.order_owners values ('default', 'production', 'o9', 'u2')",
            "insert into deed.order_owners values ('default', 'mars', 'o9', 'u2')",
            "update deed.tokens set customer = 'u2' where token = '\(token)'",
            "delete from deed.tokens where token = '\(token)'",
            """
            insert into deed.tokens values
                ('default', 'production', '00000000-0000-4000-8000-000000000000', 'u2')
            """,
            """
            insert into deed.tokens values
                ('default', 'production', '00000000-0000-4000-8000-000000000000', 'nobody')
            """,
            "update deed.holders set customer = 'u2' where original = '1'",
            "update deed.holders set customer = 'u2' where original = '9'",
            "delete from deed.holders where original = '1'", "delete from deed.holders",
            """
            insert into deed.holders select project, store, environment, app, '77', 'u2'
            from deed.holders where original = '1'
            """,
            "delete from deed.unclaimed", "update deed.unclaimed set app = 'com.example.other'",
            """
            insert into deed.unclaimed select project, environment, store, '77', app, since
            from deed.unclaimed
            """, "delete from deed.unclaimed_tokens",
            "update deed.unclaimed_tokens set token = '00000000-0000-4000-8000-000000000000'",
            "update deed.unclaimed_tokens set app = 'com.example.other'",
            """
            insert into deed.unclaimed_tokens select project, environment,
                '00000000-0000-4000-8000-000000000000', store, original, app
            from deed.unclaimed_tokens
            """, "delete from deed.carried_tokens",
            "update deed.carried_tokens set customer = 'u1'",
            "update deed.carried_tokens set token = '00000000-0000-4000-8000-000000000000'",
            "update deed.carried_tokens set app = 'com.example.other'",
            """
            insert into deed.carried_tokens select project, environment,
                '00000000-0000-4000-8000-000000000000', store, original, app, customer
            from deed.carried_tokens
            """,
            """
            insert into deed.carried_tokens select project, environment, token, store, '77', app,
                'nobody' from deed.carried_tokens
            """, "delete from deed.waiting_credits",
            "update deed.waiting_credits set product = 'coins.100'",
            "update deed.waiting_credits set transaction_id = '2'",
            """
            insert into deed.waiting_credits select shard, project, environment, customer, store, '2', '2',
                'coins.100' from deed.waiting_credits
            """,
            """
            insert into deed.waiting_credits values (deed.shard_of('default', 'production', 'u9'),
                'default', 'production', 'u9', 'apple', '2', '2', 'coins.100')
            """,
            "update deed.keys set role = 'reader'", "delete from deed.keys",
            """
            insert into deed.keys (digest, project, key_id, role, name, created_at)
            values (decode(repeat('ab', 32), 'hex'), 'default', 'k_forged', 'admin', 'x', 0)
            """,
            "update deed.keys set project = 'other'", "update deed.apps set apple_id = 7",
            "update deed.apps set project = 'other'", "delete from deed.apps",
            "insert into deed.apps values ('apple', 'com.example.forged', 'default', 7, 'self', false)",
        ])
    func planted(_ statement: String) throws {
        let before = try rows()
        // Marks the catalog as applied, so that no row may still follow an older catalog.
        try front.service.database.run(
            "update deed.projects set projected_version = catalog_version")
        #expect(try reconcile(repairs: true).found == 0)
        #expect(try findings() == [])
        try front.service.database.run(statement)
        #expect(try findings() != [])
        #expect(try reconcile(repairs: false).found > 0)
        let mended = try reconcile(repairs: true)
        #expect(mended.found > 0 && mended.mended == mended.found, "\(mended)")
        #expect(try reconcile(repairs: true) == StepCounts(lookedAt: 3))
        #expect(try findings() == [])
        #expect(try rows() == before)
    }

    @Test(
        "A run's own record rewrites the project's row, and this is counted",
        arguments: ["catalog_version = 9", "created_at = 5"], [true, false])
    func projects(_ change: String, repairs: Bool) throws {
        let before = try rows()
        try front.service.database.run("update deed.projects set \(change)")
        #expect(try findings() != [])
        let run = try reconcile(repairs: repairs)
        #expect(run.found == 1 && run.mended == 1)
        #expect(try reconcile(repairs: repairs).found == 0)
        #expect(try findings() == [])
        #expect(try rows() == before)
    }

    @Test("A token whose row was lost still brings purchases that waited meanwhile")
    func claimed() throws {
        try front.service.database.run("delete from deed.tokens where token = '\(Self.token)'")
        let sale = Sale("4", "coins.100", .consumable, at: front.daysAgo(1)).with {
            $0.token = Self.token
        }
        let news = front.store.notification(
            "ONE_TIME_CHARGE", id: "n4", at: front.daysAgo(0),
            transaction: front.store.transaction(sale))
        #expect(front.notify(news).status == 200)
        #expect(try front.coins() == 100)
        #expect(try reconcile(repairs: true).mended == 1)
        let claimed = try reconcile(repairs: true, .unclaimed)
        #expect(claimed == StepCounts(lookedAt: 2, found: 1, mended: 1))
        #expect(try front.coins() == 200)
        #expect(try reconcile(repairs: true).found == 0)
    }

    private func rows() throws -> [String] {
        try Self.tables.map { table in
            let name = table.hasPrefix("(") ? table : "deed.\(table)"
            return try front.service.database.text(
                "select coalesce(string_agg(t::text, ' ' order by t::text), '') from \(name) as t")
        }
    }

    private func reconcile(
        repairs: Bool, _ step: ReconcileStep = .projections
    ) throws -> StepCounts {
        var wish = ReconcileWish(project: try ProjectID("default"))
        wish.plan.steps = [step]
        wish.plan.isFull = true
        wish.plan.repairs = repairs
        let finished = try front.service.reconcile(wish)
        #expect(finished.errors == [])
        return finished.steps[step] ?? StepCounts()
    }

    /// Returns the findings of an audit of all rows.
    private func findings() throws -> [String] {
        let auditor = Auditor(front.service.database.settings(role: LedgerSettings.serviceRole))
        var audit = ProjectionAudit()
        try audit.compareAll(auditor) { _ in }
        return audit.findings.listed.map { "\($0.table) \($0.row) \($0.column)" }
    }
}
