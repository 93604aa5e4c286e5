import Synchronization

/// How many commands are on their way to the committers: workers still judge what they rest on.
final class Announced: Sendable {
    private let count = Atomic(0)
    private let many: Int

    init(committers: Int) {
        many = 8 * committers
    }

    var value: Int { count.load(ordering: .relaxed) }

    /// Whether each committer can expect several of them soon.
    var areMany: Bool { value >= many }

    func change(by change: Int) { count.add(change, ordering: .relaxed) }
}
