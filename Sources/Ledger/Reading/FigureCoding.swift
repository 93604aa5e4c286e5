import Core
import JSON

extension ProjectFigures {
    /// The numbers in the figures, as JSON.
    var countsText: String {
        let counts: JSON = [
            "entitlements": entitlements.json, "products": products.json,
            "ending": .integer(ending.count), "refunds": .integer(refunds.count),
            "unclaimed": .integer(unclaimed),
        ]
        return counts.text
    }

    /// The items of both lists, as JSON. Each item names its customer, and the customer's erasure removes it.
    var itemsText: String {
        JSON.array(ending.items.map(\.json) + refunds.items.map(\.json)).text
    }

    init(at: Instant, counts: String, items: String) throws(LedgerError) {
        guard let counts = try? JSON.read(counts), let items = try? JSON.read(items).array
        else { throw .unreadable("figures that are not JSON") }
        self.init(
            at: at, entitlements: Active.read(counts["entitlements"]),
            products: Active.read(counts["products"]),
            ending: Top(
                count: counts["ending"]?.integer ?? 0, items: items.compactMap(Ending.init)),
            refunds: Top(
                count: counts["refunds"]?.integer ?? 0, items: items.compactMap(Refunded.init)),
            unclaimed: counts["unclaimed"]?.integer ?? 0)
    }
}

extension [String: ProjectFigures.Active] {
    fileprivate var json: JSON {
        var object = JSONObject(capacity: count)
        for (name, active) in sorted(by: { $0.key < $1.key }) {
            object.append(name, [.integer(active.now), .integer(active.earlier)])
        }
        return .object(object)
    }
}

extension ProjectFigures.Active {
    fileprivate static func read(_ json: JSON?) -> [String: Self] {
        let members = json?.object?.members ?? []
        return members.reduce(into: [:]) { all, member in
            let numbers = (member.value.array ?? []).compactMap(\.integer)
            if numbers.count == 2 {
                all[member.name] = Self(now: numbers[0], earlier: numbers[1])
            }
        }
    }
}

extension ProjectFigures.Ending {
    fileprivate var json: JSON {
        [
            "customer": .string(customer), "version": .integer(version),
            "entitlement": .string(entitlement), "ends": .integer(ends.milliseconds),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let customer = json["customer"]?.string, let version = json["version"]?.integer,
            let entitlement = json["entitlement"]?.string, let ends = json["ends"]?.integer
        else { return nil }
        self.init(
            customer: customer, version: version, entitlement: entitlement,
            ends: Instant(milliseconds: ends))
    }
}

extension ProjectFigures.Refunded {
    fileprivate var json: JSON {
        [
            "customer": .string(customer), "version": .integer(version),
            "product": .string(product), "purchase": .string(purchase),
            "transaction": .string(transaction), "at": .string(at),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let customer = json["customer"]?.string, let version = json["version"]?.integer,
            let product = json["product"]?.string, let purchase = json["purchase"]?.string,
            let transaction = json["transaction"]?.string, let at = json["at"]?.string
        else { return nil }
        self.init(
            customer: customer, version: version, product: product, purchase: purchase,
            transaction: transaction, at: at)
    }
}
