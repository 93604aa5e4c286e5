internal import Core

/// Faults between the store and a back end. Each kind of fault has a rate from 0 to 1.
package struct Trouble: Codable, Hashable, Sendable {
    /// The rates at which notifications are lost, sent twice, delayed or sent out of order.
    package var drop: Double?
    package var `repeat`: Double?
    package var delay: Double?
    package var shuffle: Double?
    /// The rate of wrong signatures in notifications and answers.
    package var wrongSignature: Double?
    /// The longest delay, measured on the store's clock.
    package var delayBy: Wait?
    /// How far the store's clock is ahead in signed statements, in seconds; negative if it is behind.
    package var skewSeconds: Int64?
    /// The rates at which calls get an internal error, a rate limit, a reset connection, half an answer, an endless
    /// answer or a late answer.
    package var internalError: Double?
    package var limit: Double?
    /// How long a rate limit asks callers to wait.
    package var limitFor: Wait?
    package var reset: Double?
    package var truncate: Double?
    package var endless: Double?
    package var slow: Double?
    /// The delay of a late answer, in milliseconds.
    package var slowMilliseconds: Int64?
    /// The seed that determines when faults occur.
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

    /// Reads the body of a call to the control API.
    package init(_ bytes: [UInt8]) throws(PracticeError) {
        self = try readStrictly(bytes)
        if let mistake { throw .invalid(mistake) }
    }

    /// Describes what is wrong with the settings; `nil` if they are valid.
    var mistake: String? {
        let rates = [
            drop, `repeat`, delay, shuffle, wrongSignature, internalError, limit, reset, truncate,
            endless, slow,
        ]
        if !rates.allSatisfy({ $0.map { (0...1).contains($0) } ?? true }) {
            return "a rate must be a number from 0 to 1"
        }
        if let skewSeconds, !(-Self.longestSkew...Self.longestSkew).contains(skewSeconds) {
            return
                "skew_seconds must be at most ten years, \(Self.longestSkew), in either direction"
        }
        if let slowMilliseconds, !(0...60_000).contains(slowMilliseconds) {
            return "slow_ms must be a number from 0 to 60000"
        }
        return nil
    }

    private static let longestSkew: Int64 = 10 * 365 * 86_400

    var limitPause: Int64 { limitFor?.milliseconds ?? 60_000 }
    var delayLimit: Wait { delayBy ?? Wait(days: 2) }

    func skewed(_ now: Instant) -> Instant {
        now.advanced(byMilliseconds: (skewSeconds ?? 0) * 1000)
    }

    /// A fault in an answer's content.
    enum Stroke: Sendable {
        case internalError
        case limit
        /// A wrong signature on one of the statements in the answer. The number selects the statement.
        case wrongSignature(UInt64)
    }

    /// A fault in the connection that carries an answer.
    enum SocketStroke: Sendable {
        case reset
        case truncate
        case endless
    }
}

extension PracticeWorld {
    /// Returns the fault in the content of the next answer.
    mutating func nextStroke() -> Trouble.Stroke? {
        if fates.answers.strikes(trouble.internalError) { return .internalError }
        if fates.answers.strikes(trouble.limit) { return .limit }
        if fates.answers.strikes(trouble.wrongSignature) {
            return .wrongSignature(fates.answers.next())
        }
        return nil
    }

    /// Returns the fault in the connection for the next answer, and the delay of that answer.
    mutating func nextSocketStroke() -> (stroke: Trouble.SocketStroke?, waits: Int64) {
        let isLate = fates.connections.strikes(trouble.slow)
        let waits = isLate ? trouble.slowMilliseconds ?? 3000 : 0
        if fates.connections.strikes(trouble.reset) { return (.reset, waits) }
        if fates.connections.strikes(trouble.truncate) { return (.truncate, waits) }
        if fates.connections.strikes(trouble.endless) { return (.endless, waits) }
        return (nil, waits)
    }

    /// Turns faults on or off, or changes their rates.
    package mutating func make(_ trouble: Trouble) {
        self.trouble = trouble
        if let seed = trouble.seed { fates = Fates(seed: seed) }
    }
}
