import Threading

/// A bounded queue from which a thread takes many items at a time.
final class BoundedQueue<Item: Sendable>: Sendable {
    private struct State {
        var waiting: [Item] = []
        /// Batches that are each taken as a unit once no other items wait.
        var behind: [[Item]] = []
        /// How many times other items have overtaken these batches.
        var overtakings = 0
        var isClosed = false

        var isEmpty: Bool { waiting.isEmpty && behind.isEmpty }

        mutating func take(upTo count: Int) -> [Item] {
            if !behind.isEmpty {
                if waiting.isEmpty || overtakings >= BoundedQueue.overtakingLimit {
                    overtakings = 0
                    return behind.removeFirst()
                }
                overtakings += 1
            }
            return takeWaiting(upTo: count)
        }

        mutating func takeWaiting(upTo count: Int) -> [Item] {
            let batch = Array(waiting.prefix(count))
            waiting.removeFirst(batch.count)
            return batch
        }
    }
    /// Limits overtaking, so that batches get their turn even under constant load.
    private static var overtakingLimit: Int { 20 }
    private let state = Monitor(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var depth: Int { state.change(wake: .none) { $0.waiting.count } }

    /// Adds an item. Returns false if the queue is full or closed.
    func add(_ item: Item) -> Bool {
        state.change(wake: .one) { state in
            if state.isClosed || state.waiting.count >= limit { return false }
            state.waiting.append(item)
            return true
        }
    }

    /// Adds all items, even beyond the limit, because there must always be room for the results of admitted items.
    func add(_ items: [Item]) {
        if items.isEmpty { return }
        state.change(wake: .one) { $0.waiting += items }
    }

    /// Adds items that were taken before, even beyond the limit. Returns false if the queue is closed.
    func add(again items: [Item]) -> Bool {
        state.change(wake: .one) { state in
            if state.isClosed { return false }
            state.waiting += items
            return true
        }
    }

    /// Adds a batch that is taken as a unit after all other items. Returns false if the queue is closed.
    func add(behind batch: [Item]) -> Bool {
        state.change(wake: .one) { state in
            if state.isClosed { return false }
            state.behind.append(batch)
            return true
        }
    }

    /// Returns up to `count` waiting items, or one of the batches behind them; `nil` once the queue is closed and
    /// empty.
    func take(upTo count: Int) -> [Item]? {
        state.wait { state -> [Item]?? in
            if state.isEmpty { return state.isClosed ? .some(nil) : nil }
            return state.take(upTo: count)
        }
    }

    /// Works like `take`, but waits for a limited time. May return no items.
    func take(upTo count: Int, within milliseconds: Int64) -> [Item] {
        state.wait(milliseconds: milliseconds) { $0.isEmpty ? nil : $0.take(upTo: count) }
            ?? []
    }

    /// Returns up to `count` waiting items, without the batches behind them. May return no items.
    func takeWaiting(upTo count: Int) -> [Item] {
        state.change(wake: .none) { $0.takeWaiting(upTo: count) }
    }

    func close() {
        state.change { $0.isClosed = true }
    }
}
