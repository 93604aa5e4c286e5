package import Core

/// A limit on how often something may happen: a number of times in a burst, and then a number of
/// times per second.
package struct Rate: Sendable {
    let burst: Double
    let perSecond: Double

    package init(_ burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
    }
}

/// Limits for callers who are not authenticated. They are listed in `docs/security.md`.
extension Rate {
    package static let unknownKeys = Rate(50, perSecond: 5)
    /// The limit on notifications with new certificates. It applies to each address and to all addresses together.
    static let newSigners = Rate(10, perSecond: 2)
    static let allNewSigners = Rate(60, perSecond: 20)
    /// The limit on unverified notifications from an address that has sent genuine ones before.
    static let unprovenNotifications = Rate(200, perSecond: 10)
    /// The limit on database lookups for a key or an app that is missing from memory.
    static let reloads = Rate(20, perSecond: 20)
}

/// What remains of a rate limit.
struct Allowance {
    private let rate: Rate
    private var rest: Double
    private var filledAt: Instant?

    init(_ rate: Rate) {
        self.rate = rate
        rest = rate.burst
    }

    /// Returns the remaining amount at the given instant.
    func left(at now: Instant) -> Double {
        let elapsed = filledAt.map { max(0, now.milliseconds - $0.milliseconds) } ?? 0
        return min(rate.burst, rest + Double(elapsed) * rate.perSecond / 1000)
    }

    func isFull(at now: Instant) -> Bool { left(at: now) >= rate.burst }

    mutating func take(at now: Instant) -> Bool {
        rest = left(at: now)
        filledAt = now
        if rest < 1 { return false }
        rest -= 1
        return true
    }

    mutating func giveBack() { rest = min(rate.burst, rest + 1) }
}

/// Applies a limit to each caller, and to all callers together.
package struct Throttle: Sendable {
    /// The maximum number of callers with separate allowances. All other callers share one, so that
    /// sending from many addresses gives an attacker no advantage.
    private static let limit = 10_000

    private let each: Rate
    private var own: [String: Allowance] = [:]
    private var others: Allowance
    private var all: Allowance?
    private var sweptAt: Instant?

    package init(each: Rate, all: Rate? = nil) {
        self.each = each
        others = Allowance(each)
        self.all = all.map(Allowance.init)
    }

    /// Returns whether `who` may act once more.
    package mutating func allows(_ who: String, at now: Instant) -> Bool {
        makeRoom(for: who, at: now)
        return self[who].left(at: now) >= 1
    }

    /// Takes one unit of the allowance of `who`. Returns false if none is left.
    package mutating func take(_ who: String, at now: Instant) -> Bool {
        guard allows(who, at: now), all?.take(at: now) ?? true else { return false }
        return self[who].take(at: now)
    }

    /// Gives back a unit that `who` took but did not use.
    package mutating func giveBack(_ who: String) {
        self[who].giveBack()
        all?.giveBack()
    }

    private subscript(who: String) -> Allowance {
        get { own[who] ?? (own.count < Throttle.limit ? Allowance(each) : others) }
        set {
            if own[who] != nil || own.count < Throttle.limit {
                own[who] = newValue
            } else {
                others = newValue
            }
        }
    }

    /// Removes callers who have not used their allowance recently. Checks all callers, and
    /// therefore runs at most once a second.
    private mutating func makeRoom(for who: String, at now: Instant) {
        guard own.count >= Throttle.limit, own[who] == nil else { return }
        if let sweptAt, now.milliseconds - sweptAt.milliseconds < 1000 { return }
        sweptAt = now
        own = own.filter { !$0.value.isFull(at: now) }
    }
}
