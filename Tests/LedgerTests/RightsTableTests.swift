import Core
import Ledger
import Postgres
import TestSupport
import Testing

/// Tests which role may do what with each table, view and function. Each role tries it in SQL.
///
/// For a table: `r` read, `a` add, `w` overwrite, `d` delete, `e` empty. For a function: `x`
/// execute. Columns are listed if only those may be overwritten. `-` means nothing.
@Suite("Rights in SQL")
struct RightsTableTests {
    private static let who = ["owner", "service", "analyst", "stranger"]

    /// The rights of the owner, of the service, of an analyst according to `docs/sql.md`, and of a
    /// login without grants.
    private static let table: [String: [String]] = [
        // The log. Triggers restrict even the owner: see `LogProtectionTests`.
        "events": ["rawd", "ra", "-", "-"],
        "catalogs": ["rawd", "ra", "-", "-"],
        "shards": ["rwd", "rw(head,chain,recorded_at)", "-", "-"],
        "migrations": ["rawde", "r", "-", "-"],
        "format": ["rawd", "r", "-", "-"],
        "quarantined_events": ["rawde", "-", "-", "-"],
        "evidence": ["rawde", "ra", "-", "-"],
        "certificates": ["rawde", "ra", "-", "-"],
        "test_clock": ["rawd", "rw(stands_at)", "r", "-"],

        // Tables derived from the log.
        "customers": ["rawde", "rawd", "-", "-"],
        "purchases": ["rawde", "rawd", "-", "-"],
        "customer_balances": ["rawde", "rawd", "-", "-"],
        "customer_grants": ["rawde", "rawd", "-", "-"],
        "orders": ["rawde", "rawd", "-", "-"],
        "order_owners": ["rawde", "rawd", "-", "-"],
        "tokens": ["rawde", "rawd", "-", "-"],
        "holders": ["rawde", "rawd", "-", "-"],
        "transaction_names": ["rawde", "rawd", "-", "-"],
        "erased_purchases": ["rawde", "rawd", "-", "-"],
        "kept_states": ["rawde", "rawd", "-", "-"],
        "projects": ["rawde", "rawd", "-", "-"],
        "apps": ["rawde", "rawd", "-", "-"],
        "keys": ["rawde", "rawd", "-", "-"],
        "unclaimed": ["rawde", "rawd", "-", "-"],
        "unclaimed_tokens": ["rawde", "rawd", "-", "-"],
        "carried_tokens": ["rawde", "rawd", "-", "-"],
        "waiting_credits": ["rawde", "rawd", "-", "-"],
        "token_buckets": ["rawde", "rw", "-", "-"],

        // Tables that are not derived from the log.
        "intake": ["rawde", "rawd", "-", "-"],
        "evidence_names": ["rawde", "rawd", "-", "-"],
        "emptying": ["rawde", "rawd", "-", "-"],
        "store_credentials": ["rawde", "rawd", "-", "-"],
        "store_budgets": ["rawde", "rawd", "-", "-"],
        "leases": ["rawde", "rawd", "-", "-"],
        "reconciled": ["rawde", "rawd", "-", "-"],
        "proven": ["rawde", "raw", "-", "-"],
        "histories": ["rawde", "rawd", "-", "-"],
        "history_questions": ["rawde", "rawd", "-", "-"],
        "history_rounds": ["rawde", "raw", "-", "-"],
        "notification_marks": ["rawde", "rawd", "-", "-"],
        "cursors": ["rawde", "rawd", "-", "-"],
        "webhook_secrets": ["rawde", "rawd", "-", "-"],
        "webhook_places": ["rawde", "rawd", "-", "-"],
        "webhook_waiting": ["rawde", "rawd", "-", "-"],
        "webhook_attempts": ["rawde", "rawd", "-", "-"],
        "webhook_replays": ["rawde", "rawd", "-", "-"],
        "lost_ends": ["rawde", "rawd", "-", "-"],
        "key_uses": ["rawde", "raw", "-", "-"],
        "refused_calls": ["rawde", "rad", "-", "-"],
        "people": ["rawde", "rawd", "-", "-"],
        "person_roles": ["rawde", "rawd", "-", "-"],
        "person_links": ["rawde", "rawd", "-", "-"],
        "sessions": ["rawde", "rawd", "-", "-"],
        "sign_in_tries": ["rawde", "rawd", "-", "-"],
        "second_factors": ["rawde", "rawd", "-", "-"],
        "emergency_codes": ["rawde", "rad", "-", "-"],
        "begun_sign_ins": ["rawde", "rad", "-", "-"],
        "figures": ["rawde", "raw", "-", "-"],
        "instances": ["rawde", "rawd", "-", "-"],
        "last_done": ["rawde", "rawd", "-", "-"],

        // Views for other programs. Each row of the view of balances comes from one row of a table,
        // so it can be changed.
        "balances": ["rawd", "r", "r", "-"],
        "entitlements": ["r", "r", "r", "-"],
        "subscriptions": [
            "raw(project,environment,customer,store,app,kind,product,is_upgraded,will_renew,next_product,"
                + "in_billing_retry)d", "r", "r", "-",
        ],
        "transactions": ["r", "r", "r", "-"],
        "refunds": ["r", "r", "r", "-"],
        "grants": [
            "raw(project,environment,customer,grant_id,entitlement,reason,ticket,given_by,"
                + "revoked_by,revoked_because,revoked_ticket,after_current)d", "r", "r", "-",
        ],
        "products": ["r", "r", "r", "-"],
        "feed": ["r", "r", "r", "-"],

        // Functions that other programs call, directly or through the views.
        "entitled(text,text,text,timestamp with time zone,text)": ["x", "x", "x", "-"],
        "now()": ["x", "x", "x", "-"],
        "instant(bigint)": ["x", "x", "x", "-"],
        "instant(text)": ["x", "x", "x", "-"],
        "every_shard()": ["x", "x", "x", "-"],

        // Functions that the service calls.
        "claim_apps(text[],text[],text[],bigint[],text[],boolean[])": ["x", "x", "-", "-"],
        "claim_orders(text[],text[],text[],text[])": ["x", "x", "-", "-"],
        "claim_tokens(text[],text[],text[],text[])": ["x", "x", "-", "-"],
        "await_tokens(text[],text[],text[],text[],text[],text[],boolean[])": ["x", "x", "-", "-"],
        "carry_tokens(text[],text[],text[],text[],text[],text[],text[],boolean[])": [
            "x", "x", "-", "-",
        ],
        "guard_tokens(text[],text[])": ["x", "x", "-", "-"],
        "standbys()": ["x", "x", "-", "-"],
        "empty_erased(smallint,text,text,text,bigint,bigint)": ["x", "x", "-", "-"],
        "forget_evidence(bigint,bigint,bigint)": ["x", "x", "-", "-"],
        "forget_quarantined(bigint,bigint)": ["x", "x", "-", "-"],
        "shard_of(text,text,text)": ["x", "-", "-", "-"],

        // Functions that triggers call, for every writer.
        "refuse_change()": ["x", "-", "-", "-"],
        "refuse_change_of_log()": ["x", "-", "-", "-"],
        "refuse_test_clock()": ["x", "-", "-", "-"],
        "keep_test_clock()": ["x", "-", "-", "-"],

        // The right to create new objects.
        "create table deed.new ()": ["x", "-", "-", "-"],
        "create function deed.new() returns integer language sql return 1": ["x", "-", "-", "-"],
        "create trigger new before insert on deed.tokens execute function deed.refuse_change()": [
            "x", "-", "-", "-",
        ],
        "create schema new": ["x", "-", "-", "-"],
        "create temporary table new ()": ["x", "x", "-", "-"],
        "alter table deed.keys add column new text": ["x", "-", "-", "-"],
        "drop view deed.grants": ["x", "-", "-", "-"],
    ]

    @Test("Each table, view and function permits each login exactly what the table says")
    func table() throws {
        // Creates the service's role as a side effect.
        _ = try ScratchDatabase()
        let database = try ScratchDatabase(migrated: false)
        // The owner is not a superuser and did not create the role.
        let owner = try TestLogin("in role deed_service", at: database.url)
        try owner.run("alter database \(database.name) owner to \(owner.name)")
        defer { try? owner.run("reassign owned by \(owner.name) to deed") }
        var schema = Schema(ConnectionSettings(url: owner.url(of: database), role: nil))
        try schema.migrate(now: Instant(milliseconds: 0)) { _ in }
        try schema.narrow()
        let analyst = try TestLogin(analystOf: database)
        let stranger = try TestLogin(at: database.url)
        try stranger.run("grant connect on database \(database.name) to \(stranger.name)")
        defer { withExtendedLifetime((analyst, stranger)) {} }
        let settings = try [
            ConnectionSettings(url: owner.url(of: database), role: nil),
            database.settings(role: LedgerSettings.serviceRole),
            ConnectionSettings(url: analyst.url(of: database), role: nil),
            ConnectionSettings(url: stranger.url(of: database), role: nil),
        ].map { try Trial(as: $0) }

        let objects = try Object.all(of: database)
        for object in objects where RightsTableTests.table[object.name] == nil {
            Issue.record("\(object.name) is in the schema and not in the table")
        }
        for (name, expected) in RightsTableTests.table {
            let object = objects.first { $0.name == name } ?? Object(statement: name)
            #expect(object.isThere || name.contains(" "), "\(name) is in the table only")
            for (place, trial) in settings.enumerated() {
                let found = try trial.what(object)
                #expect(found == expected[place], "\(RightsTableTests.who[place]): \(name)")
            }
        }
    }
}

/// A table or view with its columns, a function, or one of the statements in the table above.
private struct Object {
    let name: String
    var columns: [String] = []
    var call: String?
    var isThere = true

    init(statement: String) {
        name = statement
        call = statement
        isThere = false
    }

    private init(_ rows: borrowing Rows, _ row: Int) {
        name = rows.text(row, 0)
        columns = (rows.optionalText(row, 1) ?? "").split(separator: ",").map(String.init)
        call = rows.optionalText(row, 2)
    }

    static func all(of database: ScratchDatabase) throws -> [Object] {
        var connection = try Connection.open(database.settings())
        var objects: [Object] = []
        let statement = Statement(
            """
            select c.relname::text, string_agg(a.attname, ',' order by a.attnum), null::text
            from pg_class as c join pg_attribute as a on a.attrelid = c.oid
            where c.relnamespace = 'deed'::regnamespace and c.relkind not in ('i', 'I', 't')
                and a.attnum > 0 and not a.attisdropped
            group by c.relname
            union all
            select substr(p.oid::regprocedure::text, 6), null,
                format('select deed.%I(%s)', p.proname, (
                    -- What is null would be answered without a call.
                    select string_agg(
                        case t.type when 'text'::regtype then quote_literal('') else 'null' end
                            || '::' || format_type(t.type, null), ',')
                    from unnest(p.proargtypes) as t (type)))
            from pg_proc as p where p.pronamespace = 'deed'::regnamespace
            """)
        try connection.run([statement()]) { _, rows in
            objects = (0..<rows.count).map { Object(rows, $0) }
        }
        return objects
    }
}

/// A role that tries the rights.
private final class Trial {
    private let settings: ConnectionSettings

    init(as settings: ConnectionSettings) throws { self.settings = settings }

    func what(_ object: Object) throws -> String {
        var connection = try Connection.open(settings)
        func may(_ statement: String) throws -> Bool {
            defer { try? connection.run(Script(embedded: Array("rollback".utf8))) }
            do {
                try connection.run(Script(embedded: Array("begin; \(statement)".utf8)))
                return true
            } catch {
                // PostgreSQL refuses because of a privilege, a trigger, or a view that cannot be
                // changed. With any other error, the attempt itself was wrong.
                let state = error.sqlState ?? ""
                let isImpossible =
                    object.call == nil && ["0A000", "42809", "55000"].contains(state)
                return state != "42501" && !state.hasPrefix("DD") && !isImpossible
            }
        }
        if let call = object.call { return try may(call) ? "x" : "-" }
        let name = "deed.\(object.name)"
        var done = ""
        if try may("select from \(name) limit 0") { done += "r" }
        // Rows of evidence need a content.
        let values = object.name == "evidence" ? "(content) values ('')" : "default values"
        if try may("insert into \(name) \(values)") { done += "a" }
        let written = try object.columns.filter {
            try may("update \(name) set \($0) = null where false")
        }
        if written == object.columns {
            done += "w"
        } else if !written.isEmpty {
            done += "w(\(written.joined(separator: ",")))"
        }
        if try may("delete from \(name) where false") { done += "d" }
        if try may("truncate \(name)") { done += "e" }
        return done.isEmpty ? "-" : done
    }
}
