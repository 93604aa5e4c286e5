internal import Core
internal import HTTPServer
internal import JSON
internal import Threading

/// This store's implementation of the Google Play Developer API.
struct PlayAPI: Sendable {
    let store: PracticeStore
    let tokens: PlayTokens
    private let quotas = Monitor(PlayQuotas())

    /// Returns `nil` if the store has no service account.
    init?(_ store: PracticeStore, now: @escaping @Sendable () -> Instant) {
        guard let account = store.account else { return nil }
        self.store = store
        tokens = PlayTokens(account, store, now: now)
    }

    func answer(_ call: Call) -> Response {
        do throws(PlayError) {
            guard let route = PlayRoute(call) else { throw .missing("There is no such call.") }
            guard tokens.allows(call.authorization) else { throw .unauthenticated }
            let shop = store.read { $0.shop.google }
            guard let shop, route.package == shop.packageName else {
                throw .invalid("The package \(route.package) is not in this store.")
            }
            let isAllowed = quotas.change(wake: .none) {
                $0.take(
                    route.bucket, percent: shop.quotaPercent ?? 100, at: monotonicMilliseconds())
            }
            guard isAllowed else { throw .exhausted }
            return Response(json: try perform(route, call))
        } catch {
            var response = error.response
            if error.code == 401 {
                response.headers.append(Header("WWW-Authenticate", "Bearer realm=\"practice\""))
            }
            return response
        }
    }

    private func perform(_ route: PlayRoute, _ call: Call) throws(PlayError) -> JSON {
        switch route.name {
        case .subscription:
            let token = try checked(route.arguments[0])
            return try read { world throws(PlayError) in
                world.playAnswer(of: try world.readableSubscription(token))
            }
        case .cancel, .postpone, .revoke, .acknowledgeSubscription:
            return try changeSubscription(route, call)
        case .product, .oldProduct, .acknowledgeProduct, .consume: return try product(route)
        case .voided: return try voided(call)
        case .order:
            return try read { world throws(PlayError) in
                try world.playAnswer(ofOrder: route.arguments[0])
            }
        case .orders: return try orders(call)
        case .refund: return try refund(route, call)
        }
    }

    func read(
        _ body: (inout PracticeWorld) throws(PlayError) -> JSON
    ) throws(PlayError) -> JSON {
        try store.read { world throws(PlayError) in try body(&world) }
    }

    /// Changes the world. If the call is refused halfway through, nothing changes.
    func change(
        _ body: (inout PracticeWorld) throws(PlayError) -> JSON
    ) throws(PlayError) -> JSON {
        let result = store.changeSoon { world -> Result<JSON, PlayError> in
            var changed = world
            do throws(PlayError) {
                let answer = try body(&changed)
                world = changed
                return .success(answer)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    func checked(_ token: String) throws(PlayError) -> String {
        let isProper = token.utf8.allSatisfy { byte in
            Character(UnicodeScalar(byte)).isLetter || (0x30...0x39).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        guard isProper, (20...500).contains(token.utf8.count) else {
            throw .invalid("The purchase token is malformed.")
        }
        return token
    }

    private func orders(_ call: Call) throws(PlayError) -> JSON {
        let ids = call.query["orderIds"] ?? []
        guard (1...1000).contains(ids.count), Set(ids).count == ids.count else {
            throw .invalid("orderIds takes 1 to 1000 distinct ids.")
        }
        return try read { world throws(PlayError) in
            var orders: [JSON] = []
            // If one of the orders is unknown, the whole call fails.
            for id in ids { orders.append(try world.playAnswer(ofOrder: id)) }
            return ["orders": .array(orders)]
        }
    }

    private static let threeYears: Int64 = 3 * 365 * 86_400_000

    private func refund(_ route: PlayRoute, _ call: Call) throws(PlayError) -> JSON {
        let revokes = call.one("revoke") == "true"
        return try change { world throws(PlayError) in
            guard let order = world.play.orders[route.arguments[0]] else {
                throw .missing("There is no order with this id.", reason: "orderNotFound")
            }
            if world.now.milliseconds - order.created.milliseconds > Self.threeYears {
                throw .invalid("Orders that are more than three years old cannot be refunded here.")
            }
            try asPlay { () throws(PracticeError) in
                try world.refundOrder(order.id, revokes: revokes, by: .developer)
            }
            return [:]
        }
    }
}

/// Runs `body`, and converts the store's refusals into errors of the API.
func asPlay<Result>(
    _ body: () throws(PracticeError) -> Result
) throws(PlayError) -> Result {
    do throws(PracticeError) {
        return try body()
    } catch {
        throw PlayError(error)
    }
}

extension PracticeWorld {
    /// Returns the subscription with that token, unless it expired too long ago to be read.
    func readableSubscription(_ token: String) throws(PlayError) -> PlaySubscription {
        guard let one = play.subscriptions[token] else { throw .unknownToken }
        if let ended = one.ended, now >= pace.end(ofDays: 60, after: ended) { throw .expiredToken }
        return one
    }

    fileprivate func playAnswer(ofOrder id: String) throws(PlayError) -> JSON {
        guard let order = play.orders[id] else {
            throw .missing("There is no order with this id.", reason: "orderNotFound")
        }
        return playAnswer(of: order)
    }
}

/// Identifies which call of the API is being made.
struct PlayRoute: Sendable {
    enum Name: Sendable {
        case subscription, cancel, postpone, revoke, acknowledgeSubscription
        case product, oldProduct, acknowledgeProduct, consume
        case voided, order, orders, refund
    }

    let name: Name
    let package: String
    let arguments: [String]

    /// `*` stands for a variable part.
    private static let table: [(method: String, path: String, name: Name)] = [
        ("GET", "purchases subscriptionsv2 tokens *", .subscription),
        ("POST", "purchases subscriptionsv2 tokens *:cancel", .cancel),
        ("POST", "purchases subscriptionsv2 tokens *:defer", .postpone),
        ("POST", "purchases subscriptionsv2 tokens *:revoke", .revoke),
        ("POST", "purchases subscriptions * tokens *:acknowledge", .acknowledgeSubscription),
        ("GET", "purchases productsv2 tokens *", .product),
        ("GET", "purchases products * tokens *", .oldProduct),
        ("POST", "purchases products * tokens *:acknowledge", .acknowledgeProduct),
        ("POST", "purchases products * tokens *:consume", .consume),
        ("GET", "purchases voidedpurchases", .voided), ("GET", "orders *", .order),
        ("GET", "orders:batchGet", .orders), ("POST", "orders *:refund", .refund),
    ]

    init?(_ call: Call) {
        guard call.parts.count > 4, call.parts[1] == "v3", call.parts[2] == "applications" else {
            return nil
        }
        package = call.parts[3]
        let parts = call.parts[4...]
        for (method, path, name) in Self.table where method == call.method {
            let pattern = path.split(separator: " ")
            guard pattern.count == parts.count else { continue }
            let matches = zip(pattern, parts).map { Self.match(String($0), $1) }
            guard !matches.contains(where: { $0 == nil }) else { continue }
            self.name = name
            arguments = matches.compactMap(\.self).flatMap(\.self)
            return
        }
        return nil
    }

    /// Returns the variable parts of a string that matches the pattern, or `nil` if the string does not match.
    private static func match(_ pattern: String, _ text: String) -> [String]? {
        guard pattern.hasPrefix("*") else { return pattern == text ? [] : nil }
        let verb = String(pattern.dropFirst())
        guard text.hasSuffix(verb), text.utf8.count > verb.utf8.count else { return nil }
        return [String(text.dropLast(verb.count))]
    }

    var bucket: PlayQuotas.Bucket {
        switch name {
        case .subscription: .subscriptions
        case .cancel, .postpone, .revoke, .acknowledgeSubscription: .subscriptionUpdates
        case .product, .oldProduct, .acknowledgeProduct, .consume: .products
        case .voided: .voided
        case .order, .orders, .refund: .orders
        }
    }
}
