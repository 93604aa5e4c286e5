internal import Core
internal import JSON
internal import Outbound

/// The groups into which Google Play divides calls to count them.
enum PlayBucket: String, Sendable {
    case subscriptions
    case products
    case orders
    case accessTokens = "access_tokens"

    /// The number of calls per minute that Google allows in this group.
    private var perMinute: Int64 { self == .accessTokens ? 60 : 3000 }

    /// Deed uses nine tenths of the limit, because other programs of the same owner may also make calls.
    func turn(_ app: StoreApp) -> StoreTurn {
        let pause = 60_000_000 * 10 / (perMinute * 9)
        let budget = StoreBudget(name: "google_\(rawValue)", pause: pause, burst: 6_000_000)
        // Even after a full burst, the calls in the first minute stay below the limit. Google has
        // one host for both environments, so all calls count as production. The answer states the
        // purchase's environment.
        return StoreTurn(app, in: .production, under: budget)
    }
}

/// An answer that reports an error instead of a result.
struct PlayRefusal {
    private let status: Int
    private let error: JSON?
    private let question: PlayQuestion
    private var app: AppID { question.app.key.id }

    init(_ response: OutboundResponse, to question: PlayQuestion) {
        status = response.status
        let error = (try? JSON.read(response.body))?["error"]
        self.error = error?.object == nil ? nil : error
        self.question = question
    }

    /// Google's codes for the reason, from both of its error formats.
    private var reasons: Set<String> {
        let old = error?["errors"]?.array?.compactMap { $0["reason"]?.string } ?? []
        let new = error?["details"]?.array?.compactMap { $0["reason"]?.string } ?? []
        return Set(old + new)
    }

    private static let limits: Set<String> = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
        "RATE_LIMIT_EXCEEDED",
    ]
    private static let unopened: Set<String> = [
        "accessNotConfigured", "SERVICE_DISABLED", "projectNotLinked",
    ]
    private static let forbidden: Set<String> = [
        "permissionDenied", "insufficientPermissions", "PERMISSION_DENIED",
    ]
    /// The reasons that mean that nothing was bought with a token, besides the statuses 404 and 410.
    private static let unknown: Set<String> = [
        "invalid", "invalidValue", "purchaseTokenNotFound", "purchaseTokenDoesNotMatchPackageName",
        "purchaseTokenDoesNotMatchProductId",
    ]
    private static let pause: Int64 = 60_000

    func trouble(now: Instant) -> StoreTrouble {
        // Only an answer in Google's format comes from Google. Other answers may come from a proxy.
        guard let error else { return .notFromGoogle(status) }
        let message = (error["message"]?.string ?? "").printed(without: question.token)
        if isAboutPackage(message) { return .unknownPackage(app) }
        switch status {
        // For up to a day after an account is invited, Google may answer either 401 or 403.
        case 401 where reasons.isDisjoint(with: Self.forbidden): return .unauthorized
        case 401, 403, 429:
            if status == 429 || !reasons.isDisjoint(with: Self.limits) {
                return .limited(until: now.advanced(byMilliseconds: Self.pause))
            }
            return reasons.isDisjoint(with: Self.unopened) ? .noPermission(of: app) : .unopenedAPI
        case 400 where !reasons.isDisjoint(with: Self.unknown), 404, 410:
            return .refused(code: Int64(status), message: message, meaning: .purchaseUnknown)
        case 400..<500: return .refused(code: Int64(status), message: message)
        default: return .unavailable("it answered \(status)")
        }
    }

    /// Returns whether it is the app itself that Google does not know, and not what the question asked for.
    private func isAboutPackage(_ message: String) -> Bool {
        reasons.contains("applicationNotFound")
            || status == 400 && message.contains("package \(app.text)")
    }
}

extension StoreTrouble {
    fileprivate static func notFromGoogle(_ status: Int) -> StoreTrouble {
        .unavailable("it answered \(status) in a form that is not Google's")
    }

    static func noKey(of app: AppID) -> StoreTrouble {
        .unconfigured(
            "Deed has no key for Google Play for \(app). In the Google Cloud console, create a key for "
                + "a service account (IAM & Admin, Service Accounts, Keys, Add key, JSON), and set it "
                + "with: deed app set --package \(app) --service-account-file FILE")
    }

    static func rejectedKey(of app: AppID) -> StoreTrouble {
        denied(
            "Google rejects the service account's key: the key or its account was deleted or disabled, or "
                + "this machine's clock is wrong. In the Google Cloud console, open IAM & Admin, "
                + "Service Accounts, Keys; if the key is not listed there, add one and set it with: "
                + "deed app set --package \(app) --service-account-file FILE", isKey: true)
    }

    fileprivate static func noPermission(of app: AppID) -> StoreTrouble {
        denied(
            "Google does not let the service account read this for \(app). In the Play Console, open "
                + "Users and permissions, invite the account by its e-mail address, and give it "
                + "\"View app information\" and \"View financial data, orders, and cancellation "
                + "survey responses\" for the app. A new permission can take a day to work.",
            isKey: false)
    }

    fileprivate static let unopenedAPI = denied(
        "The Google Play Android Developer API is not enabled in the Google Cloud project of the "
            + "service account: in the Google Cloud console, open APIs & Services, Library, and enable "
            + "it.", isKey: false)

    fileprivate static func unknownPackage(_ app: AppID) -> StoreTrouble {
        denied(
            "Google has no app \(app) that this service account may see: check the package name in "
                + "the Play Console, and that the account has been invited to the developer account that "
                + "owns the app.", isKey: false)
    }
}

extension String {
    /// Returns the message in one short line, without the token, which the store may have repeated.
    fileprivate func printed(without token: String?) -> String {
        let text = token.map { replacing($0, with: "…") } ?? self
        return String(text.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) }.prefix(300))
    }
}
