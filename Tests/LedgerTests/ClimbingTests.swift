import Core
import Ledger
import Postgres
import TestSupport
import Testing
import Threading

/// Tests that database logins cannot gain rights.
@Suite("A login gains no rights")
struct ClimbingTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase()
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        ledger.close()
    }

    @Test(
        "An analyst's type in pg_temp runs nothing with another's rights, whatever its name",
        arguments: ["int8multirange", "text", "jsonb", "timestamptz", "numeric"])
    func types(_ name: String) throws {
        let analyst = try TestLogin(analystOf: database)
        // The object that replaces the type records which user runs it.
        try runScript(
            """
            create temporary table ran (who name);
            create function pg_temp.climb(value pg_catalog.\(name)) returns boolean
            language plpgsql as $body$
            begin
                insert into ran values (current_user);
                execute 'alter role \(analyst.name) superuser';
                return true;
            exception when insufficient_privilege then
                return true;
            end $body$;
            create domain pg_temp.\(name) as pg_catalog.\(name) check (pg_temp.climb(value));
            select deed.entitled('default', 'u1', 'pro');
            select deed.now();
            select count(*) from deed.entitlements;
            do $$
            begin
                if exists (select from ran where who <> session_user) then
                    raise exception 'ran as another';
                end if;
            end $$
            """, at: analyst.url(of: database))
        let isSuperuser =
            "select count(*) from pg_roles where rolname = '\(analyst.name)' and rolsuper"
        #expect(try database.number(isSuperuser) == 0)
    }

    @Test("Every function names pg_temp last, or was parsed when it was made")
    func paths() throws {
        let open = """
            select coalesce(string_agg(p.proname, ', ' order by p.proname), '')
            from pg_proc as p where p.pronamespace = 'deed'::regnamespace and p.prosqlbody is null
                and p.proconfig is distinct from array['search_path=pg_catalog, pg_temp']
            """
        #expect(try database.text(open) == "")
    }

    /// A different suite tests what the second function allows: the one about erased customers' events.
    @Test(
        "Four functions run with the rights of their owner: one has no argument, one empties what was erased, two delete what is old"
    )
    func definers() throws {
        let definers = """
            select coalesce(string_agg(p.oid::regprocedure::text, ', ' order by p.proname), '')
            from pg_proc as p where p.pronamespace = 'deed'::regnamespace and p.prosecdef
            """
        #expect(
            try database.text(definers)
                == "deed.empty_erased(smallint,text,text,text,bigint,bigint), "
                + "deed.forget_evidence(bigint,bigint,bigint), deed.forget_quarantined(bigint,bigint), "
                + "deed.standbys()")
    }

    @Test("An analyst who holds every available lock delays no commit")
    func locks() throws {
        let analyst = try TestLogin(analystOf: database)
        var settings = ConnectionSettings(url: analyst.url(of: database), role: nil)
        settings.silentLockMilliseconds = 0
        var holder = try Connection.open(settings)
        let text = """
            begin;
            select pg_advisory_lock(4919504, bucket) from generate_series(0, 255) as bucket;
            select count(*) from deed.entitlements;
            lock deed.entitlements, deed.transactions, deed.grants, deed.products in access share mode;
            """
        try holder.run(Script(embedded: Array(text.utf8)))
        let ledger = database.ledger()
        defer { ledger.close() }
        let started = monotonicMilliseconds()
        for round in 0..<20 as Range<UInt8> {
            let token = AccountToken(random: [UInt8](repeating: round, count: 16))
            let registered = Event.tokenRegistered(TokenRegistered(token: token))
            _ = try ledger.append(
                .customer(
                    .test("u\(round)"), actor: try Actor("test"),
                    cause: Cause(text: "key:k", digest: [UInt8](repeating: 0, count: 32))
                ) { _, _, _ in [registered] })
            var fact = try TransactionFact.bought(
                "level2", .nonConsumable, transaction: "t\(round)",
                at: Instant(milliseconds: 1_795_202_000_000))
            fact.accountToken =
                AccountToken(random: [round] + [UInt8](repeating: 9, count: 15)).text
            _ = try ledger.append(.record([fact], for: .test("v\(round)"), key: "k"))
        }
        #expect(monotonicMilliseconds() - started < 3000)
        _ = consume holder
    }

    @Test("The service cannot give a database a test clock")
    func testClock() throws {
        let insertion = "insert into deed.test_clock (stands_at, marked_at) values (0, 0)"
        #expect {
            try database.run(insertion, role: LedgerSettings.serviceRole)
        } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
        // The owner cannot do it either if the database contains any real data.
        #expect {
            try database.run(insertion)
        } throws: { ($0 as? PostgresError)?.sqlState == "DD007" }
        #expect(try database.number("select count(*) from deed.test_clock") == 0)
    }
}
