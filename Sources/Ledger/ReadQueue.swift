import Threading

/// The reads that wait for a reader.
///
/// One reader serves all of them while it keeps up: what comes while it is at work makes up its next
/// batch, and wakes nobody. Another one begins when a whole batch waits beside those at work, or when
/// those have taken nothing for a while.
final class ReadQueue: Sendable {
    private struct State {
        var waiting: [PendingRead] = []
        var isClosed = false
        var readersAtWork = 0
        /// Those of them that nobody waits for any more.
        var readersStuck = 0
        /// Whether a batch was taken since somebody looked.
        var isMoving = false

        var wantsReader: Bool {
            if isClosed { return true }
            if waiting.isEmpty { return false }
            let readers = readersAtWork - readersStuck
            return readers == 0 || waiting.count >= readers * StateReader.batchLimit
        }

        mutating func take() -> [PendingRead] {
            let batch = Array(waiting.prefix(StateReader.batchLimit))
            waiting.removeFirst(batch.count)
            readersAtWork += 1
            isMoving = true
            return batch
        }
    }
    private let state = Monitor(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var depth: Int { state.change(wake: .nobody) { $0.waiting.count } }

    /// False when the queue is full or closed.
    func add(_ read: PendingRead) -> Bool {
        state.change { state -> (Bool, Wake) in
            if state.isClosed || state.waiting.count >= limit { return (false, .nobody) }
            state.waiting.append(read)
            return (true, state.wantsReader ? .one : .nobody)
        }
    }

    /// A batch for a reader, who says when it is done with it; `nil` once the queue is closed and empty.
    func take() -> [PendingRead]? {
        state.wait { state -> [PendingRead]?? in
            guard state.wantsReader else { return nil }
            return .some(state.waiting.isEmpty ? nil : state.take())
        }
    }

    /// A reader is done with its batch.
    func finish() {
        state.change(wake: .nobody) { state in
            state.readersAtWork -= 1
            state.readersStuck = min(state.readersStuck, state.readersAtWork)
        }
    }

    /// To be called now and then: when nobody has taken anything since the last time and reads wait,
    /// whoever is at work is not waited for any more.
    func passBy() {
        state.change { state -> (Void, Wake) in
            defer { state.isMoving = false }
            if state.isMoving || state.waiting.isEmpty { return ((), .nobody) }
            state.readersStuck = state.readersAtWork
            return ((), .one)
        }
    }

    /// Takes out what need not wait any more.
    func remove(where isOver: (PendingRead) -> Bool) -> [PendingRead] {
        state.change(wake: .nobody) { state in
            let over = state.waiting.filter(isOver)
            if !over.isEmpty { state.waiting.removeAll(where: isOver) }
            return over
        }
    }

    func close() {
        state.change { $0.isClosed = true }
    }
}
