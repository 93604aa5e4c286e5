package import Core
import Synchronization

/// Supplies answers that are not in the cache.
package protocol AnswerSource: Sendable {
    /// Gets the current state of a customer. Calls `then` exactly once.
    func view(
        of stream: Stream, then: @escaping @Sendable (Result<CustomerView, Fault>) -> Void)
    /// Returns the current states of several customers of one project. An unreadable customer gets a fault.
    func views(of streams: [Stream]) throws(Fault) -> [Stream: Result<CustomerView, Fault>]
    /// Returns the last position of each shard, by the shard's number.
    func heads() throws(Fault) -> [Int64]
    var now: @Sendable () -> Instant { get }
}

/// Reads entitlements. The answers come from the cache as long as it is known to be current, and otherwise from
/// the database. If the database is unavailable, they come from the cache again and are marked as stale.
package final class CustomerReads: Sendable {
    /// How long the log may be silent before cached answers are no longer trusted.
    package static let trustedMilliseconds: Int64 = 1000
    /// The interval between reads while the database is unavailable, in milliseconds.
    private static let probePause: Int64 = 1000

    private let source: any AnswerSource
    private let clock: @Sendable () -> Instant
    package let cache: AnswerCache
    private let staleMilliseconds: Int64
    private let isOut = Atomic(false)
    private let nextProbe = Atomic<Int64>(0)
    private let stale = Atomic<Int64>(0)

    /// `staleMilliseconds` is the maximum age of a stale answer.
    package init(
        _ source: any AnswerSource, cache: AnswerCache, staleMilliseconds: Int64 = 60_000
    ) {
        self.source = source
        clock = source.now
        self.cache = cache
        self.staleMilliseconds = staleMilliseconds
    }

    /// The number of stale answers given so far.
    package var staleCount: Int64 { stale.load(ordering: .relaxed) }

    /// Returns the current answer from the cache; `nil` if the database must be queried.
    package func remembered(_ stream: Stream, after: Position?) -> FilledAnswer? {
        let now = clock()
        // Checked before the cached answer is read, because events that the answer lacks may be applied between the
        // two.
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

    /// Reads the current answer, from the database if possible. Calls `then` exactly once. A caller
    /// that requires a `strong` answer gets an error instead of a stale one.
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

    /// Returns the current answers about several customers of one project, in order. Reads the answers that are not
    /// cached together. An unreadable customer gets a fault instead of an answer.
    package func read(
        _ streams: [Stream], after: Position?
    ) throws(ReadError) -> [Result<FilledAnswer, Fault>] {
        // Until the cache reaches the requested position, its answers may be too old.
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

    /// Records an outage if the fault means that the database is unavailable. Rethrows all other faults.
    private func noteOutage(_ fault: Fault) throws(ReadError) {
        // A busy database still works and may have a newer answer. But if the reader that follows
        // the log gets no answer either, the database hangs.
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

    /// Returns whether an answer at `position` also covers `after`, as far as the cache can tell.
    private func reaches(_ after: Position?, _ position: Position?) -> Bool {
        guard let after else { return true }
        if let position, after.shard == position.shard {
            return after.sequence <= position.sequence
        }
        return after.sequence <= cache.applied(of: after.shard)
    }

    /// Throws unless the database's last answer, at `position`, covers `after`. Without `position`, throws unless the
    /// database's next answers will cover it. The database covers every position that any caller ever received. Any
    /// other position does not belong to this log.
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
    /// Whether the fault means that the database cannot be read.
    fileprivate var isOutage: Bool {
        switch self {
        case .unavailable, .impeded: true
        case .busy, .leaseLost, .logBlocked, .rowUnproven, .unreadable, .broken: false
        }
    }
}

/// Why a read did not return an answer.
package enum ReadError: Error, Hashable, Sendable {
    case fault(Fault)
    /// The log has not reached the position.
    case notReached(Position, head: Position)
}

/// A rendered answer about a customer's entitlements, with the data that shows whether it is still valid.
///
/// This is a class so that passing it on costs only one reference count.
package final class ReadyAnswer: Sendable {
    package let stream: Stream
    /// A tag that is unique among all answers about the customer, at any time and on any instance.
    package let tag: String
    package let body: AnswerBody
    /// The period in which the answer is valid, provided that no new event arrives.
    private let validity: Range<Instant>
    /// The version of the project's rules from which the answer was derived.
    let rules: Int64
    /// The sequence in the stream's shard up to which the answer was read.
    let sequence: Int64
    /// The sequence in the sandbox's shard up to which the sandbox was read; `nil` if the answer
    /// does not include the sandbox.
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

    /// Returns whether the answer is valid at that instant, provided that no new event has arrived.
    func holds(at now: Instant) -> Bool { validity.contains(now) }

    /// Returns whether the other answer about the stream covers more of the log or is based on newer rules. If both are
    /// equal, the answer that was requested last wins.
    func isOlder(than other: ReadyAnswer) -> Bool {
        if sequence != other.sequence { return sequence < other.sequence }
        return rules < other.rules
    }

    /// The approximate size in bytes.
    var weight: Int {
        // The size of the object itself, including the headers of its arrays and of long names.
        let own = 192 + body.bytes.count + body.parts.count * MemoryLayout<AnswerBody.Part>.stride
        let name = stream.customer.text.utf8.count
        return own + 64 + (name > 15 ? name + 32 : 0)
    }
}

/// A rendered answer with two gaps, the instant and the position, which are filled for each reader.
package struct AnswerBody: Sendable {
    /// One entitlement in the answer.
    package struct Part: Sendable {
        package let entitlement: EntitlementID
        /// The range of bytes with the entitlement's members, without the braces.
        package let members: Range<Int>

        package init(_ entitlement: EntitlementID, _ members: Range<Int>) {
            self.entitlement = entitlement
            self.members = members
        }
    }
    package var bytes: [UInt8] = []
    /// Where the instant is inserted, followed by the position.
    package var instant = 0
    package var position = 0
    /// Where the entitlements begin in the answer, including the comma that precedes their name.
    package var entitlements = 0
    package var parts: [Part] = []

    package init() {}

    /// Appends the bytes before `end`, with both gaps filled. `end` must come after the gaps.
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

/// A rendered answer whose gaps have been filled for one reader.
package struct FilledAnswer: Sendable {
    package let ready: ReadyAnswer
    package let at: Instant
    package let position: Position
    /// How many milliseconds ago the answer was last confirmed; `nil` if it is current.
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
