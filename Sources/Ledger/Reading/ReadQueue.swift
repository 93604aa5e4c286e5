import Threading

/// Reads that a reader takes together.
struct ReadBatch {
    let reads: [PendingRead]
    /// How often readers had been given up by then.
    fileprivate let generation: Int
}

/// The reads that wait for a reader.
///
/// One reader serves all of them while it keeps up: what comes while it is at work makes up its next
/// batch, and wakes no reader. Another one begins when a crowd waits behind those at work, or when those
/// have taken nothing for a while.
final class ReadQueue: Sendable {
    /// This many are worth another round trip in parallel to the one under way.
    static let crowd = 32

    private struct State {
        var waiting: [PendingRead] = []
        var isClosed = false
        var readersAtWork = 0
        /// Those of them that were given up: their callers are gone.
        var readersStuck = 0
        var generation = 0
        /// Whether a batch was taken since the last call of `passBy`.
        var isMoving = false

        var wantsReader: Bool {
            if isClosed { return true }
            if waiting.isEmpty { return false }
            let readers = readersAtWork - readersStuck
            return readers == 0 || waiting.count >= readers * ReadQueue.crowd
        }

        mutating func take() -> ReadBatch {
            let reads = Array(waiting.prefix(StateReader.batchLimit))
            waiting.removeFirst(reads.count)
            readersAtWork += 1
            isMoving = true
            return ReadBatch(reads: reads, generation: generation)
        }
    }
    private let state = Monitor(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var depth: Int { state.change(wake: .none) { $0.waiting.count } }

    /// False when the queue is full or closed.
    func add(_ read: PendingRead) -> Bool {
        state.changeAndWake { state -> (Bool, Wake) in
            if state.isClosed || state.waiting.count >= limit { return (false, .none) }
            state.waiting.append(read)
            return (true, state.wantsReader ? .one : .none)
        }
    }

    /// A batch for a reader, who gives it back with `finish`; `nil` once the queue is closed and empty.
    func take() -> ReadBatch? {
        state.wait { state -> ReadBatch?? in
            guard state.wantsReader else { return nil }
            return .some(state.waiting.isEmpty ? nil : state.take())
        }
    }

    /// A reader is done with its batch, and about to take the next one.
    func finish(_ batch: ReadBatch) {
        state.changeAndWake { state -> (Void, Wake) in
            state.readersAtWork -= 1
            if batch.generation < state.generation { state.readersStuck -= 1 }
            return ((), state.waiting.count > StateReader.batchLimit ? .one : .none)
        }
    }

    /// To be called now and then: when reads wait and no reader has taken any since the last time, those
    /// at work are given up. False when nothing happens here.
    func passBy() -> Bool {
        state.changeAndWake { state -> (Bool, Wake) in
            let isBusy = state.isMoving || !state.waiting.isEmpty
            defer { state.isMoving = false }
            if state.isMoving || state.waiting.isEmpty { return (isBusy, .none) }
            if state.readersStuck < state.readersAtWork {
                state.readersStuck = state.readersAtWork
                state.generation += 1
            }
            return (isBusy, .all)
        }
    }

    /// Takes out what need not wait any more.
    func remove(where isOver: (PendingRead) -> Bool) -> [PendingRead] {
        state.change(wake: .none) { state in
            let over = state.waiting.filter(isOver)
            if !over.isEmpty { state.waiting.removeAll(where: isOver) }
            return over
        }
    }

    func close() {
        state.change { $0.isClosed = true }
    }
}
