import Core
import Postgres
import Synchronization
import Threading

/// A request to read a stream, with the caller that is waiting for the answer.
final class PendingRead: Sendable {
    typealias Answer = Result<PlacedState, LedgerError>

    let stream: Stream
    /// The deadline on the monotonic clock.
    let deadline: Int64
    private let respond: @Sendable (Answer) -> Void
    private let isAnswered = Atomic(false)

    init(
        _ stream: Stream, deadline: Int64, respond: @escaping @Sendable (Answer) -> Void
    ) {
        self.stream = stream
        self.deadline = deadline
        self.respond = respond
    }

    var isWaiting: Bool { !isAnswered.load(ordering: .relaxed) }

    /// Delivers the first answer and ignores any others. A reader may still deliver one after the deadline.
    func answer(_ answer: Answer) {
        if !isAnswered.exchange(true, ordering: .relaxed) { respond(answer) }
    }
}

/// The reads that wait for a reader, and the reads in progress. Each has a deadline, because a reader hangs for as long
/// as the database does.
///
/// A single reader serves all reads as long as it keeps up: reads that arrive during a batch form the next one and do
/// not wake another reader. A second reader starts when many reads wait for busy readers. If a reader takes a long time
/// over its batch, another one takes the waiting reads.
final class ReadQueue: Sendable {
    static let batchLimit = 64
    /// The number of waiting reads above which a second parallel round trip pays off.
    static let crowd = 32
    /// A batch that takes at least this many milliseconds counts as slow.
    private static let slow: Int64 = 5
    /// The queue counts as idle after this many milliseconds without a batch.
    private static let idle: Int64 = 100

    private struct State {
        var waiting: [PendingRead] = []
        /// The reads that each reader has taken, and when it took them.
        var inHand: [Int: (reads: [PendingRead], since: Int64)] = [:]
        var takenAt: Int64 = 0
        var isClosed = false

        func wantsReader(at time: Int64) -> Bool {
            if isClosed { return true }
            if waiting.isEmpty { return false }
            let readers = inHand.values.count { time - $0.since < ReadQueue.slow }
            return readers == 0 || waiting.count >= readers * ReadQueue.crowd
        }
    }
    private let state = Monitor(State())
    private let limit: Int
    private let time: @Sendable () -> Int64

    /// `time` returns milliseconds on a monotonic clock.
    init(limit: Int, time: @escaping @Sendable () -> Int64 = monotonicMilliseconds) {
        self.limit = limit
        self.time = time
    }

    var depth: Int { state.change(wake: .none) { $0.waiting.count } }

    /// Adds the read, or fails it immediately if the queue is full or closed.
    func add(_ read: PendingRead) {
        let time = time()
        let isAdded = state.changeAndWake { state -> (Bool, Wake) in
            if state.isClosed || state.waiting.count >= limit { return (false, .none) }
            state.waiting.append(read)
            return (true, state.wantsReader(at: time) ? .one : .none)
        }
        if !isAdded { read.answer(.failure(.noReader)) }
    }

    /// Returns the next batch for a reader that has finished its previous one; `nil` once the queue is closed and
    /// empty.
    func take(_ reader: Int) -> [PendingRead]? {
        state.changeAndWake { state -> (Void, Wake) in
            state.inHand[reader] = nil
            return ((), state.waiting.count > ReadQueue.batchLimit ? .one : .none)
        }
        return state.wait { state -> [PendingRead]?? in
            let time = time()
            guard state.wantsReader(at: time) else { return nil }
            if state.waiting.isEmpty { return .some(nil) }
            let reads = Array(state.waiting.prefix(ReadQueue.batchLimit))
            state.waiting.removeFirst(reads.count)
            state.inHand[reader] = (reads, time)
            state.takenAt = time
            return reads
        }
    }

    /// Ends reads whose deadline has passed, and wakes readers for reads that wait behind a slow one.
    /// Call it every few milliseconds, or only occasionally once it has reported an idle queue.
    func passBy() -> Bool {
        let time = time()
        let (overdue, isBusy) = state.changeAndWake { state -> (([PendingRead], Bool), Wake) in
            let inHand = state.inHand.values.flatMap(\.reads)
            let overdue = (state.waiting + inHand).filter { $0.deadline <= time }
            state.waiting.removeAll { $0.deadline <= time }
            let isBusy = !state.waiting.isEmpty || time - state.takenAt < ReadQueue.idle
            let isWoken = !state.waiting.isEmpty && state.wantsReader(at: time)
            return ((overdue, isBusy), isWoken ? .all : .none)
        }
        for read in overdue { read.answer(.failure(.noReader)) }
        return isBusy
    }

    func close() {
        state.change { $0.isClosed = true }
    }
}

extension LedgerError {
    static let noReader = LedgerError.postgres(
        PostgresError(.exhausted, serverMessage: "no reader became free"))
}
