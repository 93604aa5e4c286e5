/// A version such as `1.10.3`. Comparisons go part by part. A missing part counts as 0, and text
/// after a part's digits is ignored.
package struct AppVersion: Hashable, Comparable, Sendable {
    // Digits without leading zeros, so that no part can overflow. Trailing parts that are zero are
    // dropped.
    private let parts: [String]

    /// `nil` if the text does not begin with a digit. Stores send an empty string for an unknown
    /// version.
    package init?(_ text: String) {
        guard let first = text.utf8.first, first.decimalDigit != nil else { return nil }
        var parts = text.split(separator: ".", omittingEmptySubsequences: false).map { part in
            String(part.prefix { $0.isASCII && $0.isNumber }.drop { $0 == "0" })
        }
        while parts.last?.isEmpty == true { parts.removeLast() }
        self.parts = parts
    }

    /// A version later than any that an app can have.
    static let unknown = AppVersion(parts: [String(repeating: "9", count: 64)])

    private init(parts: [String]) {
        self.parts = parts
    }

    package static func < (one: Self, other: Self) -> Bool {
        for index in 0..<max(one.parts.count, other.parts.count) {
            let left = index < one.parts.count ? one.parts[index] : ""
            let right = index < other.parts.count ? other.parts[index] : ""
            if left.utf8.count != right.utf8.count { return left.utf8.count < right.utf8.count }
            if left != right { return left < right }
        }
        return false
    }
}

extension AppFact {
    /// Returns whether this fact states an earlier installation of the same app. Only one installation can be the
    /// first, so the earliest statement prevails, regardless of the order of arrival.
    func outweighs(_ other: AppFact) -> Bool {
        let (version, otherVersion) = (self.version, other.version)
        if version != otherVersion { return version < otherVersion }
        if installed != other.installed { return installed < other.installed }
        if signedAt != other.signedAt { return signedAt < other.signedAt }
        return self != other && content(of: other, follows: self)
    }

    /// The version that was installed first. An unreadable version counts as later than any other.
    private var version: AppVersion { AppVersion(originalVersion) ?? .unknown }

    /// When the app was first installed, or else when the installation was first stated.
    var installed: Instant { originallyPurchased ?? signedAt }

    func isOfEarlierApp(than other: AppFact) -> Bool {
        store == other.store ? app < other.app : store.rawValue < other.store.rawValue
    }
}
