import Core
import Foundation
import Minting
import TestSupport
import Testing

@Suite("Naming the transactions that a log has already")
struct FindMigrationTests {
    @Test("The migration names each transaction as commits do, with its present holder")
    func filled() throws {
        let front = try Storefront()
        func month(_ id: String, of original: String, _ item: String?) -> Sale {
            Sale(
                id, of: original, "pro.month", .autoRenewable, at: front.daysAgo(3),
                until: front.daysAgo(-27)
            ).with { $0.lineItem = item }
        }
        _ = front.submit(month("30", of: "30", "7030"), month("31", of: "30", nil), for: "ann")
        _ = front.submit(month("40", of: "40", "7040"), month("41", of: "40", "7041"), for: "bob")
        _ = front.submit(Sale("50", "level2", .nonConsumable, at: front.daysAgo(2)), for: "bob")
        let news = front.store.notification(
            "SUBSCRIBED", id: "n1", at: front.daysAgo(0),
            transaction: front.store.transaction(month("60", of: "60", "7060")))
        #expect(front.notify(news).status == 200)
        let refunded = month("41", of: "40", "7041").with {
            $0.refunded = front.daysAgo(1)
            $0.signedAt = front.daysAgo(1)
        }
        _ = front.submit(refunded, for: "bob")
        let moved = front.send(
            "POST", "/v1/customers/bob/purchases/apple:40/transfer",
            #"{"to":"cleo","reason":"r"}"#, key: front.admin)
        #expect(moved.status == 200, "\(moved.text)")
        let rows = """
            select coalesce(string_agg(t::text, ';' order by t::text), '') from deed.transaction_names as t
            """
        let before = try front.service.database.text(rows)
        #expect(before.split(separator: ";").count == 5, "\(before)")
        #expect(before.contains("41,cleo,7041") && before.contains("31,ann,"), "\(before)")
        try front.service.database.run("delete from deed.transaction_names")
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../sql/migrations/0003_find.sql").standardizedFileURL
        let script = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(script.range(of: "insert into deed.transaction_names"))
        let rest = script[start.lowerBound...]
        let end = try #require(rest.firstIndex(of: ";"))
        try front.service.database.run(String(rest[..<end]))
        #expect(try front.service.database.text(rows) == before)
    }
}
