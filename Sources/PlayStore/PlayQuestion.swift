internal import Core
internal import Foundation
internal import StoreAccess
internal import Threading

/// A question to Google Play about an app.
struct PlayQuestion: Sendable {
    let app: StoreApp
    let bucket: PlayBucket
    /// The part of the path after the app.
    let path: String
    /// A purchase token in the path, which must not be printed.
    let token: String?

    private init(
        _ app: StoreApp, _ bucket: PlayBucket, _ path: String, about token: String? = nil
    ) {
        self.app = app
        self.bucket = bucket
        self.path = path
        self.token = token
    }

    static func subscription(_ token: String, of app: StoreApp) -> PlayQuestion {
        PlayQuestion(
            app, .subscriptions, "purchases/subscriptionsv2/tokens/\(coded(token))",
            about: token)
    }

    static func purchase(_ token: String, of app: StoreApp) -> PlayQuestion {
        PlayQuestion(app, .products, "purchases/productsv2/tokens/\(coded(token))", about: token)
    }

    static func product(
        _ product: ProductID, _ token: String, of app: StoreApp
    ) -> PlayQuestion {
        let path = "purchases/products/\(coded(product.text))/tokens/\(coded(token))"
        return PlayQuestion(app, .products, path, about: token)
    }

    static func order(_ id: String, of app: StoreApp) -> PlayQuestion {
        PlayQuestion(app, .orders, "orders/\(coded(id))")
    }

    static func orders(_ ids: [String], of app: StoreApp) -> PlayQuestion {
        let query = ids.map { "orderIds=\(coded($0))" }.joined(separator: "&")
        return PlayQuestion(app, .orders, "orders:batchGet?\(query)")
    }

    func url(at host: String) -> String {
        "\(host)/androidpublisher/v3/applications/\(Self.coded(app.key.id.text))/\(path)"
    }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Returns one segment of a path, encoded so that a purchase token cannot lead to a different path.
    private static func coded(_ text: String) -> String {
        // A segment of dots alone would refer to a different level of the path.
        if text.allSatisfy({ $0 == "." }) { return text.replacing(".", with: "%2E") }
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

/// How long to wait for Google.
struct PlayTime: Sendable {
    private let usual: StorePatience
    /// The deadline on the monotonic clock; `nil` for calls made by people, in which each question
    /// has a separate time limit.
    let end: Int64?

    init(_ usual: StorePatience, within milliseconds: Int64? = nil) {
        self.usual = usual
        end = milliseconds.map { monotonicMilliseconds() + $0 }
    }

    /// The remaining time; `nil` if the time is up.
    var left: StorePatience? {
        guard let end else { return usual }
        let left = Int(end - monotonicMilliseconds())
        if left <= 0 { return nil }
        return StorePatience(
            firstByte: min(left, usual.firstByte), whole: min(left, usual.whole))
    }
}
