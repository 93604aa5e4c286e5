import Auditing
import Core
import Histories
import Postgres
import Service
import TestSupport
import Testing

@testable import Ledger

/// Tests the rows of `deed.catalogs`, and the events that refer to them.
@Suite("Catalogs under their digests")
struct CatalogRowTests {
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let start: Instant

    init() throws {
        database = try ScratchDatabase()
        start = clock.now
        let ledger = ledger()
        defer { ledger.close() }
        for project in ["default", "other"] { try create(project, on: ledger) }
    }

    /// Returns a ledger without anything in memory.
    private func ledger() -> Ledger { database.ledger(clock: clock.reading) }

    private func change(
        _ project: String, _ key: String, on ledger: Ledger,
        _ decide: @escaping @Sendable (ProjectState) throws(Refusal) -> [Event]
    ) throws {
        let cause = Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        _ = try ledger.append(
            .project(id(project), actor: id("test"), cause: cause) { state, _ throws(Refusal) in
                try decide(state)
            })
    }

    private func create(_ project: String, on ledger: Ledger) throws {
        try change(project, "create", on: ledger) { state throws(Refusal) in
            try state.create(id(project))
        }
    }

    private func apply(_ catalog: Catalog, to project: String = "default", on ledger: Ledger) throws
    {
        let version = try ledger.project(id(project)).catalogVersion + 1
        try change(project, "catalog \(version)", on: ledger) { state throws(Refusal) in
            try state.change(to: catalog, of: id(project))
        }
    }

    /// Returns a catalog with a thirty-day pass that unlocks these entitlements.
    private func selling(_ entitlements: String...) -> Catalog {
        catalog([
            product(
                "pass", .nonRenewing(duration: duration("P30D"), stacking: .overlap), entitlements)
        ])
    }

    private func buy(_ name: String, for customer: String, on ledger: Ledger) throws {
        let fact = transaction(name, "pass", .nonRenewing, clock.now)
        let cause = Cause(text: "key:\(name)", digest: [UInt8](repeating: 0, count: 32))
        var command = Command.customer(try .test(customer), actor: id("test"), cause: cause) {
            state, catalog, _ in
            state.decide(RecordFacts(Histories.facts([fact]), catalog: catalog))
        }
        command.purchases = [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        _ = try ledger.append(command)
    }

    private var rows: Int64 {
        get throws { try database.number("select count(*) from deed.catalogs") }
    }

    /// Changes protected rows, as an owner can after disabling the triggers.
    private func tamper(_ statement: String) throws {
        try database.run(
            """
            alter table deed.catalogs disable trigger all;
            alter table deed.catalogs drop constraint if exists catalogs_digest_check;
            \(statement)
            """)
    }

    private func audit() throws -> [AuditFinding] {
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        return try Shard.all.flatMap { try auditor.audit($0).findings.listed }
    }

    @Test("An event names its catalog, which lies in the table once for all projects")
    func shared() throws {
        let writer = ledger()
        for catalog in [selling("season"), selling("vip"), selling("season")] {
            try apply(catalog, on: writer)
        }
        try apply(selling("season"), to: "other", on: writer)
        #expect(try writer.project(id("default")).catalog == selling("season"))
        writer.close()
        #expect(try rows == 2)
        #expect(
            try database.number(
                """
                select count(*) from deed.events as e
                join deed.catalogs as c on e.payload::json ->> 'digest' = encode(c.digest, 'hex')
                where e.type = 'catalog.changed' and e.format = 2
                    and c.digest = sha256(c.content) and e.payload::json -> 'catalog' is null
                """) == 4)
        let reader = ledger()
        defer { reader.close() }
        for project in ["default", "other"] {
            let state = try reader.project(id(project))
            #expect(state.catalog == selling("season"))
            #expect(state.catalogVersion == (project == "default" ? 3 : 1))
        }
        #expect(
            try database.text(
                "select entitlements::text from deed.products where project = 'other'")
                == "{season}")
        #expect(try audit().isEmpty)
    }

    @Test("Under the first format an event has its catalog, and is read like the later ones")
    func whole() throws {
        try database.run(
            """
            alter table deed.format disable trigger all; update deed.format set number = 1;
            alter table deed.format enable trigger all
            """)
        let older = ledger()
        try apply(selling("season"), on: older)
        try buy("t1", for: "u1", on: older)
        older.close()
        #expect(try rows == 0)
        let whole = """
            select count(*) from deed.events where type = 'catalog.changed' and format = 1
                and payload::json -> 'catalog' -> 'products' -> 0 ->> 'id' = 'pass'
            """
        #expect(try database.number(whole) == 1)
        #expect(
            try database.text("select entitlements::text from deed.products") == "{season}")
        var schema = Schema(database.settings())
        _ = try schema.raiseFormat(by: "9.9.9", now: at(0))
        let newer = ledger()
        defer { newer.close() }
        #expect(try newer.project(id("default")).catalog == selling("season"))
        clock.advance(byMilliseconds: 1000)
        try apply(selling("vip"), on: newer)
        #expect(try rows == 1)
        clock.advance(byMilliseconds: 1000)
        #expect(try newer.publishBoundaries().notices == 0)
        try expectChange(from: "season", to: "vip", at: 1000, for: "u1")
    }

    /// Lets a ledger without memory write to the customer, and compares the changes that it publishes.
    private func expectChange(
        from old: String, to new: String, at milliseconds: Int64, for customer: String
    ) throws {
        let ledger = ledger()
        defer { ledger.close() }
        _ = try ledger.append(.give("gift", to: .test(customer), grant: "after"))
        let notices = try ledger.events(of: .test(customer), after: 1, limit: 10).map(\.recorded)
        #expect(
            notices.compactMap { $0.event.notice?.entitlement.text } == [old, new])
        #expect(notices.map(\.event.type) == [.accessEnded, .accessStarted, .grantGiven])
        let instant = start.advanced(byMilliseconds: milliseconds)
        #expect(notices.prefix(2).allSatisfy { $0.occurredAt == instant })
    }

    @Test("What earlier catalogs gave is published from their rows", arguments: [2, 5, 64])
    func earlier(count: Int) throws {
        let writer = ledger()
        try apply(selling("season"), on: writer)
        try buy("t1", for: "u1", on: writer)
        for number in 1..<count {
            clock.advance(byMilliseconds: 1000)
            // The titles make each catalog different.
            var draft = CatalogDraft()
            draft.products = selling(number < count - 1 ? "season" : "vip").products
            draft.entitlementTitles = [id("season"): "Season \(number)"]
            try apply(try draft.validated(), on: writer)
        }
        writer.close()
        #expect(try rows == Int64(count))
        clock.advance(byMilliseconds: 1000)
        try expectChange(from: "season", to: "vip", at: 1000 * Int64(count - 1), for: "u1")
        var projections = ProjectionAudit()
        let reader = ledger()
        defer { reader.close() }
        _ = try reader.reproject { Issue.record("\($0): \($1)") }
        try projections.compareAll(Auditor(database.settings())) { _ in }
        #expect(projections.findings.isEmpty, "\(projections.findings)")
    }

    @Test("A project is read by its current catalog alone, however many it has had")
    func currentAlone() throws {
        let writer = ledger()
        for number in 0..<65 { try apply(selling("e\(number)"), on: writer) }
        try buy("t1", for: "u1", on: writer)
        writer.close()
        try tamper(
            "delete from deed.catalogs where not convert_from(content, 'UTF8') like '%\"e64\"%'")
        #expect(try rows == 1)
        let reader = ledger()
        defer { reader.close() }
        #expect(try reader.project(id("default")).catalog == selling("e64"))
        _ = try reader.append(.give("gift", to: .test("u1"), grant: "g"))
        _ = try reader.append(.give("gift", to: .test("u2"), grant: "g"))
    }

    private static let harms = [
        "delete from deed.catalogs where digest = $digest",
        """
        update deed.catalogs set content = overlay(content placing 'x'::bytea from 3)
        where digest = $digest
        """,
    ]

    private static func digest(ofVersion version: Int) -> String {
        """
        (select decode(payload::json ->> 'digest', 'hex') from deed.events
        where project = 'default' and type = 'catalog.changed'
            and payload::json ->> 'version' = '\(version)')
        """
    }

    @Test("A current catalog that is missing or damaged takes its project alone", arguments: harms)
    func current(harm: String) throws {
        let writer = ledger()
        try apply(selling("season"), on: writer)
        try apply(selling("vip"), to: "other", on: writer)
        try buy("t1", for: "u1", on: writer)
        writer.close()
        try tamper(harm.replacing("$digest", with: Self.digest(ofVersion: 1)))
        let reader = ledger()
        defer { reader.close() }
        try expectUnreadable { _ = try reader.project(id("default")) }
        try expectUnreadable { _ = try reader.customer(of: .test("u1")) }
        try expectUnreadable { _ = try reader.customers([.test("u1")]) }
        let command = try Command.give("pro", to: .test("u1"), grant: "g")
        try expectUnreadable {
            do throws(CommandError) {
                _ = try reader.append(command)
            } catch {
                guard case .fault(let fault) = error else { throw error }
                throw fault
            }
        }
        #expect(reader.unread.list.contains { $0.subject.project == "default" })
        #expect(try reader.project(id("other")).catalog == selling("vip"))
        _ = try reader.append(
            .give("pro", to: .test("u1", project: "other"), grant: "g"))
        try expectFinding(ofVersion: 1)
    }

    @Test("An earlier one takes only what still needs it, and the audit names it", arguments: harms)
    func earlierHarm(harm: String) throws {
        let writer = ledger()
        try apply(selling("season"), on: writer)
        try buy("t1", for: "u1", on: writer)
        try apply(selling("vip"), on: writer)
        writer.close()
        try tamper(harm.replacing("$digest", with: Self.digest(ofVersion: 1)))
        let reader = ledger()
        defer { reader.close() }
        #expect(
            try reader.customer(of: .test("u1")).project.catalog == selling("vip"))
        _ = try reader.append(.give("pro", to: .test("u2"), grant: "g"))
        #expect(throws: CommandError.self) {
            try reader.append(.give("pro", to: .test("u1"), grant: "g"))
        }
        try expectFinding(ofVersion: 1)
    }

    private func expectUnreadable(
        _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        #expect(sourceLocation: location) {
            try body()
        } throws: { error in
            guard case .unreadable(let what) = error as? Fault else { return false }
            return what.what.contains("the catalog 1 of the project default")
        }
    }

    private func expectFinding(ofVersion version: Int) throws {
        let stream = Stream.ofProject(id("default"))
        let sequence = try database.number(
            """
            select seq from deed.events where project = 'default' and type = 'catalog.changed'
                and payload::json ->> 'version' = '\(version)'
            """)
        let findings = try audit()
        #expect(findings.map(\.column) == ["catalog"])
        let finding = try #require(findings.first)
        #expect(finding.row == "\(stream.shard.number):\(sequence)")
        let expected = "the catalog \(version) of the project 'default', SHA-256 "
        #expect(finding.expected.hasPrefix(expected))
    }

    @Test(
        "Neither the service's role nor the owner changes a row",
        arguments: [
            "update deed.catalogs set content = content", "delete from deed.catalogs",
            "truncate deed.catalogs",
        ])
    func kept(_ statement: String) throws {
        let writer = ledger()
        try apply(selling("season"), on: writer)
        writer.close()
        for (role, state) in [(LedgerSettings.serviceRole, "42501"), (nil, "DD001")] {
            #expect {
                try database.run(statement, role: role)
            } throws: { ($0 as? PostgresError)?.sqlState == state }
        }
        #expect(try rows == 1)
    }

    @Test("No row lies under another digest than its own")
    func digests() throws {
        #expect {
            try database.run(
                "insert into deed.catalogs values (sha256('a'), 'b')",
                role: LedgerSettings.serviceRole)
        } throws: { ($0 as? PostgresError)?.sqlState == "23514" }
    }
}
