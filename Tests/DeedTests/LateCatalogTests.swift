import Core
import Foundation
import Glibc
import Histories
import JSON
import Ledger
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite(
        "A catalog that learns of a product late, while services die", .serialized,
        .timeLimit(.minutes(20)))
    final class LateCatalogTests {
        private static let customers = 300

        private let database: ScratchDatabase
        private let deed: Installation

        init() throws {
            database = try ScratchDatabase()
            deed = try Installation(database)
            _ = try deed.run("project", "create", "default")
            let ledger = database.ledger()
            defer { ledger.close() }
            inParallel(8) { lane in
                for number in stride(from: lane, to: Self.customers, by: 8) {
                    for (product, part) in [("gems", "a"), ("gems", "b"), ("other", "c")] {
                        guard
                            let fact = try? TransactionFact.bought(
                                product, .consumable, transaction: "\(number)\(part)",
                                at: Instant(milliseconds: 0))
                        else { continue }
                        _ = try? ledger.append(.record([fact], for: .test("u\(number)"), key: part))
                    }
                }
            }
        }

        @Test(
            "Each purchase is credited exactly once, whichever of two services is killed meanwhile")
        func killed() throws {
            var random = seededGenerator("kills while a catalog is applied")
            let survivor = try deed.serve()
            var client = try APIClient(key: try deed.makeKey())
            for amount in 1...3 {
                let victim = try deed.serve()
                // The first catalog contains the product. Later catalogs do not change earlier credits.
                let credits = #"{"gems":\#(amount)}"#
                let catalog =
                    #"{"products":[{"id":"gems","kind":"consumable","credits":\#(credits)}]}"#
                let put = try client.send("PUT", "\(survivor.url)/v1/catalog", body: catalog)
                #expect(put.status == 200, "\(put.text)")
                pause(milliseconds: random.number(0...1200))
                victim.process.signal(SIGKILL)
                let isProjected =
                    "select count(*) from deed.projects where projected_version = catalog_version"
                #expect(try eventually(within: 60_000) { try database.number(isProjected) == 1 })
                #expect(try rows("customer_balances where amount = 2") == Int64(Self.customers))
                #expect(
                    try rows("events where type = 'balance.credited'") == Int64(2 * Self.customers))
                #expect(try rows("waiting_credits") == Int64(Self.customers))
            }
            #expect(try deed.run("audit").code == 0)
        }

        private func rows(_ table: String) throws -> Int64 {
            try database.number("select count(*) from deed.\(table)")
        }
    }
}
