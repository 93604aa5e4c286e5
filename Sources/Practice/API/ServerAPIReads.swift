internal import Core
internal import Crypto
internal import HTTPServer
internal import JSON

/// The calls that only read data.
extension ServerAPI {
    /// The number of statements on a page.
    static let page = 20

    func transaction(_ route: Route) throws(APIError) -> Response {
        let id = try number(route.arguments[0])
        let signed = store.read { world in
            world.sale(id).map { store.authority.sign(world.payload(of: $0)) }
        }
        guard let signed else {
            let isInstall = store.read { world in
                world.installs.values.contains { $0.appTransaction == id }
            }
            throw APIError(isInstall ? 4_000_048 : 4_040_010)
        }
        return Response(json: ["signedTransactionInfo": .string(signed)])
    }

    func appTransaction(_ route: Route) throws(APIError) -> Response {
        let customer = try customer(route.arguments[0])
        let signed = store.read { store.authority.sign($0.appPayload(of: customer)) }
        return Response(json: ["signedAppTransactionInfo": .string(signed)])
    }

    func order(_ route: Route) -> Response {
        let signed = store.read { world in
            world.sales.filter { $0.order == route.arguments[0] && !$0.isShared }
                .map { JSON.string(store.authority.sign(world.payload(of: $0))) }
        }
        return Response(
            json: ["status": signed.isEmpty ? 1 : 0, "signedTransactions": .array(signed)])
    }

    func statuses(_ route: Route, _ call: Call) throws(APIError) -> Response {
        let customer = try customer(route.arguments[0])
        var wanted: Set<Int64> = []
        for text in call.query["status"] ?? [] {
            guard let status = Int64(text), (1...5).contains(status) else {
                throw APIError(4_000_031)
            }
            wanted.insert(status)
        }
        return store.read { world in
            var groups: [(id: String, items: [JSON])] = []
            for subscription in world.subscriptions(of: customer)
            where wanted.isEmpty || wanted.contains(subscription.status) {
                guard let sale = world.sale(subscription.latest) else { continue }
                let item: JSON = [
                    "originalTransactionId": .string(subscription.original),
                    "status": .integer(subscription.status),
                    "signedTransactionInfo": .string(
                        store.authority.sign(world.payload(of: sale))),
                    "signedRenewalInfo": .string(
                        store.authority.sign(world.payload(of: subscription))),
                ]
                let id = world.groupNumber(subscription.group)
                if let place = groups.firstIndex(where: { $0.id == id }) {
                    groups[place].items.append(item)
                } else {
                    groups.append((id, [item]))
                }
            }
            let data = groups.map { group -> JSON in
                [
                    "subscriptionGroupIdentifier": .string(group.id),
                    "lastTransactions": .array(group.items),
                ]
            }
            var object = world.appMembers
            object.append("data", .array(data))
            return Response(json: .object(object))
        }
    }

    func history(_ route: Route, _ call: Call) throws(APIError) -> Response {
        let customer = try customer(route.arguments[0])
        let filter = try HistoryFilter(call, of: customer)
        let isOld = route.name == .oldHistory
        let after = try position(call.one("revision"), filter.text)
        return store.read { world in
            let all = world.sales(of: customer).filter { sale in
                filter.takes(sale, world)
                    && !(isOld && sale.kind == .consumable && sale.isFinished)
            }
            let sorted = all.sorted {
                let isBefore = ($0.changed, $0.id) < ($1.changed, $1.id)
                return filter.isDescending ? !isBefore : isBefore
            }
            var object = world.appMembers
            append(sorted, at: \.changed, after: after, filter, world, to: &object)
            return Response(json: .object(object))
        }
    }

    func refunds(_ route: Route, _ call: Call) throws(APIError) -> Response {
        let customer = try customer(route.arguments[0])
        let filter = HistoryFilter(refundsOf: customer)
        let after = try position(call.one("revision"), filter.text)
        return store.read { world in
            let refunded = { (sale: Sale) in sale.revocation?.at ?? sale.changed }
            let all = world.sales(of: customer).filter { $0.revocation != nil && !$0.isShared }
                .sorted { (refunded($0), $0.id) < (refunded($1), $1.id) }
            var object = JSONObject()
            append(all, at: refunded, after: after, filter, world, to: &object)
            return Response(json: .object(object))
        }
    }

    /// Appends one page of the entries after a position. Returns the position after that page.
    private func append(
        _ sales: [Sale], at instant: (Sale) -> Instant, after: Position?, _ filter: HistoryFilter,
        _ world: PracticeWorld, to object: inout JSONObject
    ) {
        let rest = sales.filter { sale in
            guard let after else { return true }
            let at = instant(sale).milliseconds
            let isBefore = (at, sale.id) < (after.at, after.id)
            let isSame = at == after.at && sale.id == after.id
            return !isSame && (filter.isDescending ? isBefore : !isBefore)
        }
        let page = rest.prefix(Self.page)
        let last = page.last.map { Position(at: instant($0).milliseconds, id: $0.id) } ?? after
        if let last { object.append("revision", .string(last.text(filter.text))) }
        object.append("hasMore", .bool(rest.count > page.count))
        let signed = page.map { JSON.string(store.authority.sign(world.payload(of: $0))) }
        object.append("signedTransactions", .array(signed))
    }

    private func position(_ revision: String?, _ filter: String) throws(APIError) -> Position? {
        guard let revision else { return nil }
        guard let position = Position(revision, filter) else { throw APIError(4_000_005) }
        return position
    }

    /// Returns the customer who owns the given transaction, original transaction or installation.
    func customer(_ id: String) throws(APIError) -> String {
        let id = try number(id)
        let found = store.read { world in
            world.sale(id)?.customer ?? world.installs.first { $0.value.appTransaction == id }?.key
        }
        guard let found else { throw APIError(4_040_010) }
        return found
    }

    func number(_ text: String, code: Int64 = 4_000_006) throws(APIError) -> String {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw APIError(code)
        }
        return text
    }
}

/// The position where a page ended.
private struct Position {
    let at: Int64
    let id: String

    init(at: Int64, id: String) {
        self.at = at
        self.id = id
    }

    /// Parses a `text` that was written for the same filter.
    init?(_ revision: String, _ filter: String) {
        guard let bytes = Base64.url.decode(Array(revision.utf8)) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let at = Int64(parts[0]), parts[2] == filter else { return nil }
        self.at = at
        id = String(parts[1])
    }

    func text(_ filter: String) -> String {
        let text = "\(at)|\(id)|\(filter)"
        return String(decoding: Base64.url.encode(Array(text.utf8)), as: UTF8.self)
    }
}

/// The requested part of a history.
struct HistoryFilter {
    private(set) var isDescending = false
    private var start: Int64 = .min
    private var end: Int64 = .max
    private var products: Set<String> = []
    private var kinds: Set<ProductKind> = []
    private var groups: Set<String> = []
    private var ownership: String?
    private var isRevoked: Bool?
    /// The filter and the customer as a string. A revision is valid only for both.
    let text: String

    /// Selects all refunded transactions.
    init(refundsOf customer: String) { text = "refunds of \(customer)" }

    init(_ call: Call, of customer: String) throws(APIError) {
        let members = call.query.filter { $0.key != "revision" }.sorted { $0.key < $1.key }
        let filter = members.map { "\($0.key)=\($0.value.sorted().joined(separator: ","))" }
        text = "history of \(customer) " + filter.joined(separator: "&")
        switch call.one("sort") {
        case nil, "ASCENDING"?: break
        case "DESCENDING"?: isDescending = true
        default: throw APIError(4_000_021)
        }
        start = try call.milliseconds("startDate", 4_000_015) ?? .min
        end = try call.milliseconds("endDate", 4_000_016) ?? .max
        if start >= end { throw APIError(4_000_013) }
        products = Set(call.query["productId"] ?? [])
        groups = Set(call.query["subscriptionGroupIdentifier"] ?? [])
        for name in call.query["productType"] ?? [] {
            guard let kind = Self.kinds[name] else { throw APIError(4_000_022) }
            kinds.insert(kind)
        }
        ownership = call.one("inAppOwnershipType")
        if let ownership, !["PURCHASED", "FAMILY_SHARED"].contains(ownership) {
            throw APIError(4_000_026)
        }
        switch call.one("revoked")?.lowercased() {
        case nil: break
        case "true"?: isRevoked = true
        case "false"?: isRevoked = false
        default: throw APIError(4_000_030)
        }
    }

    private static let kinds: [String: ProductKind] = [
        "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing,
        "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
    ]

    func takes(_ sale: Sale, _ world: PracticeWorld) -> Bool {
        let purchased = sale.purchased.milliseconds
        return start <= purchased && purchased < end
            && (products.isEmpty || products.contains(sale.product))
            && (kinds.isEmpty || kinds.contains(sale.kind))
            && (groups.isEmpty
                || sale.group.map { groups.contains(world.groupNumber($0)) } ?? false)
            && (ownership.map { ($0 == "FAMILY_SHARED") == sale.isShared } ?? true)
            && (isRevoked.map { $0 == (sale.revocation != nil) } ?? true)
    }
}

extension Call {
    func milliseconds(_ name: String, _ code: Int64) throws(APIError) -> Int64? {
        guard let text = one(name) else { return nil }
        guard let number = Int64(text), number >= 0 else { throw APIError(code) }
        return number
    }
}

extension PracticeWorld {
    /// The app's number, which the store leaves out in the sandbox.
    var statedAppleID: Int64? { environment == "Production" ? shop.app.appleID : nil }

    /// The members that name the app in an answer.
    var appMembers: JSONObject {
        var object = JSONObject()
        object.append("environment", .string(environment))
        object.append("bundleId", .string(shop.app.bundleID))
        if let id = statedAppleID { object.append("appAppleId", .integer(id)) }
        return object
    }
}
