import Core
import Synchronization
import Threading

/// Up to which instant each shard has nothing more to publish, as looks at the rows have shown: a snapshot that is
/// held for long keeps the entries of everything that was published since, and a look would walk over them.
///
/// No clock counts here. A look that finds the first boundary of a shard has seen that nothing lies before it. Rows
/// that it does not see are of commits that lock the shard later, and these have published everything up to the
/// shard's last instant of recording, which never runs backwards: their boundaries come after it. That holds only
/// for the same log. After a new connection, and now and then, a look begins at the beginning again, so that it also
/// finds rows that something other than a commit wrote.
final class PublishedInstants: Sendable {
    /// How often a look begins at the beginning, in milliseconds.
    private static let pause: Int64 = 3_600_000

    struct Look {
        /// By shard.
        let passed: [Int64]
        fileprivate let edition: Int
        fileprivate let isWhole: Bool
    }
    private struct State {
        var passed = [Int64](repeating: .min, count: Shard.count)
        /// How often everything was forgotten.
        var edition = 0
        /// When a look last began at the beginning.
        var wholeAt: Int64?
    }
    private let state = Mutex(State())
    private let time: @Sendable () -> Int64

    init(time: @escaping @Sendable () -> Int64 = monotonicMilliseconds) {
        self.time = time
    }

    func passed(_ shard: Shard) -> Int64 { state.withLock { $0.passed[Int(shard.number)] } }

    /// Where a look begins now.
    func begin() -> Look {
        state.withLock { state in
            let isWhole = state.wholeAt.map { time() - $0 >= PublishedInstants.pause } ?? true
            return Look(
                passed: isWhole
                    ? [Int64](repeating: .min, count: Shard.count) : state.passed,
                edition: state.edition, isWhole: isWhole)
        }
    }

    /// Learns what a look found, of one snapshot: each shard's first boundary, and its last instant of recording.
    func note(_ found: [(shard: Shard, at: Instant?, recordedAt: Instant)], by look: Look) {
        state.withLock { state in
            guard state.edition == look.edition else { return }
            if look.isWhole { state.wholeAt = time() }
            for (shard, at, recordedAt) in found {
                let index = Int(shard.number)
                let passed = min(at.map { $0.milliseconds - 1 } ?? .max, recordedAt.milliseconds)
                state.passed[index] = look.isWhole ? passed : max(state.passed[index], passed)
            }
        }
    }

    /// The next look begins at the beginning: the log may be another one.
    func forget() {
        state.withLock { state in
            state.passed = [Int64](repeating: .min, count: Shard.count)
            state.edition += 1
            state.wholeAt = nil
        }
    }
}
