package import Core

/// A store's answer that this process has fetched.
///
/// It is not signed. Deed trusts it because it arrived over an authenticated connection, so only the client
/// with that connection may create this value.
package struct FetchedAnswer: Sendable {
    package let kind: EvidenceKind
    package let body: [UInt8]
    /// The environment of the host that answered; `nil` if one host serves both.
    package let host: Environment?

    package init(_ kind: EvidenceKind, body: [UInt8], host: Environment?) {
        self.kind = kind
        self.body = body
        self.host = host
    }
}
