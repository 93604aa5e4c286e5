internal import Core
internal import Threading

/// An access token, and how long it is valid.
struct AccessToken: Hashable, Sendable {
    let text: String
    let given: Instant
    let until: Instant

    private static let renewedEarly: Int64 = 5 * 60 * 1000

    /// Returns whether the token can still be used. If the clock was set back to before the token
    /// was issued, its expiry is meaningless.
    func isGood(at now: Instant) -> Bool {
        given <= now && now < until.advanced(byMilliseconds: -Self.renewedEarly)
    }
}

// A token that is printed by mistake must reveal nothing.
extension AccessToken: CustomStringConvertible {
    var description: String { "an access token" }
}

/// The access tokens of service accounts. Each token is requested only once, however many calls wait for it.
final class AccessTokens: Sendable {
    typealias Answer = Result<AccessToken, StoreTrouble>
    private static let limit = 1000

    private let questions = Monitor<[ServiceAccountKey: Flight<Answer>]>([:])
    private let alarms: Alarms

    init(_ alarms: Alarms) { self.alarms = alarms }

    /// Returns the account's token. Without a valid token, `ask` requests a new one. If the request
    /// fails, all callers that waited for it get the error, and the next call makes a new request.
    func token(
        of key: ServiceAccountKey, now: Instant, until time: PlayTime,
        ask: @escaping @Sendable () -> Course<Answer>
    ) -> Course<Answer> {
        let (question, isMine) = questions.change(wake: .none) { questions in
            if let known = questions[key], known.isUsable(at: now) { return (known, false) }
            if questions.count >= AccessTokens.limit { questions = [:] }
            let question = Flight<Answer>(alarms)
            questions[key] = question
            return (question, true)
        }
        if !isMine {
            return question.joined(until: time, late: .failure(.outOfTime)).then { answer in
                // The caller that made the request may have had less time than this caller.
                guard case .failure(.unavailable) = answer, time.left != nil else {
                    return .ended(answer)
                }
                return .work { [self] in token(of: key, now: now, until: time, ask: ask) }
            }
        }
        return ask().then { answer in
            question.land(answer)
            return .ended(answer)
        }
    }

    /// Drops a token that the store has rejected.
    func drop(_ token: AccessToken, of key: ServiceAccountKey) {
        questions.change(wake: .none) { questions in
            if case .success(token)? = questions[key]?.end { questions[key] = nil }
        }
    }
}

extension Flight<AccessTokens.Answer> {
    /// Returns whether the request is still running or has returned a valid token.
    fileprivate func isUsable(at now: Instant) -> Bool {
        switch end {
        case nil: true
        case .success(let token)?: token.isGood(at: now)
        case .failure?: false
        }
    }
}
