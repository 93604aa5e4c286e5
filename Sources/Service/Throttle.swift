package import Core
import Synchronization

/// What may be asked for by each of many whom nobody knows, and by all of them together.
package final class Throttle: Sendable {
    /// So many at once, and so many more each second.
    package struct Rate: Sendable {
        let most: Double
        let perSecond: Double

        package init(_ most: Double, perSecond: Double) {
            self.most = most
            self.perSecond = perSecond
        }

        fileprivate var allowance: Allowance { Allowance(most: most, perSecond: perSecond) }
    }
    /// Of how many the share is remembered.
    private static let limit = 10_000

    private struct State {
        var each: [String: Allowance] = [:]
        var all: Allowance?
    }
    private let state: Mutex<State>
    private let each: Rate

    package init(each: Rate, all: Rate? = nil) {
        self.each = each
        state = Mutex(State(all: all?.allowance))
    }

    /// Whether `who` may have one more, which it then has.
    package func take(_ who: String, at now: Instant) -> Bool {
        state.withLock { state in
            var own = state.each[who] ?? each.allowance
            guard own.holdsAny(at: now), state.all?.take(at: now) ?? true else { return false }
            _ = own.take(at: now)
            Throttle.makeRoom(in: &state, at: now)
            state.each[who] = own
            return true
        }
    }

    /// What `who` took was not used.
    package func giveBack(_ who: String) {
        state.withLock { state in
            state.each[who]?.giveBack()
            state.all?.giveBack()
        }
    }

    /// Whether `who` may have one more.
    package func allows(_ who: String, at now: Instant) -> Bool {
        state.withLock { $0.each[who]?.holdsAny(at: now) ?? true }
    }

    private static func makeRoom(in state: inout State, at now: Instant) {
        guard state.each.count >= limit else { return }
        state.each = state.each.filter { entry in
            var allowance = entry.value
            return !allowance.isFull(at: now)
        }
        // More addresses at once than are remembered: what all may have bounds them.
        if state.each.count >= limit { state.each = [:] }
    }
}
