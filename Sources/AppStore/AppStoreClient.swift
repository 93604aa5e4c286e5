package import Core
package import Evidence
internal import Outbound
package import StoreAccess

/// Calls Apple's server API. The signed content of answers is not trusted: like all evidence, it
/// has yet to be verified.
package struct AppStoreClient: Sendable {
    /// The pauses before a call is repeated, in milliseconds.
    private static let pauses: [Int64] = [300, 1500]

    let line: any StoreLine
    let prover: Prover
    let hosts: StoreHosts
    let patience: StorePatience
    private let tokens = BearerTokens()

    package init(
        _ line: any StoreLine, _ prover: Prover, hosts: StoreHosts = .apple,
        patience: StorePatience = .usual
    ) {
        self.line = line
        self.prover = prover
        self.hosts = hosts
        self.patience = patience
    }

    /// Returns the store's answer, or one page of it. If the call names no environment, production
    /// is asked first, then the sandbox if production does not know the transaction.
    package func ask(
        _ call: StoreCall, about app: StoreApp, in wanted: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        switch call {
        case .probe: throw .unsupported("Send a test notification instead: it shows just as much.")
        case .reading:
            throw .unsupported("The store has no purchase tokens; ask for a transaction.")
        default: break
        }
        let credentials = try line.credentials(of: app)
        guard let key = AppStoreKey(credentials) else { throw .noKey(of: app.key.id) }
        let hosts = credentials.address.map(StoreHosts.init) ?? hosts
        var trouble: StoreTrouble?
        for environment in hosts.environments(wanted, for: call) {
            guard let host = hosts.api[environment] else { continue }
            let visit = Visit(call: call, app: app, key: key, environment: environment, host: host)
            do throws(StoreTrouble) {
                return try patiently(visit)
            } catch {
                guard error.mayBeOfOtherEnvironment else { throw error }
                // If one environment rejected the key, the other may still know the transaction.
                if trouble != .unauthorized { trouble = error }
            }
        }
        throw trouble ?? .noKey(of: app.key.id)
    }

    /// A single call to a single host.
    private struct Visit {
        let call: StoreCall
        let app: StoreApp
        let key: AppStoreKey
        let environment: Environment
        let host: String
    }

    private func patiently(_ visit: Visit) throws(StoreTrouble) -> StoreAnswer {
        for pause in AppStoreClient.pauses where visit.call.isRepeatable {
            do throws(StoreTrouble) {
                return try once(visit)
            } catch {
                switch error {
                case .unavailable, .unreadable: line.pause(milliseconds: pause)
                default: throw error
                }
            }
        }
        return try once(visit)
    }

    private func once(_ visit: Visit) throws(StoreTrouble) -> StoreAnswer {
        let (call, app, environment) = (visit.call, visit.app, visit.environment)
        let token = tokens.token(of: visit.key, for: app.key.id, now: line.machineClock())
        guard let token else { throw .unauthorized }
        let turn = StoreTurn(app, in: environment, under: call.budget(in: environment))
        do throws(StoreTrouble) {
            let response = try line.answer(
                to: ServerAPIRequest(call).outbound(to: visit.host, token: token), turn, patience)
            return try ServerAPIAnswer(call: call, environment: environment).read(response)
        } catch {
            throw call.isRepeatable ? error : error.ofUncertainCall
        }
    }
}

extension StoreTrouble {
    fileprivate static func noKey(of app: AppID) -> StoreTrouble {
        .unconfigured(
            "Deed has no key for the store's API for \(app); set one with: deed app set "
                + "--bundle-id \(app) --issuer-id … --key-id … --key-file …")
    }

    fileprivate var mayBeOfOtherEnvironment: Bool {
        switch self {
        // Production does not know an app that was never released, and rejects its key.
        case .unauthorized: true
        case .refused(ServerAPIAnswer.unknownTransaction, _, _): true
        default: false
        }
    }

    fileprivate var ofUncertainCall: StoreTrouble {
        guard case .unavailable(let detail) = self else { return self }
        return .unavailable("\(detail); the store may have done it anyway")
    }
}
