import Auditing
import Core
import Histories
import Postgres
import TestSupport
import Testing

@testable import Ledger

/// Tests what the database allows with an erased customer's events.
@Suite("Events of erased customers in the database")
struct ErasedLogTests {
    private let database: ScratchDatabase
    private let ledger: Ledger

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
        for customer in ["anna", "ben"] {
            _ = try ledger.append(.give("pro", to: .test(customer), grant: "g-\(customer)"))
        }
    }

    private func erase(_ customer: String) throws {
        _ = try ledger.append(
            .customer(
                try .test(customer), actor: try Actor("test"),
                cause: Cause(text: "key:erase", digest: [UInt8](repeating: 0, count: 32)),
                concernsMerged: true
            ) { _, _, _ in
                [.customerErased(CustomerErased(reason: id("r"), ticket: nil))]
            })
    }

    private func shard(of customer: String) throws -> Int16 {
        try Stream.test(customer).shard.number
    }

    private func empty(_ customer: String, as shard: Int16? = nil) throws {
        let shard = try shard ?? self.shard(of: customer)
        try database.run(
            "select deed.empty_erased(\(shard)::smallint, 'default', 'production', '\(customer)', 0, 100)",
            role: LedgerSettings.serviceRole)
    }

    private func full(_ customer: String) throws -> Int64 {
        try database.number(
            "select count(*) from deed.events where customer = '\(customer)' and payload <> ''")
    }

    @Test("The service's login empties no event of a customer who was not erased")
    func notErased() throws {
        try empty("anna")
        #expect(try full("anna") == 1)
        for statement in [
            "update deed.events set payload = '' where customer = 'anna'",
            "update deed.evidence set content = null",
        ] {
            #expect {
                try database.run(statement, role: LedgerSettings.serviceRole)
            } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
        }
        ledger.close()
    }

    @Test(
        "It empties the events before the erasure, and none of another customer or of a later life")
    func erased() throws {
        try erase("anna")
        _ = try ledger.append(.give("pro", to: .test("anna"), grant: "g-new", key: "new"))
        let other = try (shard(of: "anna") + 1) % 64
        try empty("anna", as: other)
        #expect(try full("anna") == 3)
        try empty("anna")
        // These are the erasure and the grant after it.
        #expect(try full("anna") == 2)
        #expect(try full("ben") == 1)
        ledger.close()
    }

    @Test(
        "Not even the owner changes anything else of an erased customer's events",
        arguments: [
            "payload = '{}'", "actor = ''", "payload = '', actor = 'x'", "version = version + 10",
            "type = 'x', payload = ''",
        ])
    func owner(_ change: String) throws {
        try erase("anna")
        _ = try ledger.append(
            .project(
                id("default"), actor: id("test"),
                cause: Cause(text: "create", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.projectCreated(ProjectCreated(project: id("default")))] })
        #expect {
            try database.run(
                "update deed.events set \(change) where customer = 'anna' and version = 1")
        } throws: { ($0 as? PostgresError)?.sqlState == "DD001" }
        for statement in [
            "update deed.events set payload = '' where customer = 'ben'",
            "update deed.events set payload = '' where customer = 'anna' and type = 'customer.erased'",
            "update deed.events set payload = '' where customer = '$project/'",
            "delete from deed.events where customer = 'anna'",
        ] {
            #expect {
                try database.run(statement)
            } throws: { ($0 as? PostgresError)?.sqlState == "DD001" }
        }
        ledger.close()
    }

    @Test(
        "An emptied event without an erasure is damage: the stream cannot be read, and audits name it"
    )
    func damage() throws {
        ledger.close()
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '' where customer = 'anna';
            alter table deed.events enable always trigger events_only_grow;
            """)
        let ledger = database.ledger()
        defer { ledger.close() }
        #expect(throws: Fault.self) { try ledger.customer(of: .test("anna")) }
        #expect(throws: CommandError.self) {
            try ledger.append(.give("pro", to: .test("anna"), grant: "g2", key: "2"))
        }
        _ = try ledger.customer(of: .test("ben"))
        let audit = try ledger.audit(Stream.test("anna").shard)
        #expect(audit.findings.listed.map(\.column) == ["payload"], "\(audit.findings.listed)")
    }

    @Test("What a store answers about a purchase is kept beside it until its holder is erased")
    func answered() throws {
        defer { ledger.close() }
        let fact = transaction("77", "pro", .nonConsumable, at(1))
        _ = try ledger.append(.record([fact], for: .test("carl"), key: "bought"))
        let app = StoreApp(
            project: id("default"), key: AppKey(store: .apple, id: fact.app))
        let purchase = StorePurchase(
            app: app, environment: .production, purchase: fact.purchase)
        let question = HistoryQuestion(
            purchase, of: id("carl"), newestAt: at(1), obstacle: "no answer")
        for isErased in [false, true] {
            if isErased { try erase("carl") }
            try ledger.keep(HistoryMark(revision: "r"), of: purchase)
            try ledger.keep(question)
            #expect(try (ledger.historyMark(of: purchase) == nil) == isErased)
            #expect(
                try ledger.historyQuestions(of: app, after: nil, limit: 1).isEmpty == isErased)
        }
    }

    /// One event of each type, from the recorded payloads.
    private static let samples: [(type: EventType, format: Int16, payload: String)] = {
        var seen = Set<EventType>()
        let all =
            EventCodingTests.payloads + EventCodingTests.furtherPayloads
            + EventCodingTests.mergePayloads
        return all.compactMap { one in
            guard let type = EventType(named: one.type), type.mayBeEmptied,
                seen.insert(type).inserted
            else { return nil }
            return (type, one.format, one.payload)
        }
    }()

    @Test("Each type of event is emptied once, and the streams and the chain are sound")
    func everyType() throws {
        let samples = ErasedLogTests.samples
        #expect(
            Set(samples.map(\.type)) == Set(EventType.allCases.filter(\.mayBeEmptied)))
        for (number, sample) in samples.enumerated() {
            let event = try Event(
                type: sample.type.name, format: sample.format, payload: sample.payload)
            var command = Command.customer(
                try .test("c\(number)"), actor: try Actor("test"),
                cause: Cause(text: "sample:\(number)", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _, _ in [event] }
            command.purchases = event.heldPurchases
            _ = try ledger.append(command)
            // The samples concern the same purchases, tokens and orders, which only one customer can have.
            try database.run(
                "delete from deed.holders; delete from deed.tokens; delete from deed.order_owners")
        }
        let auditor = Auditor(database.settings())
        let marks = try auditor.marks()
        for number in samples.indices {
            try erase("c\(number)")
            try empty("c\(number)")
            #expect(try full("c\(number)") == 1, "\(samples[number].type)")
        }
        ledger.close()
        let fresh = database.ledger()
        defer { fresh.close() }
        for number in samples.indices {
            let state = try fresh.customer(of: .test("c\(number)")).customer
            #expect(state.version == 2 && state.isErased, "\(samples[number].type)")
        }
        // The audit still accepts earlier checkpoints.
        for mark in marks {
            let audit = try auditor.audit(mark.shard, since: nil, against: mark)
            #expect(audit.findings.isEmpty, "\(audit.findings.listed)")
        }
        for type in EventType.allCases where !type.mayBeEmptied {
            #expect(throws: LedgerError.self) {
                try Event(type: type.name, format: 1, payload: "")
            }
        }
    }
}
