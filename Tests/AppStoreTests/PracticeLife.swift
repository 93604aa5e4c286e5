import Core
import Foundation
import JSON
import Practice

/// Some months of one customer, and what the store's books come to.
struct PracticeLife: Sendable {
    static let days = 110
    let customer: String
    let token: String
    private var steps: [JSON] = []

    static let catalog: JSON = [
        "products": [
            ["id": "pro.month", "kind": "auto_renewable", "entitlements": ["pro"]],
            ["id": "pro.year", "kind": "auto_renewable", "entitlements": ["pro"]],
            ["id": "basic.month", "kind": "auto_renewable", "entitlements": ["basic"]],
            ["id": "premium.month", "kind": "auto_renewable", "entitlements": ["pro", "premium"]],
            ["id": "extras.month", "kind": "auto_renewable", "entitlements": ["extras"]],
            ["id": "coins.100", "kind": "consumable", "credits": ["coins": 100]],
            ["id": "level2", "kind": "non_consumable", "entitlements": ["level2"]],
            [
                "id": "season", "kind": "non_renewing", "duration": "P3M",
                "stacking": "overlap", "entitlements": ["season_pass"],
            ],
        ],
        "entitlements": [
            "pro": [:], "basic": [:], "premium": [:], "level2": [:], "season_pass": [:],
            "extras": [:],
        ],
        "currencies": ["coins": [:]],
    ]

    private static let unlocked = [
        "pro.month": ["pro"], "pro.year": ["pro"], "basic.month": ["basic"],
        "premium.month": ["pro", "premium"], "level2": ["level2"],
    ]

    init(_ number: Int, _ random: inout some RandomNumberGenerator) {
        customer = "life-\(number)"
        let digits = String(number, radix: 16)
        token =
            "00000000-0000-4000-8000-"
            + String(repeating: "0", count: 12 - digits.count) + digits
        var day = Int.random(in: 0..<40, using: &random)
        buy(PracticeLife.plan(&random), day)
        while true {
            day += Int.random(in: 3..<50, using: &random)
            if day >= PracticeLife.days { break }
            switch Int.random(in: 0..<11, using: &random) {
            case 0: add("cancel", day)
            case 1: add("resume", day)
            case 2: add("change", day, [("product", .string(PracticeLife.plan(&random)))])
            case 3, 4: add("fail_billing", day)
            case 5: add("fix_billing", day)
            case 6: add("refund", day)
            case 7: buy(PracticeLife.plan(&random), day)
            case 8: buy("coins.100", day)
            case 9: buy("level2", day)
            default: add("extend", day, [("days", 15)])
            }
        }
        if number.isMultiple(of: 3) { buy("season", 60) }
    }

    private static func plan(_ random: inout some RandomNumberGenerator) -> String {
        ["pro.month", "pro.year", "basic.month", "premium.month"].randomElement(using: &random)
            ?? "pro.month"
    }

    private mutating func buy(_ product: String, _ day: Int) {
        add("buy", day, [("product", .string(product)), ("token", .string(token))])
    }

    private mutating func add(_ act: String, _ day: Int, _ members: [(String, JSON)] = []) {
        var object = JSONObject()
        object.append("at", .string("\(day)d"))
        object.append("do", .string(act))
        for (name, value) in members { object.append(name, value) }
        steps.append(.object(object))
    }

    static func scenario(_ lives: [PracticeLife]) throws(PracticeError) -> Scenario {
        let told: [JSON] = lives.map {
            ["customer": .string($0.customer), "steps": .array($0.steps)]
        }
        let json: JSON = ["title": "lives", "lives": .array(told), "until": .string("\(days)d")]
        return try Scenario(json.bytes)
    }

    /// What the customer may use by the store's books.
    func entitlements(_ world: PracticeWorld) -> Set<String> {
        var held = Set(
            world.standings(of: customer).filter(\.isActive).flatMap {
                PracticeLife.unlocked[$0.product] ?? []
            })
        for sale in world.sales(of: customer)
        where sale.product == "season" && sale.revocation == nil {
            if let end = CalendarDuration("P3M")?.end(after: sale.purchased), world.now < end {
                held.insert("season_pass")
            }
        }
        return held
    }

    func coins(_ world: PracticeWorld) -> Int64 {
        let sold = world.sales(of: customer).filter {
            $0.product == "coins.100" && $0.revocation == nil
        }
        return Int64(100 * sold.count)
    }
}
