package import Core

/// What a store answered to this process.
///
/// Nothing signs it. It is believed because of the authenticated connection that it came over, so only
/// the client that held that connection may make this value.
package struct FetchedAnswer: Sendable {
    package let kind: EvidenceKind
    package let body: [UInt8]
    /// The environment of the host that answered.
    package let host: Environment

    package init(_ kind: EvidenceKind, body: [UInt8], host: Environment) {
        self.kind = kind
        self.body = body
        self.host = host
    }
}

extension Verifier {
    /// What an answer states that was fetched from the store, once it meets the terms.
    package func verify(
        _ answer: FetchedAnswer, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        if answer.body.count > Verifier.byteLimit { throw .tooLarge(limit: Verifier.byteLimit) }
        let statement = try VerifyReceiptReply.statement(of: answer)
        try terms.requireNotInFuture(statement.signedAt)
        if statement.environment != answer.host {
            throw .replyFromOtherEnvironment(statement.environment)
        }
        try terms.requireApp(statement)
        try terms.requireLicence(statement)
        return statement.vouched(by: .fetched(answer))
    }
}
