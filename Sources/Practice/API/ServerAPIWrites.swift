internal import Core
internal import Crypto
import Foundation
internal import HTTPServer
internal import JSON

/// The calls that change data, and those about notifications.
extension ServerAPI {
    func change(_ route: Route, _ call: Call) throws(APIError) -> Response {
        let id = try number(route.arguments[0])
        guard let sale = store.read({ $0.sale(id) }) else { throw APIError(4_040_010) }
        switch route.name {
        case .finish:
            store.changeSoon { $0.changeSale(id) { $0.isFinished = true } }
            return Response(status: 200)
        case .token:
            guard let token = try call.json()["appAccountToken"]?.string, isUUID(token) else {
                throw APIError(4_000_183)
            }
            if sale.isShared { throw APIError(4_000_185) }
            if sale.original != id { throw APIError(4_000_187) }
            store.changeSoon { $0.setToken(token, of: id) }
            return Response(status: 200)
        case .consumption:
            let json = try call.json()
            let kind = store.read { $0.sale(id)?.kind }
            if let code = Self.mistake(in: json, about: kind) { throw APIError(code) }
            store.changeSoon { $0.consumption[id] = json.text }
            return Response(status: 202)
        default: throw APIError(4_000_047)
        }
    }

    private static let deliveries = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
    ]

    /// Returns the code for the first mistake in a consumption report.
    private static func mistake(in json: JSON, about kind: ProductKind?) -> Int64? {
        if json["customerConsented"] != true { return 4_000_035 }
        if json["sampleContentProvided"]?.bool == nil { return 4_000_041 }
        guard let delivery = json["deliveryStatus"]?.string, deliveries.contains(delivery) else {
            return 4_000_036
        }
        if let percent = json["consumptionPercentage"], !percent.isNull {
            guard let number = percent.integer, (0...100_000).contains(number) else {
                return 4_000_000
            }
        }
        if let preference = json["refundPreference"], !preference.isNull {
            let known = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]
            if !known.contains(preference.string ?? "") { return 4_000_000 }
            // For a subscription, the store itself calculates the share.
            let share = json["consumptionPercentage"]?.integer ?? 0
            let isShare = preference == "GRANT_PRORATED"
            if isShare, (kind == .autoRenewable) == (share > 0) { return 4_000_000 }
        }
        return nil
    }

    /// Returns the storefronts of a mass extension, or `nil` for all storefronts.
    private func countries(in json: JSON) throws(APIError) -> [String]? {
        guard let list = json["storefrontCountryCodes"], !list.isNull else { return nil }
        guard let codes = list.array, !codes.isEmpty else { throw APIError(4_000_027) }
        var countries: [String] = []
        for code in codes {
            let letters = code.string?.utf8.allSatisfy { (0x41...0x5A).contains($0) }
            guard let text = code.string, text.count == 3, letters == true else {
                throw APIError(4_000_028)
            }
            countries.append(text)
        }
        return countries
    }

    func extend(_ route: Route, _ call: Call) throws(APIError) -> Response {
        if route.name == .extendAllStatus { return try extensionStatus(route) }
        let json = try call.json()
        guard let days = json["extendByDays"]?.integer, (1...90).contains(days) else {
            throw APIError(4_000_009)
        }
        guard let reason = json["extendReasonCode"]?.integer, (0...3).contains(reason) else {
            throw APIError(4_000_010)
        }
        guard let request = json["requestIdentifier"]?.string, (1...128).contains(request.count)
        else { throw APIError(4_000_011) }
        if route.name == .extendAll {
            guard let product = json["productId"]?.string,
                store.read({ $0.shop.article(product)?.kind }) == .autoRenewable
            else { throw APIError(4_000_023) }
            let countries = try countries(in: json)
            store.changeSoon {
                $0.extendAll(product, byDays: days, request: request, in: countries)
            }
            return Response(json: ["requestIdentifier": .string(request)])
        }
        let original = try number(route.arguments[0], code: 4_000_008)
        let refusal = store.changeSoon { $0.extend(original, byDays: days) }
        if let refusal { throw APIError(refusal) }
        return store.read { world in
            let subscription = world.subscriptions[original]
            let lineItem = subscription.flatMap { world.sale($0.latest)?.lineItem }
            return Response(json: [
                "originalTransactionId": .string(original),
                "webOrderLineItemId": .optional(lineItem), "success": true,
                "effectiveDate": .integer(subscription?.ends.milliseconds ?? 0),
            ])
        }
    }

    private func extensionStatus(_ route: Route) throws(APIError) -> Response {
        let (product, request) = (route.arguments[0], route.arguments[1])
        let found = store.read { world in
            world.massExtensions.first { $0.product == product && $0.request == request }
        }
        guard let found else { throw APIError(4_040_009) }
        return Response(json: [
            "requestIdentifier": .string(request), "complete": true,
            "completeDate": .integer(found.at.milliseconds),
            "succeededCount": .integer(found.succeeded), "failedCount": .integer(found.failed),
        ])
    }

    func test(_ route: Route) throws(APIError) -> Response {
        if route.name == .test {
            let name = store.changeSoon { world -> String? in
                guard world.shop.app.notificationURL != nil else { return nil }
                world.post("TEST", about: nil)
                return world.postings.last?.id
            }
            guard let name else { throw APIError(4_040_007) }
            return Response(json: ["testNotificationToken": .string(name)])
        }
        guard isUUID(route.arguments[0]) else { throw APIError(4_000_020) }
        let posting = store.read { world in
            world.postings.first { $0.id == route.arguments[0] && $0.type == "TEST" }
        }
        guard let posting else { throw APIError(4_040_008) }
        return Response(json: item(of: posting))
    }

    /// Returns a notification's entry in the history.
    private func item(of posting: Posting) -> JSON {
        let signed = store.read { world in
            store.authority.sign(world.payload(of: posting) { store.authority.sign($0) })
        }
        let attempts = posting.attempts.map { attempt -> JSON in
            [
                "attemptDate": .integer(attempt.at.milliseconds),
                "sendAttemptResult": .string(attempt.result),
            ]
        }
        return ["signedPayload": .string(signed), "sendAttempts": .array(attempts)]
    }

    func notifications(_ call: Call) throws(APIError) -> Response {
        let json = try call.json()
        var filter = try PostingFilter(json, store.read { ($0.now, $0.shop.app.retries) })
        // Any transaction of a customer identifies the customer.
        if let id = json["transactionId"]?.string { filter.customer = try customer(id) }
        var start = 0
        if let token = call.one("paginationToken") {
            guard let place = filter.place(in: token) else { throw APIError(4_000_014) }
            start = place
        }
        // A notification's index among all notifications never changes, so a token stays valid.
        let found = store.read { world in
            world.postings.indices.dropFirst(start - world.forgottenPostings)
                .filter { filter.takes(world.postings[$0]) }.prefix(Self.page + 1)
                .map { ($0 + world.forgottenPostings, world.postings[$0]) }
        }
        let hasMore = found.count > Self.page
        var object = JSONObject()
        if hasMore {
            object.append("paginationToken", .string(filter.token(at: found[Self.page].0)))
        }
        object.append("hasMore", .bool(hasMore))
        let items = found.prefix(Self.page).map { item(of: $0.1) }
        object.append("notificationHistory", .array(items))
        return Response(json: .object(object))
    }
}

private func isUUID(_ text: String) -> Bool { UUID(uuidString: text) != nil }

/// Selects the requested notifications.
private struct PostingFilter {
    private let start: Int64
    private let end: Int64
    private let type: String?
    private let subtype: String?
    var customer: String?
    private let onlyFailures: Bool

    /// Returns how far back the notification history goes. Apple's documentation says 180 days in
    /// production. Developers report that a start date 169 days and 23 hours ago was refused.
    private static func reach(_ retries: Shop.Retries) -> Int64 {
        let hour: Int64 = 3_600_000
        return (retries == .production ? 169 * 24 + 23 : 30 * 24) * hour
    }

    init(_ json: JSON, _ standing: (now: Instant, retries: Shop.Retries)) throws(APIError) {
        guard let start = json["startDate"]?.integer, start >= 0 else { throw APIError(4_000_015) }
        guard let end = json["endDate"]?.integer, end >= 0 else { throw APIError(4_000_016) }
        if start >= end { throw APIError(4_000_013) }
        let earliest = standing.now.milliseconds - Self.reach(standing.retries)
        if start <= earliest { throw APIError(4_000_012) }
        self.start = start
        self.end = end
        type = json["notificationType"]?.string
        subtype = json["notificationSubtype"]?.string
        onlyFailures = json["onlyFailures"]?.bool ?? false
        if type != nil, json["transactionId"]?.string != nil { throw APIError(4_000_019) }
        if type == nil, subtype != nil { throw APIError(4_000_018) }
        if let type, !Self.types.contains(type) { throw APIError(4_000_018) }
    }

    /// The filter as a string. A token is valid only for its own filter.
    private var text: String {
        let words = [type, subtype, customer, onlyFailures ? "failures" : nil].map { $0 ?? "" }
        return ([String(start), String(end)] + words).joined(separator: "|")
    }

    /// Returns the token for the page that starts at the given index.
    func token(at place: Int) -> String {
        String(decoding: Base64.url.encode(Array("\(place)|\(text)".utf8)), as: UTF8.self)
    }

    /// Returns the index in a token that was issued for exactly this filter.
    func place(in token: String) -> Int? {
        guard let bytes = Base64.url.decode(Array(token.utf8)) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == text, let place = Int(parts[0]), place >= 0 else {
            return nil
        }
        return place
    }

    private static let types: Set<String> = [
        "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED",
        "DID_RENEW", "EXPIRED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE",
        "REFUND", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "REVOKE", "TEST",
        "RENEWAL_EXTENSION", "REFUND_REVERSED", "EXTERNAL_PURCHASE_TOKEN", "ONE_TIME_CHARGE",
        "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "PRICE_CHANGE",
    ]

    func takes(_ posting: Posting) -> Bool {
        guard let last = posting.attempts.last else { return false }
        let at = posting.at.milliseconds
        return start <= at && at <= end && (type == nil || posting.type == type)
            && (subtype == nil || posting.subtype == subtype)
            && (customer == nil || posting.customer == customer)
            && (!onlyFailures || last.result != "SUCCESS")
    }
}

extension PracticeWorld {
    /// Extends all eligible subscriptions to the product. Returns the number of subscriptions.
    mutating func extendAll(
        _ product: String, byDays days: Int64, request: String, in countries: [String]?
    ) {
        let isMeant = countries?.contains(PracticeWorld.storefront) ?? true
        let all =
            isMeant
            ? subscriptions.values.filter { $0.product == product && $0.isServing }
                .map(\.original).sorted() : []
        var (succeeded, failed): (Int64, Int64) = (0, 0)
        for original in all {
            if extend(original, byDays: days) == nil {
                succeeded += 1
            } else {
                failed += 1
                post("RENEWAL_EXTENSION", "FAILURE", about: subscriptions[original]?.latest)
            }
        }
        massExtensions.append(
            MassExtension(
                request: request, product: product, at: now, succeeded: succeeded, failed: failed))
        var summary = JSONObject()
        summary.append("requestIdentifier", .string(request))
        summary.append("productId", .string(product))
        if let countries {
            summary.append("storefrontCountryCodes", .array(countries.map(JSON.string)))
        }
        summary.append("succeededCount", .integer(succeeded))
        summary.append("failedCount", .integer(failed))
        append("RENEWAL_EXTENSION", "SUMMARY", .summary(JSON.object(summary).text))
    }
}
