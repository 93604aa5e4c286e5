import Threading

/// Plain threads that do what would hold up others, from a queue of bounded length.
final class WorkerPool: Sendable {
    private struct State {
        var waiting: [(@Sendable () -> Void)?]
        var first = 0
        var count = 0
        var busy = 0
        var running: Int
        var isStopped = false

        mutating func next() -> (@Sendable () -> Void)? {
            guard count > 0 else { return nil }
            defer {
                first = (first + 1) % waiting.count
                count -= 1
            }
            return waiting[first].take()
        }
    }
    private let state: Monitor<State>

    init(workers: Int, queue: Int) {
        state = Monitor(
            State(waiting: Array(repeating: nil, count: max(1, queue)), running: workers))
        for number in 1...workers {
            startThread("worker-\(number)") { [state] in Self.work(state) }
        }
    }

    var depth: Int { state.change(wake: .nobody) { $0.count } }
    var busy: Int { state.change(wake: .nobody) { $0.busy } }

    /// Queues `work`, after `prepare`; neither happens when the queue is full.
    func submit(prepare: () -> Void, _ work: @escaping @Sendable () -> Void) -> Bool {
        state.change(wake: .one) { state in
            guard state.count < state.waiting.count, !state.isStopped else { return false }
            prepare()
            state.waiting[(state.first + state.count) % state.waiting.count] = work
            state.count += 1
            return true
        }
    }

    /// Ends the threads once the queue is empty, and waits for them.
    func stop() {
        state.change { $0.isStopped = true }
        state.wait { $0.running == 0 ? () : nil }
    }

    private static func work(_ state: Monitor<State>) {
        enum Turn { case work(@Sendable () -> Void), stop }
        while true {
            let turn: Turn = state.wait { state in
                if let work = state.next() {
                    state.busy += 1
                    return .work(work)
                }
                return state.isStopped ? .stop : nil
            }
            guard case .work(let work) = turn else { break }
            work()
            state.change(wake: .nobody) { $0.busy -= 1 }
        }
        state.change { $0.running -= 1 }
    }
}
