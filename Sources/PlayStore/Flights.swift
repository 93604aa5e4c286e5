internal import Threading

/// A question in progress, and the callers that wait for its answer.
final class Flight<End: Sendable>: Sendable {
    private struct State: Sendable {
        var end: End?
        var waiting: [Int: @Sendable (End) -> Void] = [:]
        var last = 0
    }
    private let state = Monitor(State())
    private let alarms: Alarms

    init(_ alarms: Alarms) { self.alarms = alarms }

    /// The answer to the question; `nil` until it arrives.
    var end: End? { state.change(wake: .none) { $0.end } }

    /// Returns a course that waits for the answer without asking again. It ends with `late` if the
    /// answer does not arrive in time.
    func joined(until time: PlayTime, late: End) -> Course<End> {
        .wait { [self] resume in
            let go = { @Sendable (end: End) in resume(.work { .ended(end) }) }
            let (known, place) = state.change(wake: .none) { state -> (End?, Int) in
                if let end = state.end { return (end, 0) }
                state.last += 1
                state.waiting[state.last] = go
                return (nil, state.last)
            }
            if let known { return go(known) }
            guard let end = time.end else { return }
            alarms.ring(at: end) { [self] in
                state.change(wake: .none) { $0.waiting.removeValue(forKey: place) }?(late)
            }
        }
    }

    func land(_ end: End) {
        let waiting = state.change(wake: .none) { state in
            state.end = end
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for resume in waiting { resume(end) }
    }
}

/// The questions in progress. Callers with the same question share an answer.
final class Flights<Key: Hashable & Sendable, End: Sendable>: Sendable {
    private let underWay = Monitor<[Key: Flight<End>]>([:])
    private let alarms: Alarms

    init(_ alarms: Alarms) { self.alarms = alarms }

    func share(
        _ key: Key, until time: PlayTime, late: End,
        _ ask: @escaping @Sendable () -> Course<End>
    ) -> Course<End> {
        .work { [self] in
            let (flight, isMine) = underWay.change(wake: .none) { underWay in
                if let known = underWay[key] { return (known, false) }
                let flight = Flight<End>(alarms)
                underWay[key] = flight
                return (flight, true)
            }
            if !isMine { return flight.joined(until: time, late: late) }
            return ask().then { [self] end in
                underWay.change(wake: .none) { $0[key] = nil }
                flight.land(end)
                return .ended(end)
            }
        }
    }
}
