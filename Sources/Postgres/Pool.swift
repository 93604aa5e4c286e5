import Threading

/// A fixed number of links, which threads borrow one at a time.
package final class Pool: Sendable {
    package let size: Int
    private let links: [Monitor<Link>]
    private let free: Monitor<[Int]>
    private let waitMilliseconds: Int64

    /// `greet` is called with each connection before it is used.
    package init(
        _ settings: ConnectionSettings, size: Int, waitMilliseconds: Int64 = 2000,
        greet: @escaping Greeting = { _, _ in }
    ) {
        self.size = size
        self.waitMilliseconds = waitMilliseconds
        links = (0..<size).map { _ in Monitor(Link(settings, greet: greet)) }
        free = Monitor(Array(0..<size))
    }

    /// The number of links that are currently borrowed.
    package var inUse: Int { size - free.change(wake: .none) { $0.count } }

    /// Runs `body` with a connection. If all connections are borrowed, waits for one.
    package func use<Result>(
        _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        guard let index = free.wait(milliseconds: waitMilliseconds, for: { $0.popLast() }) else {
            throw PostgresError(.exhausted, serverMessage: "no connection became free")
        }
        defer { free.change(wake: .one) { $0.append(index) } }
        return try links[index].change(wake: .none) { link throws(PostgresError) in
            try link.use(body)
        }
    }
}
