import Core
import Foundation
import JSON
import Practice

/// Some months of one customer, and the store's resulting records.
struct PracticeLife: Sendable {
    static let days = 110
    /// The length of the life in days.
    private var days = PracticeLife.days
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

    static let unlocked = [
        "pro.month": ["pro"], "pro.year": ["pro"], "basic.month": ["basic"],
        "premium.month": ["pro", "premium"], "level2": ["level2"],
    ]

    init(
        _ number: Int, days: Int = PracticeLife.days, _ random: inout some RandomNumberGenerator
    ) {
        self.init(customer: "life-\(number)", number: number)
        self.days = days
        var day = Int.random(in: 0..<40, using: &random)
        buy(PracticeLife.plan(&random), day)
        while true {
            day += Int.random(in: 3..<50, using: &random)
            if day >= days { break }
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

    /// Creates a life with fixed steps.
    private init(_ number: Int, _ name: String, _ steps: (inout PracticeLife) -> Void) {
        self.init(customer: "told-\(name)", number: number)
        steps(&self)
    }

    private init(customer: String, number: Int) {
        self.customer = customer
        let digits = String(number, radix: 16)
        token =
            "00000000-0000-4000-8000-"
            + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Returns lives that end after 115 days, one for each state that a subscription can have.
    /// Their names are consecutive numbers from `first`.
    static func ofEachState(from first: Int) -> [PracticeLife] {
        [
            PracticeLife(first, "grace") {
                $0.buy("pro.month", 15)
                $0.add("fail_billing", 100)
            },
            PracticeLife(first + 1, "cancelled-in-grace") {
                $0.buy("pro.month", 15)
                $0.add("fail_billing", 100)
                $0.add("cancel", 108)
            },
            PracticeLife(first + 2, "retry") {
                $0.buy("pro.month", 0)
                $0.add("fail_billing", 85)
            },
            PracticeLife(first + 3, "unpaid") {
                $0.buy("pro.month", 0)
                $0.add("fail_billing", 20)
            },
            PracticeLife(first + 4, "cancelled") {
                $0.buy("pro.month", 0)
                $0.add("cancel", 10)
            },
            PracticeLife(first + 5, "cancelled-lately") {
                $0.buy("pro.year", 10)
                $0.add("cancel", 109)
            },
            PracticeLife(first + 6, "refunded") {
                $0.buy("premium.month", 20)
                $0.add("refund", 100)
            },
            PracticeLife(first + 7, "refunded-in-grace") {
                $0.buy("pro.month", 15)
                $0.add("fail_billing", 100)
                $0.add("refund", 109)
            },
            PracticeLife(first + 8, "downgrade-ahead") {
                $0.buy("premium.month", 20)
                $0.add("change", 109, [("product", "basic.month")])
            },
            PracticeLife(first + 9, "upgraded") {
                $0.buy("basic.month", 20)
                $0.add("change", 109, [("product", "premium.month")])
            },
            PracticeLife(first + 10, "extended") {
                $0.buy("pro.month", 20)
                $0.add("extend", 100, [("days", 15)])
            },
            PracticeLife(first + 11, "recovered") {
                $0.buy("pro.month", 0)
                $0.add("fail_billing", 55)
                $0.add("fix_billing", 85)
            },
            PracticeLife(first + 12, "level-refunded") {
                $0.buy("level2", 15)
                $0.add("refund", 60)
            },
            PracticeLife(first + 13, "coins-refunded") {
                $0.buy("coins.100", 15)
                $0.add("refund", 60)
            },
            PracticeLife(first + 14, "refund-reversed") {
                $0.buy("level2", 15)
                $0.add("refund", 30)
                $0.add("reverse", 60)
            },
        ]
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
        let days = lives.map(\.days).max() ?? PracticeLife.days
        let json: JSON = ["title": "lives", "lives": .array(told), "until": .string("\(days)d")]
        return try Scenario(json.bytes)
    }

    func coins(_ world: PracticeWorld) -> Int64 {
        let sold = world.sales(of: customer).filter {
            $0.product == "coins.100" && $0.revocation == nil
        }
        return Int64(100 * sold.count)
    }
}
