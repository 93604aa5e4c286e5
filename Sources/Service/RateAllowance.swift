import Core

/// A burst, and a rate per second: what strangers can ask for must not load what others
/// need. By default twenty looks into the database.
struct RateAllowance {
    private let most: Double
    private let perSecond: Double
    private var left: Double
    private var filledAt: Instant?

    init(most: Double = 20, perSecond: Double = 20) {
        self.most = most
        self.perSecond = perSecond
        left = most
    }

    mutating func take(at now: Instant) -> Bool {
        if !holdsAny(at: now) { return false }
        left -= 1
        return true
    }

    mutating func giveBack() { left = min(most, left + 1) }

    /// Whether one more may be taken.
    mutating func holdsAny(at now: Instant) -> Bool {
        if let filledAt {
            let elapsed = max(0, now.milliseconds - filledAt.milliseconds)
            left = min(most, left + Double(elapsed) * perSecond / 1000)
        }
        filledAt = now
        return left >= 1
    }

    /// Whether nothing was taken lately.
    mutating func isFull(at now: Instant) -> Bool {
        _ = holdsAny(at: now)
        return left >= most
    }
}
