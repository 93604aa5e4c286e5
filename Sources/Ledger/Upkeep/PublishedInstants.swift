import Core
import Synchronization
import Threading

/// For each shard, the instant before which nothing is left to publish, as far as checks of the rows have shown. While
/// a long-lived snapshot exists, index entries stay even after their instants are published, and each check would
/// otherwise have to step over them again.
///
/// The result does not depend on a clock. A check that finds a shard's first boundary has seen that no boundary
/// precedes it. Rows that the check does not see belong to commits that lock the shard later. Those commits have
/// published everything up to the shard's last instant of recording, which never moves backwards, so their boundaries
/// come after it. This holds only within one log. After a new connection, and once an hour, a check starts from the
/// beginning. It then also finds rows that no commit wrote.
final class PublishedInstants: Sendable {
    /// How often, in milliseconds, a check starts from the beginning.
    private static let pause: Int64 = 3_600_000

    struct Look {
        /// The instant for each shard, in order of the shards.
        let passed: [Int64]
        fileprivate let edition: Int
        fileprivate let isWhole: Bool
    }
    private struct State {
        var passed = [Int64](repeating: .min, count: Shard.count)
        /// How many times all instants have been forgotten.
        var edition = 0
        /// When a check last started from the beginning.
        var wholeAt: Int64?
    }
    private let state = Mutex(State())
    private let time: @Sendable () -> Int64

    init(time: @escaping @Sendable () -> Int64 = monotonicMilliseconds) {
        self.time = time
    }

    func passed(_ shard: Shard) -> Int64 { state.withLock { $0.passed[Int(shard.number)] } }

    /// Returns where a check has to start now.
    func begin() -> Look {
        state.withLock { state in
            let isWhole = state.wholeAt.map { time() - $0 >= PublishedInstants.pause } ?? true
            return Look(
                passed: isWhole
                    ? [Int64](repeating: .min, count: Shard.count) : state.passed,
                edition: state.edition, isWhole: isWhole)
        }
    }

    /// Records the results of a check in one snapshot: each shard's first boundary and last instant of recording.
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

    /// Makes the next check start from the beginning, because the log may be a different one.
    func forget() {
        state.withLock { state in
            state.passed = [Int64](repeating: .min, count: Shard.count)
            state.edition += 1
            state.wholeAt = nil
        }
    }
}
