/// How many calls of each kind an app may make per hour.
struct RateLimits: Sendable {
    enum Kind: String, Sendable {
        case reading
        case changing
        case lookingUp
        case seldom

        /// Production's limit in calls per second, averaged over the hour.
        var perSecond: Double {
            switch self {
            case .reading: 50
            case .changing: 20
            case .lookingUp: 10
            case .seldom: 1
            }
        }
    }

    private var left: [String: (calls: Double, at: Int64)] = [:]

    /// Counts a call with the given name. After too many calls, returns the milliseconds to wait.
    mutating func take(
        _ name: String, _ kind: Kind, percent: Double, at milliseconds: Int64
    ) -> Int64? {
        let rate = kind.perSecond * percent / 100
        let most = max(1, rate * 3600)
        var entry = left[name] ?? (most, milliseconds)
        let passed = Double(max(0, milliseconds - entry.at)) / 1000
        entry = (min(most, entry.calls + passed * rate), milliseconds)
        defer { left[name] = entry }
        guard entry.calls >= 1 else {
            return Int64(((1 - entry.calls) / max(rate, 0.000_001) * 1000).rounded(.up))
        }
        entry.calls -= 1
        return nil
    }
}
