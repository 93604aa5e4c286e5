internal import Core
import Foundation
internal import HTTPServer
internal import JSON
internal import Threading

/// This store's implementation of the App Store Server API.
struct ServerAPI: Sendable {
    let store: PracticeStore
    let now: @Sendable () -> Instant
    private let limits = Monitor(RateLimits())

    init(_ store: PracticeStore, now: @escaping @Sendable () -> Instant) {
        self.store = store
        self.now = now
    }

    func answer(_ call: Call) -> Response {
        let (clock, app) = store.read { ($0.now, $0.shop.app) }
        do throws(TokenRefusal) {
            try store.authority.require(
                call.authorization, bundleID: app.bundleID, at: [clock, now()])
        } catch {
            // The real store does not give a reason. The header helps testers.
            return Response(status: 401, headers: [Header("Practice-Reason", error.reason)])
        }
        do throws(APIError) {
            guard let route = Route(call) else { return Response(status: 404) }
            try limit(route, app.rateLimitPercent ?? 100)
            return try perform(route, call)
        } catch {
            return error.response
        }
    }

    private func limit(_ route: Route, _ percent: Double) throws(APIError) {
        let wait = limits.change(wake: .none) {
            $0.take(route.name.rawValue, route.kind, percent: percent, at: monotonicMilliseconds())
        }
        guard let wait else { return }
        throw APIError(4_290_000, retryAt: now().advanced(byMilliseconds: wait))
    }

    private func perform(_ route: Route, _ call: Call) throws(APIError) -> Response {
        switch route.name {
        case .history, .oldHistory: return try history(route, call)
        case .refunds: return try refunds(route, call)
        case .transaction: return try transaction(route)
        case .appTransaction: return try appTransaction(route)
        case .statuses: return try statuses(route, call)
        case .order: return order(route)
        case .finish, .token, .consumption, .oldConsumption: return try change(route, call)
        case .extend, .extendAll, .extendAllStatus: return try extend(route, call)
        case .notifications: return try notifications(call)
        case .test, .testStatus: return try test(route)
        }
    }
}

/// The parts of a request that handlers use.
struct Call: Sendable {
    let method: String
    let parts: [String]
    let query: [String: [String]]
    let authorization: String?
    /// The host that was addressed, from the `Host` header.
    let host: String
    let body: [UInt8]

    init(_ request: borrowing Request) {
        method = request.method
        // A plus sign stands for a space only in a query.
        parts = request.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        query = Call.form(request.query ?? "")
        host = ((try? request.header("Host")) ?? nil) ?? ""
        authorization = (try? request.header("Authorization")) ?? nil
        body = request.body
    }

    /// Returns the members of a query string or a form.
    static func form(_ text: String) -> [String: [String]] {
        var form: [String: [String]] = [:]
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
            form[decoded(sides.first ?? ""), default: []].append(
                decoded(sides.count > 1 ? sides[1] : ""))
        }
        return form
    }

    func json() throws(APIError) -> JSON {
        guard let json = try? JSON.read(body), json.object != nil else { throw APIError(4_000_000) }
        return json
    }

    func one(_ name: String) -> String? { query[name]?.first }
}

private func decoded(_ text: String) -> String {
    text.replacing("+", with: " ").removingPercentEncoding ?? text
}

/// Identifies which call of the API is being made.
struct Route: Sendable {
    enum Name: String, Sendable {
        case history, oldHistory, refunds, transaction, appTransaction, statuses, order, finish
        case token, consumption, oldConsumption, extend, extendAll, extendAllStatus
        case notifications, test, testStatus
    }

    let name: Name
    let arguments: [String]

    /// `*` stands for a variable part.
    private static let table: [(method: String, path: String, name: Name)] = [
        ("GET", "inApps v2 history *", .history), ("GET", "inApps v1 history *", .oldHistory),
        ("GET", "inApps v2 refund lookup *", .refunds),
        ("GET", "inApps v1 transactions appTransactions *", .appTransaction),
        ("GET", "inApps v1 transactions *", .transaction),
        ("POST", "inApps v1 transactions * finish", .finish),
        ("PUT", "inApps v1 transactions * appAccountToken", .token),
        ("PUT", "inApps v2 transactions consumption *", .consumption),
        ("PUT", "inApps v1 transactions consumption *", .oldConsumption),
        ("POST", "inApps v1 subscriptions extend mass", .extendAll),
        ("GET", "inApps v1 subscriptions extend mass * *", .extendAllStatus),
        ("PUT", "inApps v1 subscriptions extend *", .extend),
        ("GET", "inApps v1 subscriptions *", .statuses), ("GET", "inApps v1 lookup *", .order),
        ("POST", "inApps v1 notifications history", .notifications),
        ("POST", "inApps v1 notifications test", .test),
        ("GET", "inApps v1 notifications test *", .testStatus),
    ]

    init?(_ call: Call) {
        for (method, path, name) in Route.table where method == call.method {
            let pattern = path.split(separator: " ")
            guard pattern.count == call.parts.count else { continue }
            let pairs = zip(pattern, call.parts)
            guard pairs.allSatisfy({ $0 == "*" || $0 == $1 }) else { continue }
            self.name = name
            arguments = pairs.filter { $0.0 == "*" }.map(\.1)
            return
        }
        return nil
    }

    var kind: RateLimits.Kind {
        switch name {
        case .extend, .token: .changing
        case .order, .refunds: .lookingUp
        case .extendAll, .test, .testStatus: .seldom
        default: .reading
        }
    }
}

/// An error from the API, identified by its code.
struct APIError: Error, Sendable {
    let code: Int64
    let message: String
    let retryAt: Instant?

    init(_ code: Int64, retryAt: Instant? = nil) {
        self.code = code
        message = APIError.messages[code] ?? "An error occurred."
        self.retryAt = retryAt
    }

    init(_ refusal: ExtensionRefusal) {
        code = refusal.code
        message = refusal.sentence
        retryAt = nil
    }

    var response: Response {
        let body: JSON = ["errorCode": .integer(code), "errorMessage": .string(message)]
        var response = Response(json: body, status: Int(code / 10_000))
        if let retryAt {
            // Unlike in HTTP, this header's value is an instant in milliseconds.
            response.headers.append(Header("Retry-After", String(retryAt.milliseconds)))
        }
        return response
    }

    private static let messages: [Int64: String] = [
        4_000_000: "Bad request.", 4_000_005: "Invalid request revision.",
        4_000_006: "Invalid transaction id.", 4_000_008: "Invalid original transaction id.",
        4_000_009: "Invalid extend by days value.", 4_000_010: "Invalid extend reason code.",
        4_000_011: "Invalid request identifier.", 4_000_012: "Start date is too far in the past.",
        4_000_013: "Start date is after end date.", 4_000_014: "Invalid pagination token.",
        4_000_015: "Invalid start date.", 4_000_016: "Invalid end date.",
        4_000_018: "Invalid notification type or subtype.",
        4_000_019: "Supply either a transaction id or a notification type.",
        4_000_020: "Invalid test notification token.", 4_000_021: "Invalid sort.",
        4_000_022: "Invalid product type.", 4_000_023: "Invalid product id.",
        4_000_026: "Invalid in-app ownership type.",
        4_000_027: "The list of storefront country codes is empty.",
        4_000_028: "Invalid storefront country code.", 4_000_030: "Invalid revoked.",
        4_000_031: "Invalid status.", 4_000_035: "The customer must have consented.",
        4_000_036: "Invalid delivery status.", 4_000_041: "Invalid sample content provided.",
        4_000_047: "This kind of product is not supported here.",
        4_000_048: "An app transaction id cannot be used here.",
        4_000_183: "The app account token is not a UUID.",
        4_000_185: "Family-shared transactions are not supported here.",
        4_000_187: "The transaction id is not an original one.",
        4_040_005: "Original transaction id not found.",
        4_040_007: "No notification URL is set; see shop.json.",
        4_040_008: "Test notification not found.", 4_040_009: "Status request not found.",
        4_040_010: "Transaction id not found.", 4_290_000: "Rate limit exceeded.",
        5_000_000: "An unknown error occurred.",
    ]
}

extension Response {
    init(json: JSON, status: Int = 200) {
        self.init(
            status: status, headers: [Header("Content-Type", "application/json")], body: json.bytes)
    }
}
