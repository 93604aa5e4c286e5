package import API
import Console
package import HTTPServer
import Service

/// The console's address, and the protection of its connections.
package struct ConsoleSettings: Sendable {
    /// The server for the console alone; `nil` if the console shares the API's address.
    package internal(set) var server: ServerSettings?
    /// Whether Deed itself serves the console over HTTPS.
    let speaksTLS: Bool
    /// Whether people without a second factor see only the page that sets one up.
    package var requiresSecondFactor = false

    /// Creates the settings; `nil` if others could read passwords and cookies in transit. Without TLS, the address must
    /// be on loopback or behind a trusted proxy. Requests that bypass the proxy are refused. `shared` is the API's
    /// server.
    package init?(apart server: ServerSettings?, sharing shared: ServerSettings) {
        let own = server ?? shared
        let isProtected = own.tls != nil || !own.trustedProxies.isEmpty
        guard isProtected || own.isOnLoopback else { return nil }
        self.server = server
        speaksTLS = own.tls != nil
    }
}

extension Parts {
    package func console(
        _ operations: Operations, speaksTLS: Bool, requiresSecondFactor: Bool = false
    ) -> PageSurface {
        let calls = InnerCalls(
            live.useCases, reads, submissions, feed: feed, keys: keys, operations: operations)
        let refused = RefusedSignIns(operations, now: live.useCases.ports.machineClock)
        return Console(
            live.useCases.signIns, calls, refused, speaksTLS: speaksTLS,
            requiresSecondFactor: requiresSecondFactor
        ).pages
    }
}
