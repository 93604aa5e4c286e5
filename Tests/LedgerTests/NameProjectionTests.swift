import Auditing
import Core
import Ledger
import Synchronization
import TestSupport
import Testing

@Suite("The owners of orders and account tokens")
struct NameProjectionTests {
    private let database: ScratchDatabase
    private let ledger: Ledger

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
    }

    private func append(
        _ events: [Event], to customer: String, through ledger: Ledger? = nil, key: String,
        environment: Environment = .production
    ) throws {
        _ = try (ledger ?? self.ledger).append(
            .customer(
                .test(customer, environment: environment), actor: try Actor("test"),
                cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _, _ in events })
    }

    private func opened(_ order: String, token: UInt8) throws -> Event {
        .orderOpened(
            OrderOpened(
                order: try OrderID(order), token: Self.token(token), product: nil,
                openedAt: Instant(milliseconds: 0), expires: Instant(milliseconds: 1)))
    }

    private static func token(_ byte: UInt8) -> AccountToken {
        AccountToken(random: [UInt8](repeating: byte, count: 16))
    }

    private func owner(
        _ order: String, in environment: Environment = .production
    ) throws -> String? {
        try ledger.owner(of: OrderID(order), in: ProjectID("default"), environment)?.customer.text
    }

    private func tokens(of customer: String) throws -> Int64 {
        try database.number("select count(*) from deed.tokens where customer = '\(customer)'")
    }

    @Test("An order is found by its id alone, and one with a used id is refused completely")
    func orders() throws {
        try append([try opened("o1", token: 1)], to: "anna", key: "1")
        #expect(try owner("o1") == "anna")
        #expect(try owner("o1", in: .sandbox) == nil)
        #expect(try owner("o2") == nil)
        #expect(throws: CommandError.refused(.order(.exists))) {
            try append(
                [try opened("o2", token: 2), try opened("o1", token: 3)], to: "ben", key: "1")
        }
        #expect(try owner("o2") == nil)
        #expect(try ledger.customer(of: .test("ben")).customer.version == 0)
        #expect(try tokens(of: "ben") == 0)
        try append([try opened("o1", token: 1)], to: "ben", key: "2", environment: .sandbox)
        #expect(try owner("o1", in: .sandbox) == "ben")
    }

    @Test("A clash refuses only its own command; the rest of the batch is committed")
    func neighbours() throws {
        let ledger = database.ledger(change: { $0.committers = 1 })
        defer { ledger.close() }
        let refused = Mutex(0)
        inParallel(60) { index in
            let order = index % 3 == 0 ? "clash" : "o\(index)"
            guard let event = try? opened(order, token: UInt8(index)) else { return }
            do {
                try append([event], to: "c\(index)", through: ledger, key: "k")
            } catch CommandError.refused(.order(.exists)) {
                refused.withLock { $0 += 1 }
            } catch {
                Issue.record(error)
            }
        }
        #expect(refused.withLock { $0 } == 19)
        #expect(try database.number("select count(*) from deed.order_owners") == 41)
        #expect(try database.number("select count(*) from deed.orders") == 41)
        #expect(try database.number("select count(*) from deed.tokens") == 41)
        for shard in Shard.all { #expect(try ledger.audit(shard).findings.isEmpty) }
    }

    @Test("If two processes take one token at once, one has it")
    func twoProcesses() throws {
        let other = database.ledger()
        defer { other.close() }
        for round in 1...20 as ClosedRange<UInt8> {
            let event = Event.tokenRegistered(TokenRegistered(token: Self.token(round)))
            let refused = Mutex(0)
            inParallel(2) { lane in
                do {
                    try append(
                        [event], to: lane == 0 ? "anna" : "ben",
                        through: lane == 0 ? ledger : other, key: "\(round)")
                } catch CommandError.refused(.token(.taken)) {
                    refused.withLock { $0 += 1 }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(refused.withLock { $0 } == 1)
        }
        #expect(try tokens(of: "anna") + tokens(of: "ben") == 20)
    }

    @Test("Erasing a customer frees its tokens and order ids, and no others")
    func erased() throws {
        let registered = Event.tokenRegistered(TokenRegistered(token: Self.token(9)))
        try append([try opened("o1", token: 1), registered], to: "anna", key: "1")
        try append([try opened("o2", token: 2)], to: "ben", key: "1")
        try append([try opened("o3", token: 3)], to: "anna", key: "1", environment: .sandbox)
        let erased = Event.customerErased(CustomerErased(reason: try Reason("r"), ticket: nil))
        // The same commit opens and erases an order, which must not return.
        try append([try opened("o4", token: 4), erased], to: "anna", key: "2")
        #expect(try owner("o1") == nil)
        #expect(try owner("o4") == nil)
        #expect(try owner("o2") == "ben")
        #expect(try owner("o3", in: .sandbox) == "anna")
        #expect(try tokens(of: "anna") == 1)
        try append([try opened("o1", token: 1), registered], to: "ben", key: "2")
        #expect(try owner("o1") == "ben")
    }
}
