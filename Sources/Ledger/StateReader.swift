import Core
import Postgres
import SQL
import Threading

/// A stream's state with its project's, and the place in the log up to which it holds.
struct Reading {
    let state: StreamState
    let project: ProjectState
    let position: Position
}

/// A stream whose state is wanted, and the place where the one who wants it waits.
final class PendingRead: Sendable {
    let stream: Stream
    private let result = Monitor<Result<Reading, LedgerError>?>(nil)

    init(_ stream: Stream) {
        self.stream = stream
    }

    func answer(_ answer: Result<Reading, LedgerError>) {
        result.change(wake: .one) { $0 = answer }
    }

    /// The answer; `nil` when the time is up first.
    func wait(milliseconds: Int64) -> Result<Reading, LedgerError>? {
        result.wait(milliseconds: milliseconds) { $0 }
    }
}

/// Reads the states that are asked for: all that wait in one round trip.
///
/// While it reads, the next batch gathers. A batch that fails is read again one by one, so that
/// only the stream to blame has no answer.
struct StateReader: ~Copyable {
    static let batchLimit = 32

    private let queue: BoundedQueue<PendingRead>
    private let cache: StateCache
    private var link: Link

    init(queue: BoundedQueue<PendingRead>, cache: StateCache, settings: LedgerSettings) {
        self.queue = queue
        self.cache = cache
        link = Link(settings.connection) { cache.forget() }
    }

    /// Reads until the queue is closed and empty.
    mutating func run() {
        while let batch = queue.take(upTo: StateReader.batchLimit) { read(batch) }
    }

    private mutating func read(_ batch: [PendingRead], isAgain: Bool = false) {
        do throws(LedgerError) {
            let readings = try attempt(batch.map(\.stream))
            for (pending, reading) in zip(batch, readings) { pending.answer(.success(reading)) }
        } catch {
            if batch.count > 1 {
                for pending in batch { read([pending]) }
            } else if error.isPassing, !error.isTooLong, !isAgain {
                read(batch, isAgain: true)
            } else {
                for pending in batch { pending.answer(.failure(error)) }
            }
        }
    }

    private mutating func attempt(_ wanted: [Stream]) throws(LedgerError) -> [Reading] {
        let streams = Array(Set(wanted).union(wanted.map { .ofProject($0.project) }))
        var seenHeads: [Int64] = []
        var known: [Fold] = []
        var folds: [Fold] = []
        var heads = [Int64](repeating: 0, count: streams.count)
        try link.settled { connection throws(LedgerError) in
            // Only now: a connection that had to be made anew may be to another log.
            seenHeads = cache.seenHeads
            known = streams.map { cache[$0] ?? Fold(emptyFor: $0) }
            folds = known
            let calls = zip(streams, known).map { stream, fold in
                Statement.readStream(of: stream, after: fold.version)
            }
            try connection.read(calls) { index, rows throws(LedgerError) in
                for row in 0..<rows.count {
                    heads[index] = rows.int8(row, 0)
                    if rows.isNull(row, 2) { continue }
                    let event = try EventRow(rows, row, first: 1)
                    folds[index].apply(try event.recorded(), causeDigest: event.causeDigest)
                }
            }
        }
        var readings: [Stream: (state: StreamState, head: Int64)] = [:]
        for (index, stream) in streams.enumerated() {
            let isThere = cache.observe(
                head: heads[index], of: stream.shard, askedAfter: seenHeads)
            if !isThere { throw .logShrunk }
            if folds[index].version > known[index].version {
                cache.keep(folds[index], of: stream)
            }
            readings[stream] = (folds[index].state, heads[index])
        }
        return wanted.map { stream in
            let (state, head) = readings[stream] ?? (StreamState(emptyFor: stream), 0)
            return Reading(
                state: state,
                project: readings[.ofProject(stream.project)]?.state.project ?? ProjectState(),
                position: Position(shard: stream.shard, sequence: head))
        }
    }
}

extension Statement {
    fileprivate static func readStream(of stream: Stream, after version: Int64) -> Call {
        readStream(
            .int2(stream.shard.number), .text(stream.project.text),
            .text(stream.environment.rawValue), .text(stream.customer.text), .int8(version))
    }
}
