internal import Core

/// What goes wrong between the store and a back end, each by its rate from 0 to 1.
package struct Trouble: Codable, Hashable, Sendable {
    /// Of notifications: lost, sent twice, late, out of order, with a signature that is not the
    /// store's.
    package var drop: Double?
    package var `repeat`: Double?
    package var delay: Double?
    package var shuffle: Double?
    package var wrongSignature: Double?
    /// How late at the most, in the store's time.
    package var delayBy: Wait?
    /// How far the store's clock is ahead in what it signs, in seconds; behind where it is negative.
    package var skewSeconds: Int64?
    /// Of answers: an internal error, a limit, a connection that is reset, half an answer, one that
    /// does not end, one that comes late.
    package var internalError: Double?
    package var limit: Double?
    package var reset: Double?
    package var truncate: Double?
    package var endless: Double?
    package var slow: Double?
    /// How late a late answer is.
    package var slowMilliseconds: Int64?
    /// What decides when it strikes.
    package var seed: UInt64?

    enum CodingKeys: String, CodingKey {
        case drop, `repeat`, delay, shuffle, limit, reset, truncate, endless, slow, seed
        case wrongSignature = "wrong_signature"
        case delayBy = "delay_by"
        case skewSeconds = "skew_seconds"
        case internalError = "internal_error"
        case slowMilliseconds = "slow_ms"
    }

    package init() {}

    /// Reads what the control API is sent.
    package init(_ bytes: [UInt8]) throws(PracticeError) {
        self = try readStrictly(bytes)
        let rates = [
            drop, `repeat`, delay, shuffle, wrongSignature, internalError, limit, reset, truncate,
            endless, slow,
        ]
        guard rates.allSatisfy({ $0.map { (0...1).contains($0) } ?? true }) else {
            throw .invalid("a rate is a number from 0 to 1")
        }
    }

    var delayLimit: Wait { delayBy ?? Wait(days: 2) }

    func skewed(_ now: Instant) -> Instant {
        now.advanced(byMilliseconds: (skewSeconds ?? 0) * 1000)
    }

    /// What an answer suffers.
    enum Stroke: Sendable {
        case internalError
        case limit
    }

    /// What the connection suffers that carries an answer.
    enum SocketStroke: Sendable {
        case reset
        case truncate
        case endless
    }
}

extension PracticeWorld {
    /// What strikes the next answer, and how long it waits.
    mutating func nextStroke() -> (stroke: Trouble.Stroke?, waits: Int64) {
        let waits = luck.strikes(trouble.slow) ? trouble.slowMilliseconds ?? 3000 : 0
        if luck.strikes(trouble.internalError) { return (.internalError, waits) }
        if luck.strikes(trouble.limit) { return (.limit, waits) }
        return (nil, waits)
    }

    /// What strikes the connection of the next answer.
    mutating func nextSocketStroke() -> Trouble.SocketStroke? {
        if luck.strikes(trouble.reset) { return .reset }
        if luck.strikes(trouble.truncate) { return .truncate }
        if luck.strikes(trouble.endless) { return .endless }
        return nil
    }

    /// Switches trouble on, over, or off.
    package mutating func make(_ trouble: Trouble) {
        self.trouble = trouble
        if let seed = trouble.seed { luck = Luck(seed: seed) }
    }
}
