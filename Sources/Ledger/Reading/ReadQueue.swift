import Core
import Postgres
import Synchronization
import Threading

/// A stream whose state is wanted, and who waits for it.
final class PendingRead: Sendable {
    typealias Answer = Result<PlacedState, LedgerError>

    let stream: Stream
    /// By the clock that only moves forward.
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

    /// Only the first answer is given: a reader may come back with one when the deadline has passed.
    func answer(_ answer: Answer) {
        if !isAnswered.exchange(true, ordering: .relaxed) { respond(answer) }
    }
}

/// The reads that wait for a reader, and the reads under way. Each has a deadline, since a reader may
/// hang as long as the database does.
///
/// One reader serves all of them while it keeps up: what comes while it is at work makes up its next
/// batch, and wakes no reader. Another one begins when a crowd waits behind those at work. A reader that is
/// long at its batch is not waited for.
final class ReadQueue: Sendable {
    static let batchLimit = 64
    /// This many are worth another round trip in parallel to the one under way.
    static let crowd = 32
    /// From here on a batch takes long, in milliseconds.
    private static let slow: Int64 = 5
    /// Nothing happens here when no batch was taken for so long.
    private static let idle: Int64 = 100

    private struct State {
        var waiting: [PendingRead] = []
        /// By their readers, with the instants at which they were taken.
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

    /// `time` tells milliseconds on a clock that only moves forward.
    init(limit: Int, time: @escaping @Sendable () -> Int64 = monotonicMilliseconds) {
        self.limit = limit
        self.time = time
    }

    var depth: Int { state.change(wake: .none) { $0.waiting.count } }

    /// Takes the read in; one that finds the queue full or closed is answered at once.
    func add(_ read: PendingRead) {
        let time = time()
        let isAdded = state.changeAndWake { state -> (Bool, Wake) in
            if state.isClosed || state.waiting.count >= limit { return (false, .none) }
            state.waiting.append(read)
            return (true, state.wantsReader(at: time) ? .one : .none)
        }
        if !isAdded { read.answer(.failure(.noReader)) }
    }

    /// The next batch for a reader that is done with its last one; `nil` once the queue is closed and empty.
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

    /// Ends the reads whose deadline has passed, and wakes readers for reads that a slow one keeps waiting. Call it
    /// every few milliseconds, or now and then when it returns that nothing happens here.
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
