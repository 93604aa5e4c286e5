import Synchronization

/// Limits pages that read a lot, so that back ends' calls still find workers.
final class HeavyPages: Sendable {
    private static let limit = 2

    private let count = Mutex(0)

    /// Makes a page, or turns the visitor away while too many others are being made.
    func make<Answer>(_ page: () throws(Turned) -> Answer) throws(Turned) -> Answer {
        let isFree = count.withLock { count in
            if count >= HeavyPages.limit { return false }
            count += 1
            return true
        }
        guard isFree else { throw .crowded }
        defer { count.withLock { $0 -= 1 } }
        return try page()
    }
}
