import Core
import Foundation
import Glibc
import JSON
import Minting
import Postgres
import TestSupport
import Testing

/// A shop whose customers are erased with commands.
class ErasingShop: SandboxShop {
    let how = ["--purchases", "forget", "--reason", "asked for it"]

    func buy(_ transaction: String, for customer: String = "u1") throws {
        let sale = Sale(transaction, "level2", .nonConsumable, at: Payload.signedAt)
        let body: JSON = [
            "signed_transactions": [.string(store.transaction(sale))],
            "environment": "sandbox",
        ]
        let reply = service.send(
            "POST", "/v1/customers/\(customer)/receipts", key: try service.key(.backend),
            body: body.text)
        #expect(reply.status == 200, "\(reply.text)")
    }

    func grant(
        _ entitlement: String, to customer: String, by installation: Installation
    ) throws {
        let given = try installation.run(
            "grant", "--customer", customer, "--environment", "sandbox", "--entitlement",
            entitlement, "--reason", "r", "--allow-unknown")
        #expect(given.code == 0, "\(given.errors)")
    }

    func intent(of customer: String = "u1") throws -> String {
        let look = try deed.run(["customer", "erase", customer, "--json"] + how)
        #expect(look.code == 0, "\(look.errors)")
        return try #require(try look.json["intent"]?.string)
    }

    func erase(_ customer: String = "u1") throws {
        let intent = try intent(of: customer)
        let done = try deed.run(["customer", "erase", customer, "--intent", intent] + how)
        #expect(done.code == 0, "\(done.errors)")
    }

    /// Kills an erasing command after its commit, before it empties any event.
    func killBeforeEmptying(_ customer: String) throws {
        let intent = try intent(of: customer)
        // The commit succeeds, but the emptying waits for this lock.
        var holder = try Connection.open(database.settings())
        try holder.run(Script(embedded: Array("begin; lock deed.evidence in exclusive mode".utf8)))
        let (process, _, _) = try deed.start(
            ["customer", "erase", customer, "--intent", intent] + how)
        let erasures = """
            select count(*) from deed.events where type = 'customer.erased' and customer = '\(customer)'
            """
        #expect(eventually(within: 60_000) { (try? database.number(erasures)) ?? 0 > 0 })
        let sessions = """
            from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()
            """
        let waiting = "select count(*) \(sessions)"
        #expect(eventually(within: 60_000) { (try? database.number(waiting)) == 1 })
        process.signal(SIGKILL)
        _ = process.wait(milliseconds: 60_000)
        // Otherwise, the command's session would still empty the events once it gets the lock.
        try database.run("select pg_terminate_backend(pid) \(sessions)")
        #expect(eventually(within: 60_000) { (try? database.number(waiting)) == 0 })
        try holder.run(Script(embedded: Array("rollback".utf8)))
    }

    func code(_ finished: Finished) -> String? {
        (try? JSON.read(finished.errors))?["error"]?["code"]?.string
    }

    /// Returns how many of a customer's events have content.
    func full(_ database: ScratchDatabase, of customer: String = "u1") throws -> Int64 {
        try database.number(
            """
            select count(*) from deed.events
            where customer = '\(customer)' and payload <> '' and type <> 'customer.erased'
            """)
    }
}
