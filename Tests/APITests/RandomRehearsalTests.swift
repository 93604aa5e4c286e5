import Core
import Histories
import JSON
import Minting
import TestSupport
import Testing

@Suite("Rehearsals in random lives")
struct RandomRehearsalTests {
    @Test("Whatever came before, what a rehearsal says is what the deed does, or refuses")
    func lives() throws {
        let seed = printedSeed(of: "rehearsed deeds")
        var seen: [String: Int] = [:]
        func isComplete() -> Bool { RehearsedLife.kinds.allSatisfy { seen[$0, default: 0] > 0 } }
        // Further lives follow until each kind of act has succeeded at least once.
        for offset in 0..<15 as Range<UInt64> where offset < 3 || !isComplete() {
            let life = try RehearsedLife(seed: seed &+ offset)
            for step in 0..<70 {
                if let difference = try life.step(&seen) {
                    Issue.record("seed \(seed &+ offset), step \(step): \(difference)")
                    return
                }
            }
        }
        #expect(isComplete(), "\(seen)")
    }
}

/// Three customers on whom support acts at random. Each act is rehearsed first.
private final class RehearsedLife {
    static let kinds = [
        "grant", "after", "change", "revoke", "adjust", "spend", "block", "unblock", "transfer",
        "undo", "merge", "part",
    ]
    private let front: Storefront
    private var random: SeededGenerator
    private var holders: [Int: String] = [:]
    private var moved: [Int] = []
    private var blocked: [Int] = []
    private var grants: [(customer: String, id: String)] = []
    private var count = 0

    private struct Deed {
        let method: String
        let path: String
        let body: String
    }

    init(seed: UInt64) throws {
        front = try Storefront()
        random = SeededGenerator(seed: seed)
    }

    private func any<Item>(_ items: [Item], or other: Item) -> Item {
        items.randomElement(using: &random) ?? other
    }

    /// Sometimes sells something, lets time pass, and performs one act. Returns how the act differs
    /// from its rehearsal.
    func step(_ seen: inout [String: Int]) throws -> String? {
        front.service.clock.advance(byMilliseconds: Int64(random.next() % 200) * 3_600_000)
        _ = try front.service.publishBoundaries()
        if random.next() % 2 == 0 { sell() }
        let kind = any(Self.kinds, or: "grant")
        let deed = deed(kind)
        let rehearsed = send(deed, "?dry_run=1")
        let sides = try rehearsed.json["customers"]?.array ?? []
        for side in sides where try side["before"].map(unnamed) != answers(of: side) {
            return "\(deed.path): before is \(side.text)"
        }
        let done = send(deed, "")
        if rehearsed.status >= 400 {
            return rehearsed.text == done.text ? nil : "\(rehearsed.text) and \(done.text)"
        }
        if done.status >= 400 { return "\(deed.path): \(done.text) after \(rehearsed.text)" }
        seen[kind, default: 0] += 1
        follow(kind, deed)
        if let id = try done.json["grant"]?["id"]?.string {
            grants.append((String(deed.path.split(separator: "/")[1]), id))
        }
        for side in sides where try side["after"].map(unnamed) != answers(of: side) {
            return "\(deed.path) \(deed.body): \(side.text), and then \(try answers(of: side))"
        }
        return nil
    }

    private func send(_ deed: Deed, _ query: String) -> Reply {
        front.send(deed.method, "/v1/\(deed.path)\(query)", deed.body, key: front.admin)
    }

    /// Records which customer holds what.
    private func follow(_ kind: String, _ deed: Deed) {
        let parts = deed.path.split(separator: "/").map(String.init)
        let other = deed.body.firstMatch(of: /"(to|into)":"(u[0-9])"/).map { String($0.2) }
        if kind == "block" {
            blocked += holders.keys.filter { deed.path.contains("apple:\($0)/") }
        }
        guard let other else { return }
        for number in holders.keys.sorted() where holders[number] == parts[1] {
            if kind == "transfer", !deed.path.contains("apple:\(number)/") { continue }
            holders[number] = other
            if kind == "transfer" { moved.append(number) }
        }
    }

    private func sell() {
        let (number, customer) = (holders.count + 1, any(["u1", "u2", "u3"], or: "u1"))
        holders[number] = customer
        let name = String(number)
        let sale =
            switch random.next() % 3 {
            case 0: Sale(name, "coins.100", .consumable, at: front.daysAgo(1))
            case 1: Sale(name, "level2", .nonConsumable, at: front.daysAgo(1))
            default:
                Sale(
                    name, "pro.month", .autoRenewable, at: front.daysAgo(1),
                    until: front.daysAgo(-29))
            }
        _ = front.submit(sale, for: customer)
    }

    private func deed(_ kind: String) -> Deed {
        count += 1
        let why = #""reason":"r\#(count)""#
        let customer = any(["u1", "u2", "u3"], or: "u1")
        let other = any(["u1", "u2", "u3"].filter { $0 != customer }, or: "u2")
        let path = "customers/\(customer)"
        let concerned = ["undo": moved, "unblock": blocked][kind] ?? holders.keys.sorted()
        let number = any(concerned, or: 1)
        let purchase = "customers/\(holders[number] ?? customer)/purchases/apple:\(number)"
        let grant = any(grants, or: (customer, "g_none"))
        let given = "customers/\(grant.customer)/grants/\(grant.id)"
        let entitlement = any(["pro", "season", "level2"], or: "pro")
        let days = random.next() % 40 + 1
        switch kind {
        case "after":
            return Deed(
                method: "POST", path: "\(path)/grants",
                body:
                    #"{"entitlement":"\#(entitlement)","start":"after_current","for":"P\#(days)D",\#(why)}"#
            )
        case "change":
            return Deed(method: "PATCH", path: given, body: #"{"for":"P\#(days)D",\#(why)}"#)
        case "revoke": return Deed(method: "DELETE", path: given, body: "{\(why)}")
        case "adjust":
            let amount = Int(random.next() % 300) - 100
            return Deed(
                method: "POST", path: "\(path)/balances/coins/adjust",
                body: #"{"amount":\#(amount),\#(why)}"#)
        case "spend":
            return Deed(
                method: "POST", path: "\(path)/balances/coins/spend",
                body: #"{"amount":\#(random.next() % 50 + 1)}"#)
        case "block", "unblock":
            return Deed(method: "POST", path: "\(purchase)/\(kind)", body: "{\(why)}")
        case "transfer":
            let taker: String = any(["u1", "u2", "u3"].filter { $0 != holders[number] }, or: other)
            return Deed(
                method: "POST", path: "\(purchase)/transfer", body: #"{"to":"\#(taker)",\#(why)}"#)
        case "undo":
            return Deed(method: "POST", path: "\(purchase)/undo_transfer", body: "{\(why)}")
        case "merge":
            return Deed(
                method: "POST", path: "\(path)/merge", body: #"{"into":"\#(other)",\#(why)}"#)
        case "part": return Deed(method: "POST", path: "\(path)/merge/undo", body: "{\(why)}")
        default:
            return Deed(
                method: "POST", path: "\(path)/grants",
                body: #"{"entitlement":"\#(entitlement)","for":"P\#(days)D",\#(why)}"#)
        }
    }

    /// Returns the answers of reads about the customer in `side`.
    private func answers(of side: JSON) throws -> String {
        let path = "/v1/customers/\(side["customer"]?.string ?? "")"
        let query = "?environment=\(side["environment"]?.string ?? "production")"
        let read = try front.send("GET", "\(path)/entitlements\(query)").json
        let balances = try front.send("GET", "\(path)/balances\(query)").json
        return unnamed([
            "entitlements": read["entitlements"] ?? .null,
            "balances": balances["balances"] ?? .null,
        ])
    }

    /// Removes grant ids from the JSON, because a rehearsed grant has no id yet.
    private func unnamed(_ json: JSON) -> String {
        json.text.replacing(/"grant":"g_[a-z0-9]*"/, with: #""grant":"g""#)
    }
}
