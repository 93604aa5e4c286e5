import Core
import Postgres
import SQL
import Telemetry

/// The state of a stream and of its project, and the log position up to which both are current.
struct PlacedState {
    let state: StreamState
    let project: ProjectState
    let position: Position
}

extension CustomerSnapshot {
    init(_ reading: PlacedState) throws(Fault) {
        guard let customer = reading.state.customer else {
            throw .broken("the stream of a project was read as a customer's")
        }
        self.init(customer: customer, project: reading.project, position: reading.position)
    }
}

/// Reads the requested states. All waiting requests share one round trip.
///
/// The next batch gathers during this read. If the database refuses a batch, its streams are read again one
/// by one, so that only the faulty stream gets no answer.
struct StateReader: ~Copyable {
    typealias Given = GivenAnswer<PendingRead.Answer>

    /// Another thread produces answers from states with more events than this, because they take a while.
    private static let lightVersions: Int64 = 500

    private let number: Int
    private let queue: ReadQueue
    /// Answers that another thread delivers, so that the next batch need not wait for them.
    private let heavy: BoundedQueue<Given>
    private let cache: StateCache
    private let known: LogGuard
    private let unread: UnreadStreams
    private let troubles: LastTrouble
    private let sizes: Histogram
    private var link: Link

    init(
        _ number: Int, queue: ReadQueue, heavy: BoundedQueue<Given>, cache: StateCache,
        known: LogGuard, unread: UnreadStreams, troubles: LastTrouble, settings: LedgerSettings,
        greet: @escaping Greeting, sizes: Histogram
    ) {
        self.number = number
        self.queue = queue
        self.heavy = heavy
        self.cache = cache
        self.known = known
        self.sizes = sizes
        self.unread = unread
        self.troubles = troubles
        link = Link(settings.connection, greet: greet)
    }

    /// Reads until the queue is closed and empty.
    mutating func run() {
        while let reads = queue.take(number) {
            sizes.record(Int64(reads.count))
            read(reads)
        }
    }

    private mutating func read(_ reads: [PendingRead], isAgain: Bool = false) {
        do throws(LedgerError) {
            for (read, state) in zip(reads, try states(of: reads.map(\.stream))) {
                switch state {
                case .success(let state): answer(read, state)
                case .failure(let error): refuse(read, error)
                }
            }
        } catch {
            if reads.count > 1 {
                for one in reads where one.isWaiting { read([one]) }
                return
            }
            let isWorthwhile = error.isPassing && !error.isTooLong && !isAgain
            for one in reads where one.isWaiting {
                if isWorthwhile {
                    read([one], isAgain: true)
                } else {
                    refuse(one, error)
                }
            }
        }
    }

    private func refuse(_ read: PendingRead, _ error: LedgerError) {
        unread.note(read.stream, error.fault)
        troubles.note(error, of: read.stream)
        read.answer(.failure(error))
    }

    private func answer(_ read: PendingRead, _ state: PlacedState) {
        if state.state.version > StateReader.lightVersions {
            // This queue needs no limit, because the number of requests in flight is limited.
            heavy.add([Given(answer: .success(state)) { read.answer($0) }])
        } else {
            read.answer(.success(state))
        }
    }

    private mutating func states(
        of wanted: [Stream]
    ) throws(LedgerError) -> [Result<PlacedState, LedgerError>] {
        let asked = AskedStreams(wanted)
        let (folds, heads) = try link.settled { connection throws(LedgerError) in
            // The log is compared only here, because a reopened connection may lead to a different log.
            try connection.folds(of: asked.streams, cache: cache, known: known)
        }
        return asked.places.map { own, project in
            let stream = asked.streams[own]
            return Result { () throws(LedgerError) in
                PlacedState(
                    state: try folds[own].get().state,
                    project: try folds[project].get().state.project ?? ProjectState(),
                    position: Position(shard: stream.shard, sequence: heads[stream.shard]))
            }
        }
    }
}

/// Streams that are read together: the requested ones and those of their projects, without
/// duplicates. With so few streams, comparing them is faster than hashing.
private struct AskedStreams {
    private(set) var streams: [Stream] = []
    /// For each request, the index of the requested stream and that of its project's own stream.
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

    private mutating func add(_ stream: Stream) -> Int {
        if let place = streams.firstIndex(of: stream) { return place }
        streams.append(stream)
        return streams.endIndex - 1
    }
}
