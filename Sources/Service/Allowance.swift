import Core

/// Twenty looks into the database at once, and twenty more each second: what strangers can ask for
/// must not load it.
struct Allowance {
    private static let most = 20.0
    private var left = Allowance.most
    private var filledAt: Instant?

    mutating func take(at now: Instant) -> Bool {
        if let filledAt {
            let elapsed = max(0, now.milliseconds - filledAt.milliseconds)
            left = min(Allowance.most, left + Double(elapsed) * Allowance.most / 1000)
        }
        filledAt = now
        if left < 1 { return false }
        left -= 1
        return true
    }
}
