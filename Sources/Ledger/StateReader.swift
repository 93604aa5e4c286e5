import Core
import Postgres
import SQL

/// A stream's state with its project's, and the place in the log up to which it holds.
struct Reading {
    let state: StreamState
    let project: ProjectState
    let position: Position
}

/// Reads the states that are asked for: all that wait in one round trip.
///
/// While it reads, the next batch gathers. A batch that fails is read again one by one, so that
/// only the stream to blame has no answer.
struct StateReader: ~Copyable {
    static let batchLimit = 32

    private let queue: BoundedQueue<PendingRead>
    private let hand: ReadsInHand
    private let cache: StateCache
    private var link: Link

    init(
        queue: BoundedQueue<PendingRead>, hand: ReadsInHand, cache: StateCache,
        settings: LedgerSettings
    ) {
        self.queue = queue
        self.hand = hand
        self.cache = cache
        link = Link(settings.connection) { cache.forget() }
    }

    /// Reads until the queue is closed and empty.
    mutating func run() {
        while let batch = queue.take(upTo: StateReader.batchLimit) {
            hand.take(batch)
            read(batch.map(\.stream), from: 0)
        }
    }

    /// Reads the streams and answers those who wait for them: the first one's place in the hand is
    /// `first`.
    private mutating func read(_ streams: [Stream], from first: Int, isAgain: Bool = false) {
        do throws(LedgerError) {
            for (place, reading) in try attempt(streams).enumerated() {
                hand.answer(first + place, .success(reading))
            }
        } catch {
            if streams.count > 1 {
                for (place, stream) in streams.enumerated() where hand.isWaiting(first + place) {
                    read([stream], from: first + place)
                }
            } else if error.isPassing, !error.isTooLong, !isAgain, hand.isWaiting(first) {
                read(streams, from: first, isAgain: true)
            } else {
                hand.answer(first, .failure(error))
            }
        }
    }

    private mutating func attempt(_ wanted: [Stream]) throws(LedgerError) -> [Reading] {
        let streams = Array(Set(wanted).union(wanted.map { .ofProject($0.project) }))
        var seenHeads: [Int64] = []
        var folds: [Stream: Fold] = [:]
        var changed = Set<Stream>()
        let heads = try link.settled { connection throws(LedgerError) in
            // Only now: a connection that had to be made anew may be to another log.
            seenHeads = cache.seenHeads
            for stream in streams { folds[stream] = cache[stream] ?? Fold(emptyFor: stream) }
            let versions = streams.map { folds[$0]?.version ?? 0 }
            return try connection.load(streams, after: versions) { row throws(LedgerError) in
                let recorded = try row.recorded(after: folds[row.stream]?.version ?? 0)
                folds[recorded.stream]?.apply(recorded, causeDigest: row.causeDigest)
                changed.insert(recorded.stream)
            }
        }
        try cache.observe(heads.seen, askedAfter: seenHeads)
        for stream in changed {
            if let fold = folds[stream] { cache.keep(fold, of: stream) }
        }
        return wanted.map { stream in
            Reading(
                state: folds[stream]?.state ?? StreamState(emptyFor: stream),
                project: folds[.ofProject(stream.project)]?.state.project ?? ProjectState(),
                position: Position(shard: stream.shard, sequence: heads.told[stream.shard] ?? 0))
        }
    }
}
