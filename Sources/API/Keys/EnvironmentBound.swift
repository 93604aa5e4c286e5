import Core
import HTTPServer
import Service

extension Route {
    /// The subject of a call. A key that is bound to one environment cannot make calls about the other one.
    enum Subject: Sendable {
        /// The environment in the query or the body. The default is production.
        case named
        /// The call determines the environment itself and then calls `Access.require`.
        case found
        /// A customer in both environments.
        case both
        /// Data that both environments share and that the call only reads.
        case project
        /// Data that both environments share and that the call changes.
        case projectChange

        init(_ method: String, _ parameters: [String]) {
            if parameters.contains("environment") {
                self = .named
            } else {
                self = method == "GET" ? .project : .projectChange
            }
        }
    }
}

extension Route.Access {
    var isBound: Bool { key.limits.environment != nil }

    /// Throws if the key is bound to the other environment. `nil` means both environments.
    func require(_ environment: Environment?) throws(Problem) {
        guard let own = key.limits.environment, own != environment else { return }
        throw .environmentNotAllowed(own, environment)
    }

    /// Returns whether the key may see this environment.
    func shows(_ environment: Environment) -> Bool {
        key.limits.environment.map { $0 == environment } ?? true
    }
}

extension KeyRing {
    /// Throws if the key was revoked or has expired while its call was waiting.
    func requireOpen(_ key: LiveKey) throws(Problem) {
        guard let known = known(key.digest)?.key else { throw .unknownKey }
        if known.limits.hasExpired(at: now) { throw .keyExpired(known.limits) }
    }
}

extension Call {
    /// Throws if the key must not make a call with this query. The body may also name an environment, which is checked
    /// when the body is read.
    func requireEnvironment(_ subject: Route.Subject, isRead: Bool) throws(Problem) {
        if !access.isBound { return }
        switch subject {
        case .found, .project: break
        case .both: try access.require(nil)
        case .projectChange: throw .sharedNotAllowed(access.key.limits)
        case .named:
            let environment = try query.environment()
            if isRead || environment != nil { try access.require(environment ?? .production) }
        }
    }
}

extension Problem {
    static func keyExpired(_ limits: KeyLimits) -> Problem {
        Problem(
            status: 401, code: "key_expired",
            detail:
                "This key expired at \(limits.expires?.text ?? "an instant before now"); use the key "
                + "that replaced it, or create one with: deed key create",
            headers: [Header(.authentication, "Bearer error=\"invalid_token\"")])
    }

    fileprivate static func environmentNotAllowed(
        _ own: Environment, _ asked: Environment?
    ) -> Problem {
        Problem(
            status: 403, code: "environment_not_allowed",
            detail: "This key is only for the environment \(own.rawValue), but the call is about "
                + "\(asked?.rawValue ?? "both"); name the environment \(own.rawValue), or use another "
                + "key.")
    }

    fileprivate static func sharedNotAllowed(_ limits: KeyLimits) -> Problem {
        Problem(
            status: 403, code: "environment_not_allowed",
            detail:
                "This key is only for the environment \(limits.environment?.rawValue ?? ""), but "
                + "the call changes settings that both environments share; use a key for both.")
    }
}
