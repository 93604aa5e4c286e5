import Core
import Postgres
import Synchronization

/// A stream whose state is wanted, and who waits for it.
struct PendingRead: Sendable {
    typealias Answer = Result<Reading, LedgerError>

    let stream: Stream
    /// By the clock that only moves forward.
    let deadline: Int64
    let respond: @Sendable (Answer) -> Void
}

/// The reads that a reader is at. It may hang as long as the database does, so somebody else can end
/// those that take too long.
final class ReadsInHand: Sendable {
    private let reads = Mutex<[PendingRead?]>([])

    func take(_ batch: [PendingRead]) {
        reads.withLock { $0 = batch }
    }

    /// Answers the read at that place, unless it was ended.
    func answer(_ place: Int, _ answer: PendingRead.Answer) {
        let read = reads.withLock { $0[place].take() }
        read?.respond(answer)
    }

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
        PostgresError(.exhausted, serverMessage: "no reader came free"))
}

extension CustomerSnapshot {
    init(_ reading: Reading) throws(Fault) {
        guard let customer = reading.state.customer else {
            throw .broken("the stream of a project was read as a customer's")
        }
        self.init(customer: customer, project: reading.project, position: reading.position)
    }
}
