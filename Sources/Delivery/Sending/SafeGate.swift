package import Core
package import Outbound

/// A sender that reaches only allowed addresses, and never the operator's own network.
package struct SafeGate: Sendable {
    package typealias Answer = Result<OutboundResponse, OutboundError>

    private let rules: AddressRules
    private let resolve: Resolve
    private let courier: @Sendable () throws(OutboundError) -> Courier

    package init(
        _ rules: AddressRules, resolve: @escaping Resolve = systemAddresses,
        courier: @escaping @Sendable () throws(OutboundError) -> Courier
    ) {
        self.rules = rules
        self.resolve = resolve
        self.courier = courier
    }

    /// Returns why requests to the address are not allowed, or `nil` if they are. The lookup may take a while.
    package func obstacle(to url: WebhookURL) -> OutboundError? {
        let found = resolve(url.host)
        if found.isEmpty {
            return .unreachable(detail: "the name \(url.host) has no address")
        }
        for address in found {
            if !rules.allow(address) { return .forbidden(address: address.description) }
            if url.isPlain, !rules.isOpened(address) {
                return .malformedRequest(
                    detail: "http is only for addresses that the operator has allowed")
            }
        }
        return nil
    }

    /// Calls `respond` exactly once, on another thread.
    func send(_ request: OutboundRequest, respond: @escaping @Sendable (Answer) -> Void) {
        do throws(OutboundError) {
            try courier().send(request, respond: respond)
        } catch {
            respond(.failure(error))
        }
    }
}

extension WebhookURL {
    var isPlain: Bool { text.lowercased().hasPrefix("http://") }

    /// The name or address between the scheme and the port.
    var host: String {
        let authority = text.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}
