internal import Core

/// What goes wrong between the store and a back end, each by its rate from 0 to 1.
package struct Trouble: Codable, Hashable, Sendable {
    /// Of notifications: lost, sent twice, late, out of order.
    package var drop: Double?
    package var `repeat`: Double?
    package var delay: Double?
    package var shuffle: Double?
    /// Of notifications and of answers: with a signature that is not the store's.
    package var wrongSignature: Double?
    /// How late at the most, in the store's time.
    package var delayBy: Wait?
    /// How far the store's clock is ahead in what it signs, in seconds; behind where it is negative.
    package var skewSeconds: Int64?
    /// Of answers: an internal error, a limit, a connection that is reset, half an answer, one that
    /// does not end, one that comes late.
    package var internalError: Double?
    package var limit: Double?
    /// How long it asks to wait where a limit is reached.
    package var limitFor: Wait?
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
        case limitFor = "limit_for"
        case slowMilliseconds = "slow_ms"
    }

    package init() {}

    /// Reads what the control API is sent.
    package init(_ bytes: [UInt8]) throws(PracticeError) {
        self = try readStrictly(bytes)
        if let mistake { throw .invalid(mistake) }
    }

    /// What is wrong with it, if anything is.
    var mistake: String? {
        let rates = [
            drop, `repeat`, delay, shuffle, wrongSignature, internalError, limit, reset, truncate,
            endless, slow,
        ]
        if !rates.allSatisfy({ $0.map { (0...1).contains($0) } ?? true }) {
            return "a rate is a number from 0 to 1"
        }
        if let skewSeconds, !(-Self.longestSkew...Self.longestSkew).contains(skewSeconds) {
            return "skew_seconds is at most ten years, \(Self.longestSkew), either way"
        }
        if let slowMilliseconds, !(0...60_000).contains(slowMilliseconds) {
            return "slow_ms is a number from 0 to 60000"
        }
        return nil
    }

    private static let longestSkew: Int64 = 10 * 365 * 86_400

    var limitPause: Int64 { limitFor?.milliseconds ?? 60_000 }
    var delayLimit: Wait { delayBy ?? Wait(days: 2) }

    func skewed(_ now: Instant) -> Instant {
        now.advanced(byMilliseconds: (skewSeconds ?? 0) * 1000)
    }

    /// What an answer suffers.
    enum Stroke: Sendable {
        case internalError
        case limit
        /// One of the statements in it has the wrong signature, which one the number decides.
        case wrongSignature(UInt64)
    }

    /// What the connection suffers that carries an answer.
    enum SocketStroke: Sendable {
        case reset
        case truncate
        case endless
    }
}

extension PracticeWorld {
    /// What strikes the next answer.
    mutating func nextStroke() -> Trouble.Stroke? {
        if fates.answers.strikes(trouble.internalError) { return .internalError }
        if fates.answers.strikes(trouble.limit) { return .limit }
        if fates.answers.strikes(trouble.wrongSignature) {
            return .wrongSignature(fates.answers.next())
        }
        return nil
    }

    /// What strikes the connection of the next answer, and how long that answer waits.
    mutating func nextSocketStroke() -> (stroke: Trouble.SocketStroke?, waits: Int64) {
        let isLate = fates.connections.strikes(trouble.slow)
        let waits = isLate ? trouble.slowMilliseconds ?? 3000 : 0
        if fates.connections.strikes(trouble.reset) { return (.reset, waits) }
        if fates.connections.strikes(trouble.truncate) { return (.truncate, waits) }
        if fates.connections.strikes(trouble.endless) { return (.endless, waits) }
        return (nil, waits)
    }

    /// Switches trouble on, over, or off.
    package mutating func make(_ trouble: Trouble) {
        self.trouble = trouble
        if let seed = trouble.seed { fates = Fates(seed: seed) }
    }
}
