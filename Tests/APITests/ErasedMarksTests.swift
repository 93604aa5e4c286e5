import Core
import JSON
import Minting
import Postgres
import Service
import Telemetry
import TestSupport
import Testing

/// Plants marks about a person in every possible place, erases the person, and searches all places for the marks.
@Suite("What is left of an erased person", .timeLimit(.minutes(20)))
struct ErasedMarksTests {
    private let front: Storefront

    init() throws {
        front = try Storefront(
            settings: #"{"credit_limits":{"coins":{"per_call":10,"per_day":10}}}"#)
    }

    private func post(_ path: String, _ body: String, status: Int = 200, key: String? = nil) {
        let reply = front.send(
            "POST", "/v1/customers/u1/\(path)", body, key: front.admin, idempotencyKey: key)
        #expect(reply.status == status, "\(path): \(reply.text)")
    }

    private static let token = "6f1d3ba5-3e9b-4b0e-9c0e-0a4f6a1f7c11"

    /// Ids of transactions, orders and tokens, reasons, and tickets. No other text contains them.
    private static let marks: [String] =
        [
            "7700123451", "7700123452", "7700123453", "7700123454", "7700123455", "7700123456",
            "order-mark",
            token, "grant-reason", "GRANT-T", "revoke-reason", "REVOKE-T", "adjust-reason",
            "ADJUST-T", "block-reason", "BLOCK-T", "unblock-reason", "UNBLOCK-T", "change-reason",
            "CHANGE-T", "queue-reason", "QUEUE-T", "queue-order", "queue-bytes", "queue-results",
            "receiver-answer", "receiver-error", "asked-obstacle", "asked-revision",
            "quarantined-mark", "refused-reason", "REFUSED-T", "late-reason", "LATE-T",
            "figure-product",
        ]

    /// The marks that an erasure does not remove, according to the page: the causes of events with
    /// their idempotency keys, and the erasure's own reason and ticket.
    private static let staying = ["key-mark", "erase-reason", "ERASE-T"]

    private func plant() throws {
        let month = Sale(
            "7700123451", "pro.month", .autoRenewable, at: front.daysAgo(1),
            until: front.daysAgo(-29))
        #expect(front.submit(month, idempotencyKey: "key-mark").status == 200)
        #expect(
            front.submit(Sale("7700123452", "level2", .nonConsumable, at: front.daysAgo(2))).status
                == 200)
        #expect(
            front.submit(Sale("7700123453", "coins.100", .consumable, at: front.daysAgo(2))).status
                == 200)
        // The catalog does not contain this product, so the transaction waits for it.
        #expect(
            front.submit(Sale("7700123454", "unknown.thing", .consumable, at: front.daysAgo(2)))
                .status
                == 200)
        let renewal = Sale(
            "7700123455", of: "7700123451", "pro.month", .autoRenewable, at: front.daysAgo(0),
            until: front.daysAgo(-31))
        for (number, id) in ["n-1", "n-2"].enumerated() {
            let news = front.notify(
                front.store.notification(
                    "DID_RENEW", id: id, at: front.daysAgo(0),
                    transaction: front.store.transaction(renewal)))
            #expect(news.status == 200, "\(number): \(news.text)")
        }
        // This purchase arrives before a customer claims it.
        let early = Sale("7700123456", "season", .nonRenewing, at: front.daysAgo(3))
        let news = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n-3", at: front.daysAgo(3),
                transaction: front.store.transaction(early)))
        #expect(news.status == 200, "\(news.text)")
        #expect(front.submit(early).status == 200)
        post("orders", #"{"order":"order-mark"}"#, status: 201)
        let token = front.send(
            "PUT", "/v1/customers/u1/account_token", #"{"token":"\#(Self.token)"}"#,
            key: front.admin)
        #expect(token.status == 200, "\(token.text)")
        post(
            "grants", #"{"entitlement":"level2","reason":"grant-reason","ticket":"GRANT-T"}"#,
            status: 201)
        post(
            "balances/coins/adjust",
            #"{"amount":5,"reason":"adjust-reason","ticket":"ADJUST-T"}"#)
        post(
            "purchases/apple:7700123452/block", #"{"reason":"block-reason","ticket":"BLOCK-T"}"#)
        post(
            "purchases/apple:7700123452/unblock",
            #"{"reason":"unblock-reason","ticket":"UNBLOCK-T"}"#)
        let grants = try front.send("GET", "/v1/customers/u1").json["grants"]?.array
        let grant = try #require(grants?.first?["id"]?.string)
        let change = front.send(
            "PATCH", "/v1/customers/u1/grants/\(grant)",
            #"{"for":"P30D","reason":"change-reason","ticket":"CHANGE-T"}"#, key: front.admin)
        #expect(change.status == 200, "\(change.text)")
        let revoke = front.send(
            "DELETE", "/v1/customers/u1/grants/\(grant)",
            #"{"reason":"revoke-reason","ticket":"REVOKE-T"}"#, key: front.admin)
        #expect(revoke.status == 200, "\(revoke.text)")
        try plantBesideTheLog()
    }

    /// Plants marks in tables that calls in a test can hardly fill.
    private func plantBesideTheLog() throws {
        // Deed keeps the refusal in memory and writes it later.
        let refused = front.send(
            "DELETE", "/v1/customers/u1/grants/g_unknown",
            #"{"reason":"late-reason","ticket":"LATE-T"}"#, key: front.admin)
        #expect(refused.status == 404, "\(refused.text)")
        try front.service.database.run(
            """
            insert into deed.intake (id, project, purpose, customer, order_id, environment, kind, app, digest,
                evidence, state, next_try_at, results, actor, reason, ticket, added_at, changed_at)
            values ('i_1', 'default', 'submit', 'u1', 'queue-order', 'production', 'receipt', 'a',
                decode(repeat('ab', 32), 'hex'), 'queue-bytes', 'dropped', 0, 'queue-results', 'key:k',
                'queue-reason', 'QUEUE-T', 0, 0);
            insert into deed.webhook_attempts (project, webhook, number, message, type, customer, attempt, at,
                milliseconds, status, error, answer)
            values ('default', 'wh_1', 1, 'm', 'grant.given', 'u1', 1, 0, 1, 200, 'receiver-error',
                'receiver-answer');
            insert into deed.histories (project, store, app, environment, original, revision)
            values ('default', 'apple', '\(Payload.bundleID)', 'production', '7700123451', 'asked-revision');
            insert into deed.history_questions (project, store, app, environment, original, customer,
                newest_at, obstacle)
            values ('default', 'apple', '\(Payload.bundleID)', 'production', '7700123452', 'u1', 0,
                'asked-obstacle');
            insert into deed.refused_calls (project, at, id, key_id, call, customer, status, code, reason, ticket)
            values ('default', 0, 'r_1', 'k', 'DELETE /v1/customers/{customer}', 'u1', 404, 'grant_unknown',
                'refused-reason', 'REFUSED-T');
            insert into deed.figures (project, environment, counted_at, counts, items)
            values ('default', 'production', 0, '{}', '[{"customer":"u1","version":1,"product":"figure-product"}]');
            insert into deed.quarantined_events
            select e.*, 0, 0, 'owner' from deed.events as e where e.customer = 'u1' limit 1;
            update deed.quarantined_events set payload = 'quarantined-mark'
            """)
    }

    /// Returns every row of every table, as text.
    private func dump() throws -> String {
        let names = try front.service.database.text(
            """
            select string_agg(format('%I.%I', schemaname, tablename), ' ' order by tablename)
            from pg_tables where schemaname = 'deed'
            """)
        return try names.split(separator: " ").map { table in
            try front.service.database.text(
                "select coalesce(string_agg(t::text, E'\\n'), '') from \(table) as t")
        }.joined(separator: "\n")
    }

    /// Returns the answers of calls about the person, and of calls about all customers.
    private func answers() -> String {
        [
            "customers/u1", "customers/u1/entitlements", "customers/u1/events?limit=1000",
            "customers/u1/balances", "customers/u1/explain?entitlement=pro", "customers/u1/export",
            "events?limit=1000", "grants", "find?q=7700123451", "find?q=u1", "intake",
            "refund_requests",
            "trail",
            "customers/u1/entitlements?known=\(front.service.clock.now.text)", "unclaimed",
        ].map { front.send("GET", "/v1/\($0)", key: front.admin).text }.joined(separator: "\n")
    }

    private static func hex(_ mark: String) -> String {
        Array(mark.utf8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    @Test(
        "No mark of the person is in any table, answer, line of the log or metric, but what the page says stays"
    )
    func nothing() throws {
        try plant()
        let before = try dump()
        let planted = Self.marks.filter { before.contains($0) }
        // If nothing had been planted, this test could not fail.
        #expect(planted.count >= 30, "\(Self.marks.filter { !planted.contains($0) })")
        let evidence = "select count(*) from deed.evidence where content is not null"
        #expect(try front.service.database.number(evidence) >= 6)
        let body = #"{"purchases":"forget","reason":"erase-reason","ticket":"ERASE-T"}"#
        let look = front.send("POST", "/v1/customers/u1/erase", body, key: front.admin)
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let done = front.send(
            "POST", "/v1/customers/u1/erase",
            #"{"purchases":"forget","reason":"erase-reason","ticket":"ERASE-T","intent":"\#(intent)"}"#,
            key: front.admin)
        #expect(done.status == 200, "\(done.text)")
        // Deed writes a refusal from before the erasure only after it.
        try front.service.keys.refusals.write()
        let places = [
            ("the tables", try dump()), ("the answers", answers()),
            ("the log", front.service.logged.all.joined(separator: "\n")),
            ("the metrics", front.service.metrics.text()),
        ]
        for (place, text) in places {
            // The stream's name contains the id of the unclaimed purchase.
            let text = text.replacing("$unclaimed/apple:7700123456", with: "")
                // The search's answer repeats the query.
                .replacing(#""query":"7700123451""#, with: "")
            for mark in Self.marks {
                let told = text.lines(with: mark) + text.lines(with: Self.hex(mark))
                #expect(told.isEmpty, "\(mark) is in \(place): \(told.prefix(2))")
            }
        }
        #expect(try front.service.database.number(evidence) == 0)
        for mark in Self.staying { #expect(places[0].1.contains(mark), "\(mark)") }
    }
}

extension String {
    fileprivate func lines(with mark: String) -> [Substring] {
        split(separator: "\n").filter { $0.contains(mark) }
    }
}
