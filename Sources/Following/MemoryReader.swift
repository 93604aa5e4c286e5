import Core
import Synchronization

/// Delivers each event once, starting at the end of the log.
package final class MemoryReader: LogReader {
    private struct State {
        var place = [Int64](repeating: 0, count: Shard.count)
        var moment = 0
    }
    package let interest: Interest
    private let state = Mutex(State())
    private let begin: @Sendable () -> Void
    private let tell: @Sendable ([LoggedEvent]) -> Void

    /// `begin` is called when events may have been missed. `tell` must return quickly, because
    /// commits wait for it.
    package init(
        _ interest: Interest, begin: @escaping @Sendable () -> Void,
        tell: @escaping @Sendable ([LoggedEvent]) -> Void
    ) {
        self.interest = interest
        self.begin = begin
        self.tell = tell
    }

    package var place: [Int64] { state.withLock(\.place) }
    package var moment: Int { state.withLock(\.moment) }

    package func hear(_ commit: Commit, since moment: Int) { take(commit.stretches, since: moment) }

    package func take(_ news: [Stretch], askedAt: Int64, since moment: Int) {
        take(news, since: moment)
    }

    package func restart(at heads: [Int64], askedAt: Int64) {
        state.withLock { state in
            state.place = heads
            state.moment += 1
        }
        begin()
    }

    private func take(_ stretches: [Stretch], since moment: Int) {
        // The lock is held, so that the events of each shard stay in order.
        state.withLock { state in
            guard state.moment == moment else { return }
            var new: [LoggedEvent] = []
            for stretch in stretches {
                let shard = Int(stretch.shard.number)
                let known = state.place[shard]
                // The next read of the log delivers the events in between.
                if stretch.start > known { continue }
                state.place[shard] = max(known, stretch.end)
                new += stretch.events.filter { $0.position.sequence > known && concerns($0) }
            }
            if !new.isEmpty { tell(new) }
        }
    }

    private func concerns(_ event: LoggedEvent) -> Bool {
        interest.project == nil || interest.project == event.stream.project
    }
}
