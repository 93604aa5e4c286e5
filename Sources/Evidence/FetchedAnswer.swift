package import Core

/// A store's answer that this process has fetched.
///
/// The answer is not signed. Deed trusts it because it arrived over an authenticated connection. Only the client that
/// has the connection may create this value.
package struct FetchedAnswer: Sendable {
    package let kind: EvidenceKind
    package let body: [UInt8]
    /// The environment of the host that answered; `nil` if the same host serves both.
    package let host: Environment?

    package init(_ kind: EvidenceKind, body: [UInt8], host: Environment?) {
        self.kind = kind
        self.body = body
        self.host = host
    }
}
