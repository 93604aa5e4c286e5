import Core
import JSON
import Ledger
import TestSupport

/// An installation in which a customer has one purchase, `apple:1`.
final class OwnedPurchase {
    private let database: ScratchDatabase
    let deed: Installation

    init(of customer: String) throws {
        database = try ScratchDatabase()
        deed = try Installation(database)
        _ = try deed.run("project", "create", "default")
        let ledger = database.ledger()
        defer { ledger.close() }
        let fact = try TransactionFact.bought(
            "level2", .nonConsumable, transaction: "1", at: Instant(milliseconds: 0))
        _ = try ledger.append(.record([fact], for: .test(customer), key: "buy"))
    }

    func eventCount() throws -> Int64 {
        try database.number("select count(*) from deed.events")
    }

    func types(of customer: String) throws -> [String] {
        let events = try deed.run("customer", "events", customer, "--json").json["events"]?.array
        return events?.compactMap { $0["type"]?.string } ?? []
    }
}
