import Threading

/// Threads with a bounded queue, for work that would delay other work.
final class WorkerPool: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var waiting: [Work?]
        var first = 0
        var count = 0
        /// Work that was started earlier and now continues. It comes before queued work, and no limit applies to it.
        var begun: [Work] = []
        var busy = 0
        var idle = 0
        var running: Int
        /// Whether an idle worker was woken and has not looked at the queue yet. That worker will wake the next one.
        /// Waking a worker costs more than most answers, so a burst of requests must not wake a worker for each of
        /// them.
        var isWaking = false
        var isStopped = false

        mutating func append(_ work: @escaping Work) {
            waiting[(first + count) % waiting.count] = work
            count += 1
        }

        mutating func next() -> Work? {
            if !begun.isEmpty { return begun.removeFirst() }
            guard count > 0 else { return nil }
            defer {
                first = (first + 1) % waiting.count
                count -= 1
            }
            return waiting[first].take()
        }

        /// Returns whether the caller has to wake a worker.
        mutating func claimWaking() -> Bool {
            guard count > 0 || !begun.isEmpty, idle > 0, !isWaking else { return false }
            isWaking = true
            return true
        }
    }
    private let state: Monitor<State>

    init(_ name: String = "worker", workers: Int, queue: Int, urgency: Urgency = .patient) {
        state = Monitor(
            State(waiting: Array(repeating: nil, count: max(1, queue)), running: max(1, workers)))
        for number in 1...max(1, workers) {
            startThread("\(name)-\(number)", urgency) { [state] in Self.work(state) }
        }
    }

    var depth: Int { state.change(wake: .none) { $0.count } }
    var busy: Int { state.change(wake: .none) { $0.busy } }

    /// Calls `prepare` and queues `work`. If the queue is full, does neither and returns false.
    func submit(prepare: () -> Void, _ work: @escaping Work) -> Bool {
        let (isQueued, isWaking) = state.change(wake: .none) { state in
            guard state.count < state.waiting.count, !state.isStopped else { return (false, false) }
            prepare()
            state.append(work)
            return (true, state.claimWaking())
        }
        if isWaking { Self.wakeOne(state) }
        return isQueued
    }

    /// Continues earlier work before any queued work.
    func goOn(_ work: @escaping Work) {
        let isWaking = state.change(wake: .none) { state in
            state.begun.append(work)
            return state.claimWaking()
        }
        if isWaking { Self.wakeOne(state) }
    }

    /// Ends the threads once the queue is empty, and waits until they have ended.
    func stop() {
        state.change { $0.isStopped = true }
        state.wait { $0.running == 0 ? () : nil }
    }

    private static func wakeOne(_ state: Monitor<State>) {
        state.change(wake: .one) { _ in }
    }

    private enum Standing { case idle, busy, new }

    private static func work(_ state: Monitor<State>) {
        var standing = Standing.new
        while let (work, isWaking) = next(state, &standing) {
            if isWaking { wakeOne(state) }
            work()
        }
        state.change { $0.running -= 1 }
    }

    /// Waits for work. Returns `nil` once the pool has stopped.
    private static func next(
        _ state: Monitor<State>, _ standing: inout Standing
    ) -> (Work, isWaking: Bool)? {
        state.wait { state in
            switch standing {
            case .idle: state.isWaking = false
            case .busy: state.busy -= 1
            case .new: break
            }
            let work = state.next()
            if standing == .idle { state.idle -= 1 }
            standing = .new
            if let work {
                state.busy += 1
                standing = .busy
                return .some((work, isWaking: state.claimWaking()))
            }
            if state.isStopped { return .some(nil) }
            state.idle += 1
            standing = .idle
            return nil
        }
    }
}
