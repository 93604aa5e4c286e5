import Synchronization

/// The number of commands that will soon reach the committers. Workers are still judging their evidence.
final class Announced: Sendable {
    private let count = Atomic(0)
    private let many: Int

    init(committers: Int) {
        many = 8 * committers
    }

    var value: Int { count.load(ordering: .relaxed) }

    /// Whether each committer can expect several commands soon.
    var areMany: Bool { value >= many }

    func change(by change: Int) { count.add(change, ordering: .relaxed) }
}
