import Core
package import Following
import Synchronization

/// Tells that a project has changed: its keys, its apps, its settings.
package final class ProjectNews: Subscriber {
    private struct Place {
        var heard = [Int64](repeating: 0, count: Shard.count)
        var moment = 0
    }
    private let place = Mutex(Place())
    private let tell: @Sendable () -> Void

    package init(_ tell: @escaping @Sendable () -> Void) {
        self.tell = tell
    }

    package var heard: [Int64] { place.withLock(\.heard) }
    package var moment: Int { place.withLock(\.moment) }

    package func hear(_ commit: Commit, since moment: Int) { take(commit.changes, since: moment) }

    package func hear(_ news: LogNews, since moment: Int) { take(news.changes, since: moment) }

    package func restart(at heads: [Int64], askedAt: Int64) {
        place.withLock { place in
            place.heard = heads
            place.moment += 1
        }
        tell()
    }

    private func take(_ changes: [ShardChange], since moment: Int) {
        place.withLock { place in
            guard place.moment == moment else { return }
            for change in changes {
                let (shard, last) = (Int(change.shard.number), change.positions.upperBound)
                // What lies between comes with the next look.
                if change.positions.lowerBound > place.heard[shard] + 1 { continue }
                place.heard[shard] = max(place.heard[shard], last)
            }
        }
        if changes.contains(where: \.isAboutProject) { tell() }
    }
}

extension ShardChange {
    fileprivate var isAboutProject: Bool {
        subjects.keys.contains { if case .customer = $0 { false } else { true } }
    }
}
