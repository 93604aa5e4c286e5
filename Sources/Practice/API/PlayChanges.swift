internal import Core
internal import JSON

/// The calls that change purchases, and those about one-time products and voided purchases.
extension PlayAPI {
    func changeSubscription(_ route: PlayRoute, _ call: Call) throws(PlayError) -> JSON {
        let token = try checked(route.arguments.last ?? "")
        let body = try call.playBody()
        return try change { world throws(PlayError) in
            let one = try world.readableSubscription(token)
            switch route.name {
            case .cancel: try cancel(one, body, in: &world)
            case .revoke: try revoke(one, body, in: &world)
            case .postpone: return try postpone(one, body, in: &world)
            default: try acknowledge(one, body, in: &world)
            }
            return [:]
        }
    }

    private func cancel(
        _ one: PlaySubscription, _ body: JSON, in world: inout PracticeWorld
    ) throws(PlayError) {
        let kind: PlaySubscription.Cancellation
        switch body["cancellationContext"]?["cancellationType"]?.string {
        case "USER_REQUESTED_STOP_RENEWALS"?: kind = .user(world.now)
        case "DEVELOPER_REQUESTED_STOP_PAYMENTS"?: kind = .developer
        default: throw .invalid("cancellationContext.cancellationType is missing or unknown.")
        }
        try asPlay { () throws(PracticeError) in
            guard !one.isOver, one.phase != .pending else {
                throw .refused("the subscription is \(one.phase.rawValue)")
            }
            try world.cancelInPlay(one, as: kind)
        }
    }

    private func revoke(
        _ one: PlaySubscription, _ body: JSON, in world: inout PracticeWorld
    ) throws(PlayError) {
        let context = body["revocationContext"]
        let item = context?["itemBasedRefund"]?["productId"]?.string
        let kinds = ["fullRefund", "proratedRefund", "itemBasedRefund"]
        guard kinds.count(where: { context?[$0] != nil }) == 1 else {
            throw .invalid("revocationContext needs exactly one kind of refund.")
        }
        try asPlay { () throws(PracticeError) in
            if let item { return try world.refundItem(item, of: one) }
            if context?["proratedRefund"] != nil { return try world.revokeProrated(one) }
            guard context?["fullRefund"] != nil, let order = one.lastOrder, !one.isOver else {
                throw .refused("the subscription is \(one.phase.rawValue), or no item is named")
            }
            try world.refundOrder(order, revokes: true, by: .developer)
        }
    }

    private func postpone(
        _ one: PlaySubscription, _ body: JSON, in world: inout PracticeWorld
    ) throws(PlayError) -> JSON {
        guard let context = body["deferralContext"], let etag = context["etag"]?.string,
            let length = context["deferDuration"]?.string.flatMap(milliseconds)
        else { throw .invalid("deferralContext needs an etag and a deferDuration like 86400s.") }
        guard etag == one.etag else {
            throw PlayError(
                code: 409, status: "ABORTED", reason: "aborted",
                message: "The etag is out of date; read the subscription again.")
        }
        let isTrial = context["validateOnly"]?.bool == true
        try asPlay { () throws(PracticeError) in
            if isTrial {
                try world.requirePostponable(one, byMilliseconds: length)
            } else {
                try world.postpone(one, byMilliseconds: length)
            }
        }
        let details = one.items.compactMap { item in
            item.expires.map { expires -> JSON in
                [
                    "productId": .string(item.choice.product),
                    "expiryTime": expires.advanced(byMilliseconds: length).playTime,
                ]
            }
        }
        return ["itemExpiryTimeDetails": .array(details)]
    }

    /// Parses a duration like `86400s` or `1.5s`.
    private func milliseconds(_ text: String) -> Int64? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()),
            (0...1_000_000_000).contains(seconds)
        else { return nil }
        return Int64(seconds * 1000)
    }

    private func acknowledge(
        _ one: PlaySubscription, _ body: JSON, in world: inout PracticeWorld
    ) throws(PlayError) {
        guard one.started != nil else {
            throw .invalid(
                "The subscription is not paid for.", reason: "subscriptionPurchasePending")
        }
        let names = body["externalAccountIds"]
        if let account = names?["obfuscatedAccountId"]?.string {
            world.changeInPlay(one.token) { $0.accountToken = account }
        }
        if let profile = names?["obfuscatedProfileId"]?.string {
            world.changeInPlay(one.token) { $0.profile = profile }
        }
        world.acknowledgeInPlay(one.token)
    }

    func product(_ route: PlayRoute) throws(PlayError) -> JSON {
        let token = try checked(route.arguments.last ?? "")
        let named = route.arguments.count > 1 ? route.arguments[0] : nil
        func good(in world: PracticeWorld) throws(PlayError) -> PlayGood {
            guard let good = world.play.goods[token] else { throw .unknownToken }
            if let named, named != good.product {
                throw .invalid(
                    "The token is for another product.",
                    reason: "purchaseTokenDoesNotMatchProductId"
                )
            }
            return good
        }
        if route.name == .product || route.name == .oldProduct {
            return try read { world throws(PlayError) in
                let good = try good(in: world)
                return route.name == .product
                    ? world.playAnswer(v2: good) : world.playAnswer(v1: good)
            }
        }
        return try change { world throws(PlayError) in
            guard try good(in: world).phase == .purchased else {
                throw .invalid("The product is not paid for.", reason: "productNotOwnedByUser")
            }
            if route.name == .consume { world.play.goods[token]?.isConsumed = true }
            world.acknowledgeInPlay(token)
            return [:]
        }
    }

    private static let reach: Int64 = 30 * 86_400_000

    func voided(_ call: Call) throws(PlayError) -> JSON {
        let now = store.read { $0.now }
        let start = try call.number("startTime") ?? now.milliseconds - Self.reach
        let end = try call.number("endTime") ?? now.milliseconds
        let count = try call.number("maxResults") ?? 1000
        let first = try call.one("token").map { text throws(PlayError) in
            guard let place = Int(text), place >= 0 else { throw .invalid("The token is unknown.") }
            return place
        }
        guard start >= now.milliseconds - Self.reach - 60_000, start <= end else {
            throw .invalid("startTime is more than 30 days ago, or after endTime.")
        }
        guard (1...1000).contains(count) else {
            throw .invalid("maxResults must be from 1 to 1000.")
        }
        let isAll = call.one("type") == "1"
        let hasParts = call.one("includeQuantityBasedPartialRefund") == "true"
        return store.read { world in
            // A page token is the index of the next entry.
            let found = world.play.voids.enumerated().dropFirst(first ?? 0).filter { _, entry in
                (isAll || !entry.isSubscription) && (hasParts || entry.quantity == nil)
                    && (start...end).contains(entry.at.milliseconds)
            }
            let page = found.prefix(Int(count))
            let next = found.dropFirst(Int(count)).first
            let answer: JSON = [:]
            return answer.with(
                "voidedPurchases", page.isEmpty ? nil : .array(page.map(\.element.json))
            ).with(
                "tokenPagination",
                next.map { ["nextPageToken": .string(String($0.offset))] })
        }
    }
}

extension Call {
    /// Returns the body as JSON. An empty body is allowed.
    fileprivate func playBody() throws(PlayError) -> JSON {
        if body.isEmpty { return [:] }
        guard let json = try? JSON.read(body), json.object != nil else {
            throw .invalid("The body is not a JSON object.")
        }
        return json
    }

    fileprivate func number(_ name: String) throws(PlayError) -> Int64? {
        guard let text = one(name) else { return nil }
        guard let number = Int64(text), abs(number) < 1 << 53 else {
            throw .invalid("\(name) is not a number.")
        }
        return number
    }
}
