import Core
import Foundation
import Histories
import JSON
import TestSupport
import Testing

extension ProgramTests {
    /// Tests Deed and the practice store as separate processes. Deed learns everything from the
    /// store's notifications.
    @Suite("Lives in the practice store", .timeLimit(.minutes(20)))
    struct SoldLives {
        private static let lives = givenCount("DEED_LIVES", or: 60)
        private static let days = 730
        private static let pause = 5

        @Test("Deed agrees with the store's own records about two years of random lives")
        func twoYears() throws {
            let ground = try PracticeGround(ScratchDatabase())
            var client = try APIClient(key: ground.adminKey)
            var random = seededGenerator("sold lives")
            var lives: [JSON] = []
            for number in 0..<SoldLives.lives {
                let life = RandomSteps(number, &random)
                let body: JSON = ["token": .string(life.token), "environment": "sandbox"]
                let told = try client.send(
                    "PUT", "\(ground.service.url)/v1/customers/\(life.customer)/account_token",
                    body: body.text)
                try #require(told.status == 200, "\(told.text)")
                lives.append(life.json)
            }
            let planned = try ground.store.ask(
                "POST", "/practice/lives?jump=no",
                ["title": "random", "lives": .array(lives), "until": "\(SoldLives.days)d"])
            try #require(planned.status == 200, "\(planned.json)")
            var complaints: [String] = []
            var held = 0
            for _ in 0..<(SoldLives.days / SoldLives.pause) {
                let wait: JSON = ["by": "\(SoldLives.pause)d"]
                let advanced = try ground.store.ask("POST", "/practice/advance", wait)
                try #require(advanced.status == 200, "\(advanced.json)")
                let books = try ground.store.ask("GET", "/practice/state").json
                held += try compare(books, &client, at: ground.service.url, &complaints)
                if complaints.count > 5 { break }
            }
            #expect(complaints == [])
            // About half of the lives hold something at any time.
            #expect(held > SoldLives.lives * SoldLives.days / SoldLives.pause / 4)
            try compareCoins(ground, &client)
        }

        /// Compares every customer's entitlements with the store's records. Returns the number of active ones.
        private func compare(
            _ books: JSON, _ client: inout APIClient, at service: String,
            _ complaints: inout [String]
        ) throws -> Int {
            let now = try #require(books["now"]?.string.flatMap { Instant(text: $0) })
            let names = (0..<SoldLives.lives).map { JSON.string(RandomSteps.name(of: $0)) }
            let question: JSON = ["customers": .array(names), "environment": "sandbox"]
            let text = try client.send(
                "POST", "\(service)/v1/entitlements/query", body: question.text
            ).text
            var expected: [String: Set<String>] = [:]
            for customer in books["customers"]?.array ?? [] {
                expected[customer["customer"]?.string ?? ""] = entitlements(of: customer, now)
            }
            var held = 0
            for answer in try JSON.read(text)["answers"]?.array ?? [] {
                let name = answer["customer"]?.string ?? ""
                let members = answer["entitlements"]?.object?.members ?? []
                let found = Set(members.filter { $0.value["active"]?.bool == true }.map(\.name))
                held += found.count
                let wanted = expected[name] ?? []
                // A period that begins less than a day before the end of another one may be its
                // renewal, because the notification of an upgrade does not say so
                // (docs/decisions/subscriptions.md).
                let isLastDay = found.subtracting(wanted).allSatisfy { entitlement in
                    let until = answer["entitlements"]?[entitlement]?["until"]?.string
                    return until.flatMap { Instant(text: $0) }.map { $0 <= now.dayLater } ?? false
                }
                if !found.isSuperset(of: wanted) || !isLastDay {
                    let at = answer["at"]?.string ?? ""
                    complaints.append(
                        "\(name) at \(now.text): \(found.sorted()) at \(at), not \(wanted.sorted())"
                    )
                }
            }
            return held
        }

        /// Returns what a customer may use according to the store's records.
        private func entitlements(of customer: JSON, _ now: Instant) -> Set<String> {
            let unlocked = [
                "pro.month": ["pro"], "pro.year": ["pro"], "basic.month": ["basic"],
                "premium.month": ["pro", "premium"], "level2": ["level2"],
            ]
            var held: Set<String> = []
            let sales = customer["transactions"]?.array ?? []
            for purchase in customer["purchases"]?.array ?? []
            where purchase["active"]?.bool == true {
                held.formUnion(unlocked[running(purchase, sales, now)] ?? [])
            }
            for sale in sales
            where sale["product"]?.string == "season" && sale["revoked"]?.isNull == true {
                let start = sale["purchased"]?.string.flatMap { Instant(text: $0) }
                if let start, let end = CalendarDuration("P3M")?.end(after: start), now < end {
                    held.insert("season_pass")
                }
            }
            return held
        }

        /// Returns the product of the current sale. The store sells a renewal up to a day early.
        /// Until it begins, the earlier period continues, even for another product.
        private func running(_ purchase: JSON, _ sales: [JSON], _ now: Instant) -> String {
            func instant(_ sale: JSON, _ name: String) -> Instant? {
                sale[name]?.string.flatMap { Instant(text: $0) }
            }
            let product = purchase["product"]?.string ?? ""
            let newest = sales.last { $0["product"]?.string == product }
            guard let newest, let start = instant(newest, "purchased"), start > now else {
                return product
            }
            let runs = sales.last { sale in
                guard let start = instant(sale, "purchased"), let end = instant(sale, "expires")
                else { return false }
                return start <= now && now < end && sale["revoked"]?.isNull == true
            }
            return runs?["product"]?.string ?? product
        }

        private func compareCoins(
            _ ground: PracticeGround, _ client: inout APIClient
        ) throws {
            var total: Int64 = 0
            let books = try ground.store.ask("GET", "/practice/state").json
            for customer in books["customers"]?.array ?? [] {
                let sales = (customer["transactions"]?.array ?? []).filter {
                    $0["product"]?.string == "coins.100" && $0["revoked"]?.isNull == true
                }
                let name = customer["customer"]?.string ?? ""
                let balances = try client.read(
                    "\(ground.service.url)/v1/customers/\(name)/balances?environment=sandbox")
                let coins = balances["balances"]?["coins"]?.integer ?? 0
                #expect(coins == Int64(100 * sales.count), "\(name)")
                total += coins
            }
            #expect(total > 0)
        }
    }
}

extension Instant {
    fileprivate var dayLater: Instant { advanced(byMilliseconds: 86_400_000) }
}

/// One customer's random steps in two years.
private struct RandomSteps {
    let customer: String
    let token: String
    private var steps: [JSON] = []

    static func name(of number: Int) -> String { "life-\(number)" }

    init(_ number: Int, _ random: inout some RandomNumberGenerator) {
        customer = RandomSteps.name(of: number)
        token = UUID(
            uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, UInt8(number))
        ).uuidString.lowercased()
        var day = Int.random(in: 0..<60, using: &random)
        add("buy", day, [("product", .string(RandomSteps.plan(&random)))])
        while day < 720 {
            day += Int.random(in: 3..<60, using: &random)
            switch Int.random(in: 0..<11, using: &random) {
            case 0: add("cancel", day)
            case 1: add("resume", day)
            case 2: add("change", day, [("product", .string(RandomSteps.plan(&random)))])
            case 3, 4: add("fail_billing", day)
            case 5: add("fix_billing", day)
            case 6: add("refund", day)
            case 7: add("buy", day, [("product", .string(RandomSteps.plan(&random)))])
            case 8: add("buy", day, [("product", "coins.100")])
            case 9: add("buy", day, [("product", "level2")])
            default: add("extend", day, [("days", 15)])
            }
        }
        if number.isMultiple(of: 3) { add("buy", 300, [("product", "season")]) }
    }

    private static func plan(_ random: inout some RandomNumberGenerator) -> String {
        let plans = ["pro.month", "pro.year", "basic.month", "premium.month"]
        return plans[Int.random(in: 0..<plans.count, using: &random)]
    }

    private mutating func add(_ act: String, _ day: Int, _ members: [(String, JSON)] = []) {
        var object = JSONObject()
        object.append("at", .string("\(day)d"))
        object.append("do", .string(act))
        for (name, value) in members { object.append(name, value) }
        if act == "buy" { object.append("token", .string(token)) }
        steps.append(.object(object))
    }

    var json: JSON { ["customer": .string(customer), "steps": .array(steps)] }
}
