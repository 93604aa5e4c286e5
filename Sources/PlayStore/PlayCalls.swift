package import Core
internal import Evidence
internal import JSON
internal import StoreAccess
internal import Threading

/// The calls that people make to Google through `deed store` and `deed app check`.
extension PlayStoreClient {
    package func ask(
        _ call: StoreCall, about app: StoreApp, in environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        switch call {
        case .order(let id): return try answer(toOrder: id, of: app)
        case .reading(let token, _):
            return try answer(
                PlayTokenKey(app: app, token: token, product: nil, kind: .autoRenewable))
        case .probe(let probe):
            try self.probe(probe, of: app)
            return StoreAnswer(environment: .production)
        default: throw .unsupported(call.remedy)
        }
    }

    /// Returns an order as Google describes it.
    func order(_ id: String, of app: StoreApp) throws(StoreTrouble) -> PlayOrder {
        try reading(.order(id, of: app), PlayTime(patience)) { bytes throws(EvidenceRefusal) in
            PlayOrder(try? JSON.read(bytes))
        }.awaited().get().statement.orThrow()
    }

    /// Reads up to a thousand orders. If Google does not know one of them, the whole call fails.
    func orders(_ ids: [String], of app: StoreApp) throws(StoreTrouble) -> [PlayOrder] {
        let answer = try reading(.orders(ids, of: app), PlayTime(patience)) {
            bytes throws(EvidenceRefusal) in (try? JSON.read(bytes))?["orders"]?.array
        }.awaited().get().statement
        guard let answer else { throw .unreadable("it is not a list of orders") }
        return try answer.map { json throws(StoreTrouble) in try PlayOrder(json).orThrow() }
    }

    private func answer(
        toOrder id: String, of app: StoreApp
    ) throws(StoreTrouble) -> StoreAnswer {
        let order: PlayOrder
        do throws(StoreTrouble) {
            order = try self.order(id, of: app)
        } catch {
            guard case .refused(let code, _, _) = error, [400, 404].contains(code)
            else { throw error }
            var answer = StoreAnswer(environment: .production)
            answer.remark = .order(isFound: false)
            return answer
        }
        guard order.id == id else { throw .foreign("it is about another order") }
        let key = PlayTokenKey(app: app, token: order.token, product: order.product)
        var answer = try self.answer(key)
        answer.remark = .order(isFound: true)
        return answer
    }

    /// Google's statement about a token, in the form of evidence.
    func answer(_ key: PlayTokenKey) throws(StoreTrouble) -> StoreAnswer {
        let chain = try chain(key, PlayTime(patience)).awaited().get()
        let app = TrustedApp(id: key.app.key.id, appleID: nil)
        let foreign = { (error: RefusedEvidence) in
            StoreTrouble.unreadable("\(error.code): \(error.sentence)")
        }
        let proven = try rethrowing(as: foreign) { () throws(RefusedEvidence) in
            try prove(chain, of: app, now: line.machineClock())
        }
        var answer = StoreAnswer(environment: proven.last?.environment ?? .production)
        answer.vouched = proven
        answer.byteCount = chain.links.reduce(0) { $0 + $1.bytes.count }
        return answer
    }

    private static let noToken = "deed-app-check-asks-for-a-token-that-no-purchase-has"
    private static let noOrder = "GPA.0000-0000-0000-00000"

    /// Asks for a purchase or an order that does not exist. This tests the account, because Google
    /// first checks whether the account may ask.
    private func probe(_ probe: StoreProbe, of app: StoreApp) throws(StoreTrouble) {
        do throws(StoreTrouble) {
            switch probe {
            case .purchases:
                _ = try subscription(Self.noToken, of: app, PlayTime(patience)).awaited().get()
            case .orders: _ = try order(Self.noOrder, of: app)
            }
        } catch {
            if case .refused(let code, _, _) = error, [400, 404, 410].contains(code) { return }
            throw error
        }
    }
}

/// An order in Google Play.
struct PlayOrder: Hashable, Sendable {
    let id: String
    let token: String
    /// The state of the order, as Google names it.
    let state: String?
    /// The product of the first item in the order.
    let product: ProductID?

    init?(_ json: JSON?) {
        guard let id = json?["orderId"]?.string, let token = json?["purchaseToken"]?.string,
            !token.isEmpty
        else { return nil }
        self.id = id
        self.token = token
        state = json?["state"]?.string
        product = json?["lineItems"]?.array?.first?["productId"]?.string
            .flatMap { try? ProductID($0) }
    }
}

extension PlayOrder? {
    fileprivate func orThrow() throws(StoreTrouble) -> PlayOrder {
        guard let self else { throw .unreadable("it is not an order") }
        return self
    }
}

extension StoreCall {
    /// What to do instead of a call that Google's API does not offer.
    fileprivate var remedy: String {
        switch self {
        case .transaction, .history, .refunds, .standings, .installation:
            "Ask for an order instead: deed store order GPA.…; or have the app send its purchase "
                + "tokens again, and submit them."
        case .notifications, .test, .testResult:
            "Send a test notification from the Play Console, under Monetization setup."
        case .finish: "The app acknowledges or consumes the purchase with Play's billing library."
        case .setToken: "The app names the customer when it buys, with setObfuscatedAccountId."
        case .extend, .extendAll, .extendAllResult:
            "Defer the renewal in the Play Console's order management."
        case .consumption: "Answer the refund in the Play Console's order management."
        case .order, .reading, .probe: "Ask again with a newer release."
        }
    }
}
