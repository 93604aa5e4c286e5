import Assembly
import Commands
import Core
import JSON
import Ledger
import Outbound

/// A server's readiness, as the server reports it.
enum ServerState: Equatable {
    case ready
    case notReady(String)
    case notRunning
    case speaksTLS
    case untrusted(String)

    /// The state as a word for programs. A server with a meaningless answer counts as not ready.
    var word: String {
        switch self {
        case .ready: "ready"
        case .notReady, .speaksTLS, .untrusted: "not ready"
        case .notRunning: "not running"
        }
    }

    var sentence: String {
        switch self {
        case .ready, .notRunning: word
        case .notReady(let reason): reason.isEmpty ? word : "not ready (\(reason))"
        case .speaksTLS:
            "not readable: it uses HTTPS or is another program; give --tls-certificate FILE"
        case .untrusted(let file): "not the one with the certificate in \(file)"
        }
    }
}

/// The address at which a server on this machine reports whether it is ready.
struct ServerDoor {
    private static let patience = 2000

    let address: String
    /// Whether a server should be running.
    let isExpected: Bool
    private let certificate: String?

    /// Takes the address from the settings. A separate address for operators does not use TLS. The API's server then
    /// does not serve `/readyz`.
    init(_ invocation: Invocation) throws(CommandEnd) {
        let listen = try invocation.listenAddress() ?? ""
        let apart = try invocation.listenAddress("operations-listen")
        if let apart, !invocation.isWritten("listen") {
            (address, certificate) = (apart, nil)
        } else {
            (address, certificate) = (listen, invocation["tls-certificate"])
        }
        isExpected = false
    }

    /// Returns the address of one of these instances, if the instance runs on this machine. An address on the command
    /// line takes precedence.
    static func of(
        _ instances: [SeenInstance], _ invocation: Invocation
    ) throws(CommandEnd) -> ServerDoor {
        let own = instances.lazy.filter(\.isAlive).compactMap { InstanceWords($0) }
            .first { $0.host == machineName() }
        guard let own, !invocation.isWritten("listen"), !invocation.isWritten("operations-listen")
        else { return try ServerDoor(invocation) }
        return ServerDoor(own)
    }

    private init(_ own: InstanceWords) {
        isExpected = true
        address = own.operations ?? own.listen
        certificate = own.operations == nil ? own.certificate : nil
    }

    /// Asks the server. A server with TLS must present exactly the configured certificate. The certificate's names do
    /// not matter, because the address is local.
    func ask() -> ServerState {
        let scheme = certificate == nil ? "http" : "https"
        do throws(OutboundError) {
            var client = try HTTPClient(caFile: certificate, acceptsAnyName: certificate != nil)
            var request = OutboundRequest("GET", "\(scheme)://\(reachable)/readyz")
            request.timeoutMilliseconds = ServerDoor.patience
            let response = try client.send(request)
            if response.status == 200 { return .ready }
            let reasons = (try? JSON.read(response.body))?["reasons"]?.array ?? []
            return .notReady(reasons.compactMap(\.string).joined(separator: " "))
        } catch {
            switch error {
            case .brokenOff: return .speaksTLS
            case .untrusted: return .untrusted(certificate ?? "")
            default: return .notRunning
            }
        }
    }

    /// The address to connect to. A wildcard address includes the local one.
    private var reachable: String {
        for (all, own) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:"), (":", "127.0.0.1:")]
        where address.hasPrefix(all) { return own + address.dropFirst(all.count) }
        return address
    }
}

/// An instance's report about itself.
struct InstanceWords {
    let version: String
    /// The newest log format that the instance's release knows. The first releases do not report
    /// this.
    let format: LogFormat
    let host: String
    let listen: String
    let operations: String?
    let certificate: String?
    /// When the certificate expires, in seconds since 1970.
    let certificateEnds: Int64?
    let reasons: [String]
    let lag: Int64
    let unread: Int64
    let unreadable: [JSON]
    let reconcileAt: String?

    init?(_ seen: SeenInstance) {
        guard let says = try? JSON.read(seen.says), let host = says["host"]?.string,
            let listen = says["listen"]?.string
        else { return nil }
        self.host = host
        self.listen = listen
        version = says["version"]?.string ?? ""
        format = LogFormat(Int(says["format"]?.integer ?? 1))
        operations = says["operations_listen"]?.string
        certificate = says["tls_certificate"]?.string
        certificateEnds = says["tls_ends"]?.integer
        reasons = (says["reasons"]?.array ?? []).compactMap(\.string)
        lag = says["lag"]?.integer ?? 0
        unread = says["unread"]?.integer ?? 0
        unreadable = says["unreadable"]?.array ?? []
        reconcileAt = says["reconcile_at"]?.string
    }
}

extension SeenInstance {
    /// Whether the instance reported recently. A live instance reports every five seconds.
    var isAlive: Bool { seenAgo < 20_000 }
}
