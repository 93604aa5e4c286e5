import Synchronization

/// The limit on pages that read a lot of data. It keeps workers free for the calls of back ends.
final class HeavyPages: Sendable {
    private static let limit = 2

    private let count = Mutex(0)

    /// Produces a page, or turns the visitor away while too many other pages are being produced.
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
