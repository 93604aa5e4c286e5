package import Core
package import Crypto

/// Accepts or refuses Apple's evidence. The result depends only on the bytes, the roots and the terms. Caching does not
/// affect it.
package final class Verifier: StoreEvidence {
    package static let kinds = EvidenceKind.apple

    let receiptChains: ChainVerifier
    let signedChains: ChainVerifier
    let receiptCache = ChainCache<Digest32>(limit: 64)
    let signedCache = ChainCache<DigestPrefix>(limit: 64)
    let refusedHeaders = RefusedChains(limit: 4096)
    private let packer = EvidencePacker()

    /// Trusts the pinned roots. `extraRoots` are trusted for sandbox evidence only.
    package convenience init(extraRoots: [Certificate]) {
        self.init(
            anchors: AppleRoots.pinned.map { TrustAnchor($0, .pinned) }
                + extraRoots.map { TrustAnchor($0, .extra) })
    }

    /// Trusts only these anchors.
    package init(anchors: [TrustAnchor]) {
        receiptChains = ChainVerifier(anchors: anchors, rules: AppleRoots.receiptRules)
        signedChains = ChainVerifier(anchors: anchors, rules: AppleRoots.signedRules)
    }

    /// Returns the statement in evidence of the given kind. Throws unless the evidence is proven and meets the terms.
    package func verify(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        if bytes.count > RawEvidence.byteLimit { throw .tooLarge(limit: RawEvidence.byteLimit) }
        switch kind {
        case .appReceipt: return try verifyReceipt(bytes, on: terms)
        case .signedTransaction, .renewalInfo, .appTransaction:
            return try verifySigned(bytes, as: kind, on: terms)
        case .notification: return try verifyNotification(bytes, on: terms)
        default: throw .unsigned
        }
    }

    package func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence {
        packer.pack(bytes, as: kind)
    }

    /// Returns the statement in the bytes, proven or not, for people who investigate a refusal.
    package static func read(
        _ bytes: [UInt8], as kind: EvidenceKind, rank: Rank = .clientTransaction,
        companion: AppID? = nil
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        if bytes.count > RawEvidence.byteLimit { throw .tooLarge(limit: RawEvidence.byteLimit) }
        switch kind {
        case .appReceipt:
            return try ReceiptFrame(bytes).statement()
        case .signedTransaction, .renewalInfo, .appTransaction:
            return try SignedJSON(bytes).statement(
                as: kind, rank: rank, companion: companion)
        case .notification:
            return try Notification.read(bytes)
        default:
            return try VerifyReceiptReply(bytes).statement(rank: .verifyReceiptReply)
        }
    }

    /// Returns the app and the environment that the bytes name, proven or not. For a notification,
    /// only the outer statement is read.
    package static func heading(
        of bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> (app: AppID?, environment: Environment) {
        if kind == .notification {
            let heading = try Notification(SignedJSON(bytes).members()).heading
            return (heading.app, heading.environment)
        }
        if kind == .appReceipt, let list = TransactionReceipt.list(in: bytes) {
            let receipt = try TransactionReceipt(list)
            return (receipt.app, receipt.environment)
        }
        let statement = try read(bytes, as: kind)
        return (statement.app, statement.environment)
    }

    package static func bare(
        _ bytes: [UInt8], as kind: EvidenceKind
    ) throws(EvidenceRefusal) -> [UInt8] {
        switch kind {
        case .appReceipt:
            let list = TransactionReceipt.list(in: bytes)
            return if let list { list } else { try ReceiptFrame.binary(of: bytes) }
        case .notification: return try Notification.signedPart(of: bytes)
        default: return bytes
        }
    }

    package static func read(
        answer body: [UInt8], as kind: EvidenceKind, from host: Environment?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        guard kind == .verifyReceiptReply else {
            throw .wrongKind(expected: .verifyReceiptReply, found: kind)
        }
        let reply = try VerifyReceiptReply(body)
        try reply.requireValid()
        return try reply.statement(rank: .verifyReceiptReply, host: host)
    }
}
