package import Core
import Synchronization

/// What memory lacks is asked for here.
package protocol AnswerSource: Sendable {
    /// A customer now; responds exactly once.
    func view(
        of stream: Stream, then: @escaping @Sendable (Result<CustomerView, Fault>) -> Void)
    /// Many customers of one project now, or why one of them cannot be read.
    func views(of streams: [Stream]) throws(Fault) -> [Stream: Result<CustomerView, Fault>]
    /// The last position of each shard, by the shard's number.
    func heads() throws(Fault) -> [Int64]
    var now: @Sendable () -> Instant { get }
}

/// Reads of entitlements: from memory as long as what is there is known to hold, from the database
/// else, and from memory again, marked as stale, when the database is gone.
package final class CustomerReads: Sendable {
    /// Kept answers are not trusted when the tail has heard nothing for this many milliseconds.
    package static let trustedMilliseconds: Int64 = 1000
    /// While the database is gone, one read within this many milliseconds still asks it.
    private static let probePause: Int64 = 1000

    private let source: any AnswerSource
    private let clock: @Sendable () -> Instant
    package let cache: AnswerCache
    private let staleMilliseconds: Int64
    private let isOut = Atomic(false)
    private let nextProbe = Atomic<Int64>(0)
    private let stale = Atomic<Int64>(0)

    /// `staleMilliseconds` is how old a stale answer may be.
    package init(
        _ source: any AnswerSource, cache: AnswerCache, staleMilliseconds: Int64 = 60_000
    ) {
        self.source = source
        clock = source.now
        self.cache = cache
        self.staleMilliseconds = staleMilliseconds
    }

    /// How many answers were stale so far.
    package var staleCount: Int64 { stale.load(ordering: .relaxed) }

    /// The answer of now from memory; `nil` when the database has to be asked.
    package func remembered(_ stream: Stream, after: Position?) -> FilledAnswer? {
        let now = clock()
        // Asked before the answer is taken: what is applied in between may not be in it.
        if let after, after.shard != stream.shard, !reaches(after, nil) { return nil }
        guard let held = cache.find(stream, at: now),
            after?.shard != stream.shard || reaches(after, held.position)
        else { return nil }
        let time = cache.time()
        if time - held.confirmedAt <= CustomerReads.trustedMilliseconds {
            return FilledAnswer(held.answer, at: now, held.position)
        }
        if !isOut.load(ordering: .relaxed) || isProbe(at: time) { return nil }
        return staleAnswer(held, at: now, time)
    }

    /// The answer of now, from the database if it can be asked; `then` is called exactly once. Only who
    /// wants a `strong` answer gets none rather than a stale one.
    package func read(
        _ stream: Stream, after: Position?, isStrong: Bool,
        then: @escaping @Sendable (Result<FilledAnswer, ReadError>) -> Void
    ) {
        let beginning = cache.begin()
        source.view(of: stream) { found in
            then(
                Result { [self] () throws(ReadError) in
                    try answer(
                        found, of: stream, after: after, isStrong: isStrong, since: beginning)
                })
        }
    }

    private func answer(
        _ found: Result<CustomerView, Fault>, of stream: Stream, after: Position?,
        isStrong: Bool, since beginning: AnswerCache.Beginning
    ) throws(ReadError) -> FilledAnswer {
        let answer: EntitlementsAnswer
        do throws(Fault) {
            answer = EntitlementsAnswer(try found.get(), at: clock())
            isOut.store(false, ordering: .relaxed)
        } catch {
            try noteOutage(error)
            let isReached = after.map { $0.shard == stream.shard || reaches($0, nil) } ?? true
            if !isStrong, isReached, let answer = staleAnswer(of: stream),
                after?.shard != stream.shard || reaches(after, answer.position)
            {
                return answer
            }
            throw .fault(error)
        }
        try require(after, within: answer.position)
        return FilledAnswer(
            cache.keep(answer, since: beginning), at: answer.entitlements.at, answer.position)
    }

    /// The current answers about many customers of one project, in their order. Answers that memory lacks
    /// are read together. A customer who cannot be read has a fault in that place.
    package func read(
        _ streams: [Stream], after: Position?
    ) throws(ReadError) -> [Result<FilledAnswer, Fault>] {
        // Before the position is reached nothing in memory is of use.
        let isReached = after.map { $0.sequence <= cache.applied(of: $0.shard) } ?? true
        var found: [Stream: Result<FilledAnswer, Fault>] = [:]
        if isReached {
            for stream in Set(streams) {
                found[stream] = remembered(stream, after: nil).map { .success($0) }
            }
        }
        let missing = Array(Set(streams.filter { found[$0] == nil }))
        if !missing.isEmpty {
            try fill(&found, with: missing, after: isReached ? nil : after)
        }
        return streams.compactMap { found[$0] }
    }

    private func fill(
        _ found: inout [Stream: Result<FilledAnswer, Fault>], with missing: [Stream],
        after: Position?
    ) throws(ReadError) {
        let beginning = cache.begin()
        let views: [Stream: Result<CustomerView, Fault>]
        do throws(Fault) {
            views = try source.views(of: missing)
            isOut.store(false, ordering: .relaxed)
        } catch {
            try noteOutage(error)
            for stream in missing {
                guard after == nil, let answer = staleAnswer(of: stream) else {
                    throw .fault(error)
                }
                found[stream] = .success(answer)
            }
            return
        }
        if let after { try requireHead(after) }
        let now = clock()
        for (stream, view) in views {
            found[stream] = view.map { view in
                let answer = EntitlementsAnswer(view, at: now)
                return FilledAnswer(
                    cache.keep(answer, since: beginning), at: now, answer.position)
            }
        }
    }

    /// Throws what is not for the database's absence.
    private func noteOutage(_ fault: Fault) throws(ReadError) {
        // A database that is only busy does exist, and its answer may be newer; where the tail hears
        // nothing either, it hangs.
        let hangs = fault == .busy && cache.lag > CustomerReads.trustedMilliseconds
        guard fault.isOutage || hangs else { throw .fault(fault) }
        isOut.store(true, ordering: .relaxed)
        nextProbe.store(cache.time() + CustomerReads.probePause, ordering: .relaxed)
    }

    private func staleAnswer(of stream: Stream) -> FilledAnswer? {
        let now = clock()
        guard let held = cache.find(stream, at: now) else { return nil }
        return staleAnswer(held, at: now, cache.time())
    }

    private func staleAnswer(
        _ held: AnswerCache.Held, at now: Instant, _ time: Int64
    ) -> FilledAnswer? {
        let age = time - held.confirmedAt
        guard age <= staleMilliseconds else { return nil }
        stale.add(1, ordering: .relaxed)
        return FilledAnswer(held.answer, at: now, held.position, staleness: age)
    }

    private func isProbe(at time: Int64) -> Bool {
        let next = nextProbe.load(ordering: .relaxed)
        guard time >= next else { return false }
        return nextProbe.compareExchange(
            expected: next, desired: time + CustomerReads.probePause, ordering: .relaxed
        ).exchanged
    }

    // MARK: Positions

    /// Whether an answer that holds at `position` holds after the other one too, as far as memory
    /// can tell.
    private func reaches(_ after: Position?, _ position: Position?) -> Bool {
        guard let after else { return true }
        if let position, after.shard == position.shard {
            return after.sequence <= position.sequence
        }
        return after.sequence <= cache.applied(of: after.shard)
    }

    /// Throws unless what the database just answered comes after the position; without that, unless
    /// whatever it answers from now on does. It does for every position that a caller was ever given; any
    /// other one is not in this log.
    package func require(_ after: Position?, within position: Position?) throws(ReadError) {
        guard let after, !reaches(after, position) else { return }
        if let position, after.shard == position.shard {
            throw .notReached(after, head: position)
        }
        try requireHead(after)
    }

    private func requireHead(_ after: Position) throws(ReadError) {
        let heads = try rethrowing(as: ReadError.fault, source.heads())
        let head = Position(shard: after.shard, sequence: heads[Int(after.shard.number)])
        if head.sequence < after.sequence { throw .notReached(after, head: head) }
    }
}

extension Fault {
    /// Whether there is no database to read from.
    fileprivate var isOutage: Bool {
        switch self {
        case .unavailable, .impeded: true
        case .busy, .leaseLost, .logBlocked, .rowUnproven, .unreadable, .broken: false
        }
    }
}

/// Why a read has no answer.
package enum ReadError: Error, Hashable, Sendable {
    case fault(Fault)
    /// The log is not that long.
    case notReached(Position, head: Position)
}

/// An answer about a customer's entitlements as bytes, with what has to be known of it before it is given.
///
/// A class, so that handing it on counts one reference.
package final class ReadyAnswer: Sendable {
    package let stream: Stream
    /// Distinguishes it from every other answer about the customer, at any time and on any instance.
    package let tag: String
    package let body: AnswerBody
    /// When it is right, as far as the clock goes.
    private let validity: Range<Instant>
    /// The version of the project's rules that it was derived by.
    let rules: Int64
    /// The sequence in the stream's shard up to which it was read.
    let sequence: Int64
    /// The sequence up to which the sandbox was read that it includes, in the sandbox's shard.
    let sandboxSequence: Int64?

    package init(_ answer: EntitlementsAnswer, as body: AnswerBody, tag: String) {
        stream = answer.stream
        self.body = body
        self.tag = tag
        let start = answer.entitlements.at
        validity = start..<max(start, answer.entitlements.nextChange ?? .distantFuture)
        rules = answer.rules
        sequence = answer.position.sequence
        sandboxSequence = answer.sandbox?.sequence
    }

    /// Whether it is right at that instant, as far as the clock goes.
    func holds(at now: Instant) -> Bool { validity.contains(now) }

    /// Whether the other one of the same stream knows more. Of two that know the same, each is right
    /// in its own time, and the one that was asked for last is wanted.
    func isOlder(than other: ReadyAnswer) -> Bool {
        if sequence != other.sequence { return sequence < other.sequence }
        return rules < other.rules
    }

    /// Bytes of memory that it takes, roughly.
    var weight: Int {
        // The object itself, and what each array and each long name has in front of it.
        let own = 192 + body.bytes.count + body.parts.count * MemoryLayout<AnswerBody.Part>.stride
        let name = stream.customer.text.utf8.count
        return own + 64 + (name > 15 ? name + 32 : 0)
    }
}

/// The bytes of an answer except for two places that are filled for each reader: the instant and the
/// position.
package struct AnswerBody: Sendable {
    /// One of the entitlements in it.
    package struct Part: Sendable {
        package let entitlement: EntitlementID
        /// Its members, from behind the opening brace to behind the closing one.
        package let members: Range<Int>

        package init(_ entitlement: EntitlementID, _ members: Range<Int>) {
            self.entitlement = entitlement
            self.members = members
        }
    }
    package var bytes: [UInt8] = []
    /// Where the instant goes, and behind it the position.
    package var instant = 0
    package var position = 0
    /// Where the entitlements begin, with the comma in front of their name.
    package var entitlements = 0
    package var parts: [Part] = []

    package init() {}

    /// Appends the bytes before `end`, which stands behind both places, with what belongs there.
    package func append(
        before end: Int, to target: inout [UInt8], at now: Instant, _ position: String
    ) {
        target += bytes[..<instant]
        now.append(to: &target)
        target += bytes[instant..<self.position]
        target += position.utf8
        target += bytes[self.position..<end]
    }
}

/// A ready answer as one reader gets it.
package struct FilledAnswer: Sendable {
    package let ready: ReadyAnswer
    package let at: Instant
    package let position: Position
    /// For how many milliseconds the log could not confirm that it still holds; `nil` when it does.
    package let staleness: Int64?

    package init(
        _ ready: ReadyAnswer, at instant: Instant, _ position: Position, staleness: Int64? = nil
    ) {
        self.ready = ready
        at = instant
        self.position = position
        self.staleness = staleness
    }
}
