package import Core
import Synchronization

/// What each of many strangers may ask for, and all of them together.
package final class Throttle: Sendable {
    /// A burst, and a rate per second.
    package struct Rate: Sendable {
        let most: Double
        let perSecond: Double

        package init(_ most: Double, perSecond: Double) {
            self.most = most
            self.perSecond = perSecond
        }

        fileprivate var allowance: RateAllowance { RateAllowance(most: most, perSecond: perSecond) }
    }
    /// Of how many the share is remembered. All others have one share together, so that many who come once
    /// win nothing.
    private static let limit = 10_000

    private struct State {
        var each: [String: RateAllowance] = [:]
        var others: RateAllowance
        var all: RateAllowance?
        var sweptAt: Instant?

        func own(_ who: String) -> RateAllowance? {
            each[who] ?? (each.count < Throttle.limit ? nil : others)
        }
    }
    private let state: Mutex<State>
    private let each: Rate

    package init(each: Rate, all: Rate? = nil) {
        self.each = each
        state = Mutex(State(others: each.allowance, all: all?.allowance))
    }

    /// Whether `who` may have one more, which it then has.
    package func take(_ who: String, at now: Instant) -> Bool {
        state.withLock { state in
            if state.each[who] == nil { Throttle.makeRoom(in: &state, at: now) }
            var own = state.own(who) ?? each.allowance
            guard own.holdsAny(at: now), state.all?.take(at: now) ?? true else { return false }
            _ = own.take(at: now)
            if state.each[who] == nil, state.each.count >= Throttle.limit {
                state.others = own
            } else {
                state.each[who] = own
            }
            return true
        }
    }

    /// What `who` took was not used.
    package func giveBack(_ who: String) {
        state.withLock { state in
            if state.each[who] != nil {
                state.each[who]?.giveBack()
            } else {
                state.others.giveBack()
            }
            state.all?.giveBack()
        }
    }

    /// Whether `who` may have one more.
    package func allows(_ who: String, at now: Instant) -> Bool {
        state.withLock { state in
            if state.each[who] == nil { Throttle.makeRoom(in: &state, at: now) }
            var own = state.own(who)
            return own?.holdsAny(at: now) ?? true
        }
    }

    /// Forgets those who took nothing lately, once a second at most: it looks at all of them.
    private static func makeRoom(in state: inout State, at now: Instant) {
        guard state.each.count >= limit else { return }
        if let last = state.sweptAt, now.milliseconds - last.milliseconds < 1000 { return }
        state.sweptAt = now
        state.each = state.each.filter { entry in
            var allowance = entry.value
            return !allowance.isFull(at: now)
        }
    }
}
