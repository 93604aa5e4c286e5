package import Core
package import Evidence
internal import JSON
internal import Outbound
package import StoreAccess
package import Threading

/// A question in progress. It ends with a result or an error.
package typealias PlayAsking<Value: Sendable> = Course<Result<Value, StoreTrouble>>

/// The bytes of the store's statement, and when Deed asked for it.
package struct PlayReading<Statement: Sendable>: Sendable {
    package let statement: Statement
    package let bytes: [UInt8]
    /// The time on the machine's clock before the question was sent. The answer is true at that time or slightly later.
    package let readAt: Instant
}

/// Asks Google Play questions about purchases.
package struct PlayStoreClient: Sendable {
    /// Looks up the purchase to which a token belongs, if it is known.
    package typealias Roots =
        @Sendable (_ token: String, _ app: StoreApp) throws(Fault) -> TransactionID?

    /// The pauses before a question is repeated, in milliseconds.
    private static let pauses: [Int64] = [300, 1500]
    private static let googleAddress = "https://androidpublisher.googleapis.com"

    let line: any StoreLine
    let prover: Prover
    let roots: Roots
    let patience: StorePatience
    let flights: Flights<PlayTokenKey, Result<PlayChain, StoreTrouble>>
    private let tokens: AccessTokens

    package init(
        _ line: any StoreLine, _ prover: Prover, patience: StorePatience = .usual,
        roots: @escaping Roots = { _, _ in nil }
    ) {
        self.line = line
        self.prover = prover
        self.patience = patience
        self.roots = roots
        let alarms = Alarms()
        flights = Flights(alarms)
        tokens = AccessTokens(alarms)
    }

    /// Returns Google's answer, parsed by `parse`.
    func reading<Statement>(
        _ question: PlayQuestion, _ time: PlayTime,
        _ parse: @escaping @Sendable ([UInt8]) throws(EvidenceRefusal) -> Statement
    ) -> PlayAsking<PlayReading<Statement>> {
        .work {
            bytes(question, time).map { answer in
                Result { () throws(StoreTrouble) in
                    let (bytes, readAt) = try answer.get()
                    let unreadable = { (error: EvidenceRefusal) in
                        StoreTrouble.unreadable(error.description)
                    }
                    return PlayReading(
                        statement: try rethrowing(as: unreadable) { () throws(EvidenceRefusal) in
                            try parse(bytes)
                        }, bytes: bytes, readAt: readAt)
                }
            }
        }
    }

    /// Google's answer, and when Deed asked for it.
    private typealias Told = (bytes: [UInt8], readAt: Instant)

    private func bytes(_ question: PlayQuestion, _ time: PlayTime) -> PlayAsking<Told> {
        let place: PlayPlace
        do throws(StoreTrouble) {
            place = try self.place(of: question.app)
        } catch {
            return .ended(.failure(error))
        }
        let whole = patiently(time, PlayStoreClient.pauses[...]) {
            ask(question, at: place, time)
        }
        return whole.map { answer in
            answer.mapError {
                $0 == .unauthorized ? .rejectedKey(of: question.app.key.id) : $0
            }
        }
    }

    /// The host and the key for questions about an app.
    private struct PlayPlace: Sendable {
        let host: String
        let key: ServiceAccountKey
    }

    private func place(of app: StoreApp) throws(StoreTrouble) -> PlayPlace {
        let credentials = try line.credentials(of: app)
        guard let file = credentials.secrets[ServiceAccountKey.member],
            let key = try? ServiceAccountKey(file: file)
        else { throw .noKey(of: app.key.id) }
        // The key and the address belong together: a real key does not work with a store on this machine, nor a
        // practice store's key with Google.
        let host = credentials.address?.url ?? PlayStoreClient.googleAddress
        return PlayPlace(host: host, key: key)
    }

    /// Repeats a failed question after pauses, unless the queue will repeat it anyway.
    private func patiently(
        _ time: PlayTime, _ pauses: ArraySlice<Int64>,
        _ ask: @escaping @Sendable () -> PlayAsking<Told>
    ) -> PlayAsking<Told> {
        ask().then { answer in
            guard time.end == nil, case .failure(.unavailable) = answer, let pause = pauses.first
            else { return .ended(answer) }
            return .work {
                line.pause(milliseconds: pause)
                return patiently(time, pauses.dropFirst(), ask)
            }
        }
    }

    /// Asks once, and asks again with a new access token if the store rejects the first token.
    private func ask(
        _ question: PlayQuestion, at place: PlayPlace, _ time: PlayTime, isSecond: Bool = false
    ) -> PlayAsking<Told> {
        accessToken(of: place.key, for: question.app, time).thenIfWell { token in
            ask(question, at: place, with: token, time).then { answer in
                guard !isSecond, case .failure(.unauthorized) = answer else {
                    return .ended(answer)
                }
                tokens.drop(token, of: place.key)
                return ask(question, at: place, time, isSecond: true)
            }
        }
    }

    private func ask(
        _ question: PlayQuestion, at place: PlayPlace, with token: AccessToken, _ time: PlayTime
    ) -> PlayAsking<Told> {
        guard let left = time.left else { return .ended(.failure(.outOfTime)) }
        let (readAt, turn) = (line.machineClock(), question.bucket.turn(question.app))
        let request = OutboundRequest(
            "GET", question.url(at: place.host),
            headers: [("Authorization", "Bearer \(token.text)")])
        return line.answering(request, turn, left).thenIfWell { response in
            if response.status == 200 { return .ended(.success((response.body, readAt))) }
            let trouble = PlayRefusal(response, to: question).trouble(now: line.machineClock())
            if case .limited(let until) = trouble {
                do throws(Fault) {
                    try line.rest(turn, until: until)
                } catch {
                    return .ended(.failure(.fault(error)))
                }
            }
            return .ended(.failure(trouble))
        }
    }

    private static let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

    private func accessToken(
        of key: ServiceAccountKey, for app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<AccessToken> {
        .work {
            let now = line.machineClock()
            return tokens.token(of: key, now: now, until: time) {
                guard let assertion = key.assertion(now: now) else {
                    return .ended(.failure(.unauthorized))
                }
                let form = "grant_type=\(PlayStoreClient.grant)&assertion=\(assertion)"
                let request = OutboundRequest(
                    "POST", key.tokenAddress,
                    headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Array(form.utf8))
                guard let left = time.left else { return .ended(.failure(.outOfTime)) }
                // All apps with the same key share the key's budget.
                let turn = PlayBucket.accessTokens.turn(key.holder(in: app))
                return line.answering(request, turn, left).map { answer in
                    Result { () throws(StoreTrouble) in
                        try PlayStoreClient.token(in: answer.get(), now)
                    }
                }
            }
        }
    }

    private static func token(
        in response: OutboundResponse, _ now: Instant
    ) throws(StoreTrouble) -> AccessToken {
        let json = try? JSON.read(response.body)
        if (400..<500).contains(response.status), json?["error"]?.string != nil {
            throw .unauthorized
        }
        guard response.status == 200 else {
            throw .unavailable("it answered \(response.status) instead of an access token")
        }
        guard let text = json?["access_token"]?.string, text.isHeaderValue,
            let seconds = json?["expires_in"]?.integer
                ?? json?["expires_in"]?.string.flatMap({ Int64($0) }),
            (1...86_400).contains(seconds)
        else { throw .unreadable("it is not an access token") }
        return AccessToken(
            text: text, given: now, until: now.advanced(byMilliseconds: seconds * 1000))
    }
}

extension Course {
    /// Returns this course, extended to continue with `next` after a successful answer.
    func thenIfWell<Value, Other>(
        _ next: @escaping @Sendable (Value) -> PlayAsking<Other>
    ) -> PlayAsking<Other> where End == Result<Value, StoreTrouble> {
        then { answer in
            switch answer {
            case .success(let value): next(value)
            case .failure(let trouble): .ended(.failure(trouble))
            }
        }
    }
}

extension StoreTrouble {
    static let outOfTime = unavailable("it did not answer in time")
}

extension String {
    /// Whether the string is allowed in a header.
    fileprivate var isHeaderValue: Bool {
        (1...4096).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
