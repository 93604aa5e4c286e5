package import Core

/// A store's answer to this process.
///
/// Nothing signs it. It is trusted because of the authenticated connection that it came over, so only
/// the client that held that connection may make this value.
package struct FetchedAnswer: Sendable {
    package let kind: EvidenceKind
    package let body: [UInt8]
    /// The environment of the host that answered; `nil` where one host answers for both.
    package let host: Environment?

    package init(_ kind: EvidenceKind, body: [UInt8], host: Environment?) {
        self.kind = kind
        self.body = body
        self.host = host
    }
}
