import Core
import Postgres
import SQL
import Telemetry

/// A stream's state with its project's, and the place in the log up to which it holds.
struct PlacedState {
    let state: StreamState
    let project: ProjectState
    let position: Position
}

/// Reads the states that are asked for: all that wait in one round trip.
///
/// While it reads, the next batch gathers. A batch that is refused is read again one by one, so that
/// only the stream to blame has no answer; one that takes too long is ended for all in it.
struct StateReader: ~Copyable {
    static let batchLimit = 64

    private let queue: ReadQueue
    private let hand: ReadsInHand
    private let cache: StateCache
    private let known: LogGuard
    private let unread: UnreadStreams
    private let sizes: Histogram
    private var link: Link

    init(
        queue: ReadQueue, hand: ReadsInHand, cache: StateCache, known: LogGuard,
        unread: UnreadStreams, settings: LedgerSettings, greet: @escaping Greeting, sizes: Histogram
    ) {
        self.sizes = sizes
        self.queue = queue
        self.hand = hand
        self.cache = cache
        self.known = known
        self.unread = unread
        link = Link(settings.connection, greet: greet)
    }

    /// Reads until the queue is closed and empty.
    mutating func run() {
        while let batch = queue.take() {
            sizes.record(Int64(batch.reads.count))
            hand.take(batch.reads)
            read(batch.reads.map(\.stream), from: 0)
            queue.finish(batch)
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
                unread.tell(streams[0], error.fault)
                hand.answer(first, .failure(error))
            }
        }
    }

    private mutating func attempt(_ wanted: [Stream]) throws(LedgerError) -> [PlacedState] {
        let asked = AskedStreams(wanted)
        var seenHeads: [Int64] = []
        var folds: [Fold] = []
        var changed = Set<Int>()
        var epoch = 0
        let heads = try link.settled { connection throws(LedgerError) -> LoadedHeads in
            // Only now: a connection that had to be opened again may be to another log.
            (folds, seenHeads) = cache.folds(of: asked.streams)
            epoch = known.epoch
            let versions = folds.map(\.version)
            let heads = try connection.load(
                asked.streams, after: versions, seenHeads: seenHeads
            ) {
                row throws(LedgerError) in
                guard let place = asked.place(of: row.stream) else {
                    throw .unreadable("an event of a stream that was not asked for")
                }
                let recorded = try row.recorded(after: folds[place].version)
                folds[place].apply(recorded, causeDigest: row.causeDigest)
                changed.insert(place)
            }
            try cache.observe(heads.ends, askedAfter: seenHeads)
            return heads
        }
        known.note(heads.marks, askedIn: epoch)
        for place in changed { cache.keep(folds[place], of: asked.streams[place]) }
        return asked.places.map { own, project in
            let stream = asked.streams[own]
            return PlacedState(
                state: folds[own].state, project: folds[project].state.project ?? ProjectState(),
                position: Position(shard: stream.shard, sequence: heads[stream.shard]))
        }
    }
}

/// Streams that are read together: the wanted ones and their projects' own, each once. So few that to
/// compare them takes less than to hash them.
private struct AskedStreams {
    private(set) var streams: [Stream] = []
    /// Where each of the wanted ones stands, and where its project's own does.
    private(set) var places: [(own: Int, project: Int)] = []

    init(_ wanted: [Stream]) {
        streams.reserveCapacity(wanted.count + 1)
        places.reserveCapacity(wanted.count)
        for stream in wanted {
            let own = add(stream)
            let last = places.last?.project
            let isOfLast = last.map { streams[$0].project == stream.project } ?? false
            let project = isOfLast ? last : nil
            places.append((own, project ?? add(.ofProject(stream.project))))
        }
    }

    func place(of stream: Stream) -> Int? { streams.firstIndex(of: stream) }

    private mutating func add(_ stream: Stream) -> Int {
        if let place = place(of: stream) { return place }
        streams.append(stream)
        return streams.endIndex - 1
    }
}
