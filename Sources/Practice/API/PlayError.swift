internal import HTTPServer
internal import JSON

/// An error from the Google Play Developer API.
struct PlayError: Error, Sendable {
    let code: Int
    /// Google's codes for the kind of error and the reason.
    let status: String
    let reason: String
    let message: String

    static func invalid(_ message: String, reason: String = "invalid") -> PlayError {
        PlayError(code: 400, status: "INVALID_ARGUMENT", reason: reason, message: message)
    }

    static func missing(_ message: String, reason: String = "notFound") -> PlayError {
        PlayError(code: 404, status: "NOT_FOUND", reason: reason, message: message)
    }

    static let unknownToken = missing(
        "No purchase has this token.", reason: "purchaseTokenNotFound")

    static let expiredToken = PlayError(
        code: 410, status: "NOT_FOUND", reason: "subscriptionPurchaseNoLongerAvailable",
        message: "The subscription expired more than 60 days ago, so it can no longer be read.")

    static let unauthenticated = PlayError(
        code: 401, status: "UNAUTHENTICATED", reason: "authError",
        message: "The access token is missing, unknown or expired.")

    static let exhausted = PlayError(
        code: 429, status: "RESOURCE_EXHAUSTED", reason: "rateLimitExceeded",
        message: "The quota for this kind of call is used up; slow down.")

    static let broken = PlayError(
        code: 500, status: "INTERNAL", reason: "backendError",
        message: "An internal error occurred."
    )

    init(code: Int, status: String, reason: String, message: String) {
        self.code = code
        self.status = status
        self.reason = reason
        self.message = message
    }

    /// The API's error for an action that the store does not allow.
    init(_ error: PracticeError) {
        switch error {
        case .invalid(let text): self = .invalid(text)
        case .refused(let text):
            self.init(
                code: 400, status: "FAILED_PRECONDITION", reason: "failedPrecondition",
                message: text)
        case .broken: self = .broken
        }
    }

    var response: Response {
        let detail: JSON = [
            "message": .string(message), "domain": "global", "reason": .string(reason),
        ]
        let body: JSON = [
            "error": [
                "code": .integer(code), "message": .string(message), "errors": .array([detail]),
                "status": .string(status),
            ]
        ]
        return Response(json: body, status: code)
    }
}

/// How many calls of each kind an app may make, in time windows like Google's.
struct PlayQuotas: Sendable {
    enum Bucket: String, Sendable {
        case subscriptions
        case subscriptionUpdates
        case products
        case orders
        case voided

        /// The lengths of the windows in milliseconds, and the number of calls allowed in each.
        fileprivate var windows: [(length: Int64, calls: Double)] {
            self == .voided ? [(30_000, 30), (86_400_000, 6000)] : [(60_000, 3000)]
        }
    }

    private struct Window: Hashable {
        let bucket: Bucket
        let length: Int64
    }

    private var counts: [Window: (place: Int64, calls: Int)] = [:]

    /// Counts a call. Returns whether the call is allowed.
    mutating func take(_ bucket: Bucket, percent: Double, at milliseconds: Int64) -> Bool {
        for (length, calls) in bucket.windows {
            let window = Window(bucket: bucket, length: length)
            let place = milliseconds / length
            let kept = counts[window].flatMap { $0.place == place ? $0.calls : nil } ?? 0
            guard Double(kept) < max(1, calls * percent / 100) else { return false }
            counts[window] = (place, kept + 1)
        }
        return true
    }
}
