import Core
import Postgres
import Synchronization

/// A stream whose state is wanted, and who waits for it.
struct PendingRead: Sendable {
    typealias Answer = Result<PlacedState, LedgerError>

    let stream: Stream
    /// By the clock that only moves forward.
    let deadline: Int64
    let respond: @Sendable (Answer) -> Void
}

/// The reads that a reader is at. It may hang as long as the database does, so another thread can end
/// those that take too long.
final class ReadsInHand: Sendable {
    typealias Given = GivenAnswer<PendingRead.Answer>

    /// What is made of a state with more events takes a while, and is not made by a reader.
    private static let lightVersions: Int64 = 500

    private let reads = Mutex<[PendingRead?]>([])
    /// Answers that another thread gives, so that the next batch need not wait.
    private let heavy: BoundedQueue<Given>

    init(heavy: BoundedQueue<Given>) {
        self.heavy = heavy
    }

    func take(_ batch: [PendingRead]) {
        reads.withLock { $0 = batch.map(Optional.some) }
    }

    /// Answers the read at that place, unless it was ended.
    func answer(_ place: Int, _ answer: PendingRead.Answer) {
        guard let read = reads.withLock({ $0[place].take() }) else { return }
        let given = Given(answer: answer, respond: read.respond)
        if case .success(let reading) = answer,
            reading.state.version > ReadsInHand.lightVersions
        {
            // No limit: its callers count among the requests in flight, which have one.
            heavy.add([given])
        } else {
            given.give()
        }
    }

    func isWaiting(_ place: Int) -> Bool { reads.withLock { $0[place] != nil } }

    func endOverdue(at time: Int64) {
        let overdue = reads.withLock { reads in
            var overdue: [PendingRead] = []
            for place in reads.indices {
                guard let read = reads[place], read.deadline <= time else { continue }
                overdue.append(read)
                reads[place] = nil
            }
            return overdue
        }
        for read in overdue { read.respond(.failure(.noReader)) }
    }
}

extension LedgerError {
    static let noReader = LedgerError.postgres(
        PostgresError(.exhausted, serverMessage: "no reader became free"))
}

extension CustomerSnapshot {
    init(_ reading: PlacedState) throws(Fault) {
        guard let customer = reading.state.customer else {
            throw .broken("the stream of a project was read as a customer's")
        }
        self.init(customer: customer, project: reading.project, position: reading.position)
    }
}
