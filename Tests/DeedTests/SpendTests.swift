import JSON
import Synchronization
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Spending over HTTP", .timeLimit(.minutes(20)))
    struct Spending {
        @Test("Of 64 spends of one from a balance of ten, through two services, ten succeed")
        func race() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            let key = try deed.makeKey()
            let services = [try deed.serve().url, try deed.serve().url]
            var admin = try APIClient(key: key)
            let coins = "/v1/customers/u1/balances/coins"
            let given = try admin.send(
                "POST", "\(services[0])\(coins)/adjust", body: #"{"amount":10,"reason":"r"}"#)
            #expect(given.status == 200)
            let answers = Mutex<[(status: Int, text: String)]>([])
            inParallel(64) { index in
                // Each request goes to both services, but counts once.
                for service in [services[index % 2], services[1 - index % 2]] {
                    guard var client = try? APIClient(key: key),
                        let answer = try? client.send(
                            "POST", "\(service)\(coins)/spend", body: #"{"amount":1}"#,
                            idempotencyKey: "spend \(index)")
                    else { continue }
                    answers.withLock { $0.append(answer) }
                }
            }
            let all = answers.withLock { $0 }
            let spent = all.filter { $0.status == 200 }
            #expect(all.count == 128)
            #expect(spent.count == 20)
            #expect(Set(spent.map(\.text)).count == 10)
            for answer in all where answer.status != 200 {
                #expect(answer.status == 409)
                #expect(try JSON.read(answer.text)["code"]?.string == "insufficient_balance")
            }
            for service in services {
                let history = try admin.read("\(service)\(coins)/history")
                let left = history["movements"]?.array?.compactMap { $0["balance"]?.integer }
                #expect(left == Array((0...10 as ClosedRange<Int64>).reversed()))
            }
            try deed.expectWholeLog()
        }

        @Test("PATCH changes settings, and apps are put and deleted, over a real connection")
        func settings() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            let key = try deed.makeKey()
            let service = try deed.serve().url
            var admin = try APIClient(key: key)
            let app = "\(service)/v1/apps/com.example.game"
            let changed = try admin.send(
                "PATCH", "\(service)/v1/settings", body: #"{"transfer":"transfer"}"#)
            #expect(changed.status == 200)
            let body = #"{"receipts":"store"}"#
            #expect(try admin.send("PUT", app, body: body).status == 403)
            #expect(try deed.run("project", "allow-app", "com.example.game").code == 0)
            #expect(try admin.send("PUT", app, body: body).status == 200)
            let shown = try admin.read("\(service)/v1/settings")
            #expect(shown["settings"]?["transfer"]?.string == "transfer")
            #expect(shown["apps"]?.array?.first?["receipts"]?.string == "store")
            #expect(try admin.send("DELETE", app).status == 200)
            #expect(try admin.send("DELETE", app).status == 404)
        }
    }
}
