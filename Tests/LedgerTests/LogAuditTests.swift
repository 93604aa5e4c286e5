import Auditing
import Core
import Ledger
import Postgres
import TestSupport
import Testing
import Threading

/// A change to the log without Deed, and what an audit must say about it.
private struct Tampering: Sendable, CustomTestStringConvertible {
    let statement: String
    let table: String
    let row: String
    let column: String
    var expected: String?
    var found: String?

    init(
        _ statement: String, _ row: String, _ column: String, table: String = "deed.events",
        expected: String? = nil, found: String? = nil
    ) {
        self.statement = statement
        self.table = table
        self.row = row
        self.column = column
        self.expected = expected
        self.found = found
    }

    var testDescription: String { statement }
}

@Suite("An audit names every change")
struct LogAuditTests {
    private let database: ScratchDatabase
    private let stream: Core.Stream
    private let shard: Int16

    init() throws {
        database = try ScratchDatabase()
        stream = try Stream.test("u1")
        shard = stream.shard.number
        let ledger = database.ledger()
        for grant in ["g1", "g2", "g3", "g4"] {
            _ = try ledger.append(.give("pro", to: stream, grant: grant))
        }
        ledger.close()
    }

    private func tamper(_ statement: String) throws {
        try database.run(
            """
            alter table deed.events disable trigger all;
            alter table deed.shards disable trigger all;
            \(statement.replacing("$shard", with: "\(shard)"));
            """)
    }

    private func audit(against checkpoint: ShardMark? = nil) throws -> [AuditFinding] {
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        var findings: [AuditFinding] = []
        for shard in Shard.all {
            let mark = checkpoint?.shard == shard ? checkpoint : nil
            findings += try auditor.audit(shard, against: mark).findings.listed
        }
        return findings + (try auditor.strays().listed)
    }

    @Test(
        "A changed byte in any column is named: payload, digest, chain or header",
        arguments: [
            Tampering("payload = replace(payload, 'pro', 'pra')", "2", "payload"),
            Tampering("digest = set_byte(digest, 7, get_byte(digest, 7) # 1)", "2", "digest"),
            Tampering("chain = set_byte(chain, 31, get_byte(chain, 31) # 1)", "2", "chain"),
            Tampering("project = 'defaulu'", "2", "header"),
            Tampering("environment = 'qroduction'", "2", "header"),
            Tampering("environment = 'sandbox'", "2", "header"),
            Tampering("customer = 'u2'", "2", "header"),
            Tampering("customer = 'another customer'", "2", "header"),
            Tampering("version = 6", "2", "header"),
            Tampering("type = 'grant.givem'", "2", "header"),
            Tampering("format = 2", "2", "header"),
            Tampering("occurred_at = occurred_at # 1", "2", "header"),
            Tampering("recorded_at = recorded_at # 256", "2", "header"),
            Tampering("actor = 'tesu'", "2", "header"),
            Tampering("actor = 'somebody else'", "2", "header"),
            Tampering("cause = overlay(cause placing '~' from 3)", "2", "header"),
            Tampering("cause_index = 1", "2", "header"),
            Tampering(
                "cause_digest = set_byte(cause_digest, 0, get_byte(cause_digest, 0) # 255)", "2",
                "header"),
            Tampering("catalog_version = 1", "2", "header"),
            Tampering("evidence = decode(repeat('ab', 32), 'hex')", "2", "header"),
            Tampering("evidence = ''", "2", "header"),
        ])
    fileprivate func changed(_ tampering: Tampering) throws {
        try tamper("update deed.events set \(tampering.statement) where shard = $shard and seq = 2")
        try expect(tampering)
    }

    @Test(
        "A deleted, swapped, added or moved event is named, and so is a changed head",
        arguments: [
            Tampering(
                "delete from deed.events where seq = 1", "1", "seq", expected: "an event"),
            Tampering("delete from deed.events where seq = 2", "2", "seq"),
            Tampering(
                "delete from deed.events where seq = 4", "4", "seq",
                expected: "events up to the head 4", found: "none"),
            Tampering(
                "update deed.events set customer = 'thief' where seq = 4", "4", "header"),
            Tampering(
                """
                update deed.events set seq = 9 where seq = 2;
                update deed.events set seq = 2 where seq = 3; update deed.events set seq = 3 where seq = 9
                """, "2", "header"),
            Tampering(
                "update deed.events set shard = ($shard + 1) % 64 where seq = 2", "2", "seq"),
            Tampering("update deed.events set shard = 77 where seq = 2", "77:2", "shard"),
            Tampering(
                "update deed.shards set head = 5 where head = 4", "$shard", "head",
                table: "deed.shards", expected: "4, the last event", found: "5"),
            Tampering(
                "update deed.shards set chain = set_byte(chain, 0, get_byte(chain, 0) # 1) where head = 4",
                "$shard", "chain", table: "deed.shards"),
            Tampering(
                "update deed.shards set recorded_at = recorded_at + 1 where head = 4", "$shard",
                "recorded_at", table: "deed.shards"),
            Tampering(
                """
                insert into deed.events select shard, seq + 1, project, environment, customer,
                    version + 1, type, payload, digest, chain, occurred_at, recorded_at, actor, cause,
                    cause_index, cause_digest, catalog_version, evidence, format
                from deed.events where seq = 4
                """, "5", "seq", expected: "1 to the head 4"),
            Tampering(
                """
                alter table deed.events drop constraint events_seq_check;
                insert into deed.events select shard, -3, project, environment, customer,
                    version + 1, type, payload, digest, chain, occurred_at, recorded_at, actor, cause,
                    cause_index, cause_digest, catalog_version, evidence, format
                from deed.events where seq = 4
                """, "-3", "seq", expected: "1 to the head 4"),
        ])
    fileprivate func rearranged(_ tampering: Tampering) throws {
        try tamper(tampering.statement)
        try expect(tampering)
    }

    @Test(
        "A carelessly cut end is found without a checkpoint",
        arguments: [
            """
            delete from deed.events where seq >= 3;
            update deed.shards set head = 2, chain = (select chain from deed.events where seq = 2),
                recorded_at = (select recorded_at from deed.events where seq = 2) where head = 4
            """,
            """
            delete from deed.events;
            update deed.shards set head = 0, chain = decode(repeat('00', 32), 'hex'), recorded_at = 0
            """,
        ])
    func cut(_ statement: String) throws {
        try tamper(statement)
        let findings = try audit()
        #expect(findings.contains { $0.table == "deed.customers" && $0.column == "version" })
    }

    @Test(
        "A carefully cut end is found with a checkpoint, and so is a rewritten one"
    )
    func cutWithCare() throws {
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        let mark = try #require(try auditor.marks().first { $0.shard == stream.shard })
        try tamper(
            """
            delete from deed.events where seq = 4;
            update deed.shards set head = 3, chain = (select chain from deed.events where seq = 3),
                recorded_at = (select recorded_at from deed.events where seq = 3) where head = 4;
            update deed.customers set version = 3
            """)
        #expect(try audit().isEmpty)
        #expect(
            try audit(against: mark).contains { $0.table == "deed.shards" && $0.column == "head" })
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: stream, grant: "g5"))
        ledger.close()
        #expect(try audit().isEmpty)
        let finding = try #require(try audit(against: mark).first)
        #expect(finding.row == "\(shard):4")
        #expect(finding.column == "chain")
    }

    @Test("An event in a newer release's format is refused, and the audit names its stream")
    func newerFormat() throws {
        try tamper("update deed.events set format = 2 where shard = $shard and seq = 2")
        let ledger = database.ledger()
        defer { ledger.close() }
        #expect {
            try ledger.customer(of: stream)
        } throws: { "\($0)".contains("grant.given in the format 2") }
        var audit = ProjectionAudit()
        try audit.compareAll(Auditor(database.settings())) { _ in }
        #expect(
            audit.findings.listed.contains {
                $0.table == "deed.events" && $0.row == "default, production, u1"
                    && $0.expected == "events that can be read"
            }, "\(audit.findings)")
    }

    @Test("The service's login cannot put an event before the first position")
    func beforeTheFirst() throws {
        #expect {
            try database.run(
                """
                insert into deed.events select shard, -3, project, environment, customer,
                    version + 1, type, payload, digest, chain, occurred_at, recorded_at, actor, cause,
                    cause_index, cause_digest, catalog_version, evidence, format
                from deed.events where seq = 4
                """, role: LedgerSettings.serviceRole)
        } throws: { ($0 as? PostgresError)?.constraint == "events_seq_check" }
    }

    @Test("Events beyond any head are moved aside, wherever they are, and all are counted")
    func quarantine() throws {
        try tamper(
            """
            alter table deed.events drop constraint events_seq_check;
            insert into deed.events select place.shard, place.seq, project, environment, customer,
                version + 10 + row_number() over (), type, payload, digest, chain, occurred_at,
                recorded_at, actor, cause, cause_index, cause_digest, catalog_version, evidence, format
            from deed.events
            cross join (
                select $shard, 100 + n from generate_series(1, 150) as n
                union all values ($shard, -3), (99, 0), (-1, 7)
            ) as place (shard, seq)
            where events.seq = 4;
            alter table deed.events enable always trigger events_only_grow
            """)
        let auditor = Auditor(database.settings())
        #expect(try auditor.audit(stream.shard).findings.count == 151)
        #expect(try auditor.strays().count == 2)
        #expect(try auditor.quarantine(at: Instant(milliseconds: 0)).count == 153)
        #expect(try audit().isEmpty)
        #expect(try database.number("select count(*) from deed.events") == 4)
    }

    @Test("Text in a row does not control the terminal that shows a finding")
    func controlCharacters() throws {
        try tamper("update deed.events set actor = E'\\x1b[2K\\rall is proven' where seq = 2")
        let text = try audit().map(\.description).joined()
        #expect(!text.unicodeScalars.contains { $0.value < 32 })
    }

    @Test("An audit beside writers finds nothing")
    func besideWriters() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        let isOver = Monitor(false)
        startThread("writer") {
            for number in 0..<400 {
                _ = try? ledger.append(
                    .give("pro", to: .test("w\(number % 7)"), grant: "g\(number)"))
            }
            isOver.change { $0 = true }
        }
        repeat {
            var projections = ProjectionAudit()
            try projections.compareAll(auditor) { _ in }
            #expect(projections.findings.isEmpty, "\(projections.findings.listed)")
            #expect(try audit().isEmpty)
        } while isOver.wait(milliseconds: 1, for: { $0 ? () : nil }) == nil
    }

    @Test("From a mark, only newer events are read, and a change in them is found")
    func sinceMark() throws {
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        let mark = try #require(try auditor.marks().first { $0.shard == stream.shard })
        let ledger = database.ledger()
        _ = try ledger.append(.give("pro", to: stream, grant: "g5"))
        ledger.close()
        let audit = try auditor.audit(stream.shard, since: mark)
        #expect(audit.events == 1)
        #expect(audit.findings.isEmpty)
        try tamper("update deed.events set actor = 'x' where seq = 5")
        #expect(try auditor.audit(stream.shard, since: mark).findings.count == 1)
    }

    @Test("Every shard is walked, the first hundred findings are listed and all are counted")
    func many() throws {
        let ledger = database.ledger()
        for number in 0..<150 {
            _ = try ledger.append(.give("pro", to: .test("c\(number)"), grant: "g1"))
        }
        ledger.close()
        try tamper("update deed.events set payload = '{}'")
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        var findings = AuditFindings()
        for shard in Shard.all { findings.add(try auditor.audit(shard).findings) }
        #expect(findings.count == 154)
        #expect(findings.listed.count == 100)
        #expect(Set(findings.listed.compactMap(\.shard)).count > 10)
    }

    private func expect(_ tampering: Tampering) throws {
        let row = tampering.row.replacing("$shard", with: "\(shard)")
        let isPosition = tampering.table == "deed.events" && !row.contains(":")
        let place = isPosition ? "\(shard):\(row)" : row
        let findings = try audit()
        let finding = findings.first {
            $0.table == tampering.table && $0.row == place && $0.column == tampering.column
        }
        #expect(finding != nil, "\(findings)")
        if let expected = tampering.expected { #expect(finding?.expected == expected) }
        if let found = tampering.found { #expect(finding?.found == found) }
        #expect(findings.count <= 6, "\(findings)")
    }
}
