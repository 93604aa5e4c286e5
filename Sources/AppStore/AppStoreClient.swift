package import Core
package import Outbound

/// What asking Apple needs of the world.
package struct AppStorePort: Sendable {
    package var credentials: @Sendable (StoreApp) throws(StoreTrouble) -> StoreCredentials
    /// Takes one call out of what all instances may ask; gives when to try again if none is left.
    package var take:
        @Sendable (StoreApp, Environment, StoreEndpoint, _ now: Instant) throws(Fault) -> Instant?
    /// Tells all instances that the store wants no such call before an instant.
    package var rest:
        @Sendable (StoreApp, Environment, StoreEndpoint, _ until: Instant) throws(Fault) -> Void
    package var send: @Sendable (OutboundRequest) throws(OutboundError) -> OutboundResponse
    /// The machine's clock: the store knows no other.
    package var machineClock: @Sendable () -> Instant
    package var pause: @Sendable (_ milliseconds: Int64) -> Void

    package init(
        credentials: @escaping @Sendable (StoreApp) throws(StoreTrouble) -> StoreCredentials,
        take:
            @escaping @Sendable (StoreApp, Environment, StoreEndpoint, _ now: Instant)
            throws(Fault) -> Instant?,
        rest:
            @escaping @Sendable (StoreApp, Environment, StoreEndpoint, _ until: Instant)
            throws(Fault) -> Void,
        send: @escaping @Sendable (OutboundRequest) throws(OutboundError) -> OutboundResponse,
        machineClock: @escaping @Sendable () -> Instant,
        pause: @escaping @Sendable (_ milliseconds: Int64) -> Void
    ) {
        self.credentials = credentials
        self.take = take
        self.rest = rest
        self.send = send
        self.machineClock = machineClock
        self.pause = pause
    }
}

/// Asks Apple's server API. What it signs in its answers is not believed here: it is evidence like any
/// other.
package struct AppStoreClient: Sendable {
    /// The pauses before a call is made again.
    private static let pauses: [Int64] = [300, 1500]

    private let port: AppStorePort
    private let hosts: StoreHosts
    private let patience: StorePatience
    private let tokens = BearerTokens()

    package init(
        _ port: AppStorePort, hosts: StoreHosts = .apple, patience: StorePatience = .usual
    ) {
        self.patience = patience
        self.port = port
        self.hosts = hosts
    }

    /// The store's answer, one page of it where it has several. Without an environment the one is asked
    /// that knows the transaction: production first.
    package func ask(
        _ call: StoreCall, about app: StoreApp, in wanted: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        let credentials = try port.credentials(app)
        guard let key = credentials.apiKey else { throw .noKey(app.key.id) }
        let hosts = credentials.address.map(StoreHosts.init) ?? hosts
        var trouble: StoreTrouble?
        for environment in hosts.environments(wanted, for: call) {
            guard let host = hosts.api[environment] else { continue }
            let visit = Visit(call: call, app: app, key: key, environment: environment, host: host)
            do throws(StoreTrouble) {
                return try patiently(visit)
            } catch {
                guard error.mayBeOfOtherEnvironment else { throw error }
                // An environment that did not take the key may know the transaction after all.
                if trouble != .unauthorized { trouble = error }
            }
        }
        throw trouble ?? .noKey(app.key.id)
    }

    /// One call to one host.
    private struct Visit {
        let call: StoreCall
        let app: StoreApp
        let key: StoreCredentials.APIKey
        let environment: Environment
        let host: String
    }

    private func patiently(_ visit: Visit) throws(StoreTrouble) -> StoreAnswer {
        for pause in AppStoreClient.pauses where visit.call.isRepeatable {
            do throws(StoreTrouble) {
                return try once(visit)
            } catch {
                switch error {
                case .unavailable, .unreadable: port.pause(pause)
                default: throw error
                }
            }
        }
        return try once(visit)
    }

    private func once(_ visit: Visit) throws(StoreTrouble) -> StoreAnswer {
        let (app, environment, endpoint) = (visit.app, visit.environment, visit.call.endpoint)
        let now = port.machineClock()
        guard let token = tokens.token(of: visit.key, for: app.key.id, now: now) else {
            throw .unauthorized
        }
        try port.takeTurn(app, environment, endpoint, now: now)
        let request = ServerAPIRequest(visit.call).outbound(to: visit.host, token: token)
            .limited(patience, lane: app.lane)
        do throws(StoreTrouble) {
            let response = try port.answer(to: request)
            let reader = ServerAPIAnswer(
                call: visit.call, environment: environment, now: port.machineClock())
            return try reader.read(response)
        } catch {
            if case .limited(let until) = error {
                try port.rest(app, environment, endpoint, until: until)
            }
            throw visit.call.isRepeatable ? error : error.ofUncertainCall
        }
    }
}

extension AppStorePort {
    func takeTurn(
        _ app: StoreApp, _ environment: Environment, _ endpoint: StoreEndpoint, now: Instant
    ) throws(StoreTrouble) {
        let wait = try rethrowing(as: StoreTrouble.fault, take(app, environment, endpoint, now))
        if let wait { throw .limited(until: wait) }
    }

    func rest(
        _ app: StoreApp, _ environment: Environment, _ endpoint: StoreEndpoint, until: Instant
    ) throws(StoreTrouble) {
        try rethrowing(as: StoreTrouble.fault, rest(app, environment, endpoint, until))
    }

    func answer(to request: OutboundRequest) throws(StoreTrouble) -> OutboundResponse {
        do throws(OutboundError) {
            return try send(request)
        } catch {
            switch error {
            case .untrusted(let detail): throw .untrusted(detail)
            case .replyTooLarge(let limit):
                throw .unreadable("it is larger than \(limit) bytes")
            case .malformedRequest:
                throw .fault(.broken("A request to the store could not be sent as intended."))
            case .unreachable, .timedOut, .brokenOff, .cancelled, .overloaded:
                throw .unavailable(error.description)
            }
        }
    }
}

extension StoreApp {
    /// A store that hangs for one app keeps none of another waiting.
    var lane: String { "\(project.text)\u{0}\(key.store.rawValue)\u{0}\(key.id.text)" }
}

extension StoreTrouble {
    fileprivate var mayBeOfOtherEnvironment: Bool {
        switch self {
        // Production does not know an app that was never released: it rejects the app's key.
        case .unauthorized: true
        case .refused(ServerAPIAnswer.unknownTransaction, _): true
        default: false
        }
    }

    fileprivate var ofUncertainCall: StoreTrouble {
        guard case .unavailable(let detail) = self else { return self }
        return .unavailable("\(detail); the store may still have done it")
    }
}
