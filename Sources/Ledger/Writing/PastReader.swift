import Core
import Postgres
import Telemetry
import Threading

/// Reads earlier catalogs for commands, on a separate thread. A project may have many large catalogs, and a committer's
/// other commands must not wait for them.
final class PastReader: Sendable {
    struct Request: Sendable {
        let needs: [PastNeed]
        let respond: @Sendable (Result<PastCatalogs, LedgerError>) -> Void
    }
    private static let batchLimit = 16

    private let queue: BoundedQueue<Request>
    private let cache: CatalogCache
    private let unread: UnreadStreams

    init(limit: Int, cache: CatalogCache, unread: UnreadStreams) {
        queue = BoundedQueue(limit: limit)
        self.cache = cache
        self.unread = unread
    }

    /// Adds a request, or responds immediately if the queue is full or closed. Requests for which no client waits come
    /// last.
    func add(_ request: Request, isOfClient: Bool) {
        let isAdded = isOfClient ? queue.add(request) : queue.add(behind: [request])
        if !isAdded { request.respond(.failure(.noReader)) }
    }

    /// Reads until the reader is closed.
    func run(_ pool: Pool) {
        while let requests = queue.take(upTo: PastReader.batchLimit) {
            let needs = requests.flatMap(\.needs)
            let result = Result { () throws(LedgerError) in
                try pool.settled { connection throws(LedgerError) in
                    try connection.pastCatalogs(for: needs, cache)
                }
            }
            for need in needs {
                guard let failure = try? result.get().failure(of: need) else { continue }
                unread.note(need.stream, failure.error.fault)
            }
            for request in requests { request.respond(result) }
        }
    }

    func close() { queue.close() }
}

extension [Errand] {
    /// Queues the commands again after their earlier catalogs have been read.
    func wait(
        for needs: [PastNeed], by reader: PastReader, _ queue: BoundedQueue<PendingCommand>
    ) {
        if isEmpty { return }
        let pending = map { $0.again(isRested: false) }
        let request = PastReader.Request(needs: needs) { pending.proceed(with: $0, queue) }
        reader.add(request, isOfClient: kind == .client)
    }
}

extension [PendingCommand] {
    /// How many times a command may prove to need yet another catalog.
    private static var readLimit: Int { 4 }

    /// Queues the commands again, with the catalogs that were read for them.
    fileprivate func proceed(
        with result: Result<PastCatalogs, LedgerError>, _ queue: BoundedQueue<PendingCommand>
    ) {
        if case .failure(let error) = result, !error.isPassing {
            return refuse { error.fault(of: $0) }
        }
        let again = filter { $0.pastReads < Self.readLimit }.map { pending in
            var again = pending
            again.past = (try? result.get()) ?? PastCatalogs()
            again.pastReads += 1
            return again
        }
        filter { $0.pastReads >= Self.readLimit }.refuse { _ in .busy }
        if again.isEmpty { return }
        let isOfClient = again.first?.kind == .client
        let isAdded = isOfClient ? queue.add(again: again) : queue.add(behind: again)
        if !isAdded { again.refuse { _ in .unavailable } }
    }

    private func refuse(_ fault: (PendingCommand) -> Fault) {
        for pending in self { pending.respond(.failure(.fault(fault(pending)))) }
    }
}
