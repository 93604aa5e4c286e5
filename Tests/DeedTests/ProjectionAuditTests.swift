import Core
import Foundation
import JSON
import Ledger
import Minting
import Service
import TestSupport
import Testing

/// A change to the projected rows, and the text that an audit must contain.
private struct RowTampering: Sendable, CustomTestStringConvertible {
    let statement: String
    let table: String
    let row: String
    let column: String

    init(_ statement: String, _ table: String, _ row: String, _ column: String) {
        self.statement = statement
        self.table = table
        self.row = row
        self.column = column
    }

    var testDescription: String { statement }
}

extension ProgramTests {
    @Suite("deed audit --projections")
    final class ProjectionAuditTests: SandboxShop {
        /// Creates a customer with rows in every table.
        override init() throws {
            try super.init()
            let admin = try service.key(.admin)
            let sales = [
                Sale("1", "coins.100", .consumable, at: Payload.signedAt),
                Sale(
                    "2", "pro.month", .autoRenewable, at: Payload.signedAt,
                    until: Payload.signedAt.advanced(byMilliseconds: 86_400_000)),
            ]
            let body: JSON = [
                "signed_transactions": .array(sales.map { .string(store.transaction($0)) }),
                "environment": "sandbox",
            ]
            let calls = [
                ("POST", "/v1/customers/u1/receipts", body.text),
                ("POST", "/v1/customers/u1/orders", #"{"environment":"sandbox"}"#),
                (
                    "PUT", "/v1/customers/u1/account_token",
                    #"{"token":"6f1d3ba5-3e9b-4b0e-9c0e-0a4f6a1f7c11","environment":"sandbox"}"#
                ),
                (
                    "POST", "/v1/customers/u2/grants",
                    #"{"entitlement":"pro","for":"P30D","reason":"test"}"#
                ),
            ]
            for (method, path, body) in calls {
                let reply = service.send(method, path, key: admin, body: body)
                if reply.status >= 300 { throw Unexpected(answer: reply.text) }
            }
        }

        private struct Unexpected: Error {
            let answer: String
        }

        private func audit(_ arguments: String...) throws -> (code: Int32, projections: JSON?) {
            let audit = try deed.run(["audit", "--projections", "--json"] + arguments)
            return (audit.code, try audit.json["projections"])
        }

        @Test("Projected rows are right, both in full and in a sample")
        func clean() throws {
            let (code, projections) = try audit()
            #expect(code == 0, "\(projections?.text ?? "")")
            #expect(projections?["customers"] == 2 && projections?["finding_count"] == 0)
            #expect(try audit("--sample", "100").code == 0)
        }

        @Test(
            "Changed, missing and forged rows are named with table, row and column",
            arguments: [
                RowTampering(
                    """
                    insert into deed.keys (digest, project, key_id, role, name, created_at)
                    values (decode(repeat('ab', 32), 'hex'), 'default', 'k_forged', 'admin', 'x', 0)
                    """, "deed.keys", "key_id k_forged", "row"),
                RowTampering(
                    "update deed.keys set role = 'reader' where role = 'admin'", "deed.keys",
                    "key_id k_",
                    "role"),
                RowTampering(
                    """
                    insert into deed.holders values
                        ('default', 'apple', 'sandbox', 'com.example.game', '999', 'u1')
                    """, "deed.holders", "999", "row"),
                RowTampering(
                    "update deed.holders set customer = 'u2' where original = '1'", "deed.holders",
                    "1",
                    "customer"),
                RowTampering(
                    "delete from deed.holders where original = '1'", "deed.holders", "1", "row"),
                RowTampering(
                    "update deed.customer_balances set amount = 1000000", "deed.customer_balances",
                    "coins", "amount"),
                RowTampering(
                    """
                    insert into deed.customer_balances
                    select shard, project, environment, customer, 'gems', 5 from deed.customers
                    where customer = 'u1'
                    """, "deed.customer_balances", "gems", "row"),
                RowTampering(
                    """
                    insert into deed.customer_balances
                    values (deed.shard_of('default', 'sandbox', 'u9'), 'default', 'sandbox', 'u9', 'coins', 5)
                    """, "deed.customer_balances", "u9", "row"),
                RowTampering(
                    "update deed.customers set runs = '{}' where customer = 'u2'", "deed.customers",
                    "u2",
                    "runs"),
                RowTampering(
                    """
                    insert into deed.customers (shard, project, environment, customer, version,
                        catalog_version, runs) values (3, 'default', 'mars', 'u7', 1, 0, '{}')
                    """, "deed.customers", "mars", "environment"),
                RowTampering(
                    """
                    insert into deed.holders values
                        ('default', 'apple', 'mars', 'com.example.game', '999', 'u1')
                    """, "deed.holders", "999", "row"),
                RowTampering(
                    "update deed.customers set catalog_version = 0, runs = '{}' where customer = 'u1'",
                    "deed.customers", "u1", "catalog_version"),
                RowTampering(
                    "update deed.purchases set expires_at = null where original = '2'",
                    "deed.purchases",
                    "2", "expires_at"),
                RowTampering(
                    "update deed.orders set closed_at = 5", "deed.orders", "u1", "closed_at"),
                RowTampering(
                    "delete from deed.order_owners", "deed.order_owners", "default", "row"),
                RowTampering(
                    "update deed.tokens set customer = 'u2' where token like '6f1d%'",
                    "deed.tokens",
                    "6f1d", "customer"),
                RowTampering(
                    "update deed.customers set customer = 'ghost' where customer = 'u2'",
                    "deed.customers", "ghost", "shard"),
                RowTampering(
                    "delete from deed.customers where customer = 'u2'", "deed.customers", "u2",
                    "row"),
                RowTampering(
                    "update deed.customer_grants set ends_at = null", "deed.customer_grants", "u2",
                    "ends_at"),
                RowTampering(
                    "update deed.customer_grants set given_by = 'key:other'",
                    "deed.customer_grants", "u2", "given_by"),
                RowTampering(
                    "delete from deed.customer_grants", "deed.customer_grants", "u2", "row"),
                RowTampering(
                    """
                    insert into deed.customer_grants (shard, project, environment, customer, grant_id,
                        entitlement, starts_at, reason, given_at, given_by)
                    select shard, project, environment, customer, 'g_forged', 'pro', 0, 'r', 0, 'a'
                    from deed.customers where customer = 'u1'
                    """, "deed.customer_grants", "g_forged", "row"),
                RowTampering("update deed.apps set apple_id = 7", "deed.apps", "apple", "apple_id"),
                RowTampering(
                    "update deed.projects set catalog_version = 9", "deed.projects", "default",
                    "catalog_version"),
            ])
        fileprivate func tampered(_ tampering: RowTampering) throws {
            // Marks the catalog as applied, so that no row may still follow an older catalog.
            try database.run("update deed.projects set projected_version = catalog_version")
            try database.run(tampering.statement)
            let (code, projections) = try audit()
            #expect(code == 1)
            let named = projections?["findings"]?.array?.contains { finding in
                finding["table"]?.string == tampering.table
                    && finding["column"]?.string == tampering.column
                    && finding["row"]?.string?.contains(tampering.row) == true
            }
            #expect(named == true, "\(projections?.text ?? "")")
        }

        @Test(
            "A change of one row is one finding, which names the old and the new customer",
            arguments: [
                ("deed.tokens", "token like '6f1d%'"), ("deed.holders", "original = '1'"),
                ("deed.order_owners", "true"),
            ])
        func oneFinding(_ table: String, _ rows: String) throws {
            try database.run("update \(table) set customer = 'u2' where \(rows)")
            let projections = try audit().projections
            #expect(projections?["finding_count"] == 1, "\(projections?.text ?? "")")
            let finding = projections?["findings"]?.array?.first
            #expect(finding?["table"]?.string == table && finding?["column"]?.string == "customer")
            #expect(finding?["expected"]?.string == "u1" && finding?["found"]?.string == "u2")
        }

        @Test(
            "Rows that wait for a new catalog are no findings, and an unreadable event is one"
        )
        func halfProjected() throws {
            try database.run(
                """
                update deed.customers set catalog_version = 0, runs = '{}'
                where customer = 'u1';
                update deed.purchases set kind = null;
                update deed.projects set projected_version = 0
                """)
            #expect(try audit().code == 0)
            try database.run(
                """
                alter table deed.events disable trigger all;
                update deed.events set payload = '{}' where customer = 'u2'
                """)
            let (code, projections) = try audit()
            #expect(code == 1)
            let finding = projections?["findings"]?.array?.first
            #expect(finding?["row"]?.string?.contains("u2") == true, "\(projections?.text ?? "")")
        }

        @Test(
            "An event before the rows are rewritten rewrites all of the customer's rows"
        )
        func writtenMeanwhile() throws {
            try database.run(
                """
                update deed.customers set catalog_version = -1;
                update deed.purchases set transactions = '[]';
                update deed.projects set projected_version = -1
                """)
            let sale = Sale("3", "level2", .nonConsumable, at: Payload.signedAt)
            let body: JSON = [
                "signed_transactions": [.string(store.transaction(sale))], "environment": "sandbox",
            ]
            let reply = service.send(
                "POST", "/v1/customers/u1/receipts", key: try service.key(.backend), body: body.text
            )
            #expect(reply.status == 200, "\(reply.text)")
            #expect(try audit().code == 0)
            try service.projectAnew()
            let (code, projections) = try audit()
            #expect(code == 0, "\(projections?.text ?? "")")
            #expect(
                try database.number(
                    "select count(*) from deed.purchases where transactions::text = '[]'") == 0)
        }

        @Test("A forged row that was added last is in some samples")
        func sampled() throws {
            try database.run(
                """
                insert into deed.holders select 'default', 'apple', 'sandbox', 'com.example.game',
                    'forged-' || n, 'u1' from generate_series(1, 2000) as n;
                analyze deed.holders
                """)
            #expect(try audit("--sample", "20").code == 1)
        }

        @Test("A key that is only in the table does not work, and the log says so once")
        func forgedKey() throws {
            let text = "deed_admin_forged"
            try database.run(
                """
                insert into deed.keys (digest, project, key_id, role, name, created_at)
                values (sha256('\(text)'), 'default', 'k_forged', 'admin', 'x', 0)
                """)
            try service.keys.reload()
            let headers = [("Authorization", "Bearer \(text)")]
            #expect(service.send("GET", "/v1/settings", headers: headers).status == 401)
            // A revoked key stays useless even if someone restores its row by hand.
            let key = try service.key(.reader)
            #expect(service.send("GET", "/v1/products", key: key).status == 200)
            // The row is restored before the service looks at it.
            let sender = Sender(actor: try Actor("test"), idempotencyKey: nil)
            _ = try service.ledger.perform(
                service.useCases.projects.revokingKey(key.key, of: ProjectID("default"), by: sender)
            )
            try database.run("update deed.keys set revoked_at = null")
            try service.keys.reload()
            #expect(service.send("GET", "/v1/products", key: key).status == 401)
        }
    }
}
