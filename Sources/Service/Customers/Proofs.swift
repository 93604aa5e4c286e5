internal import Auditing
package import Core

/// Finds the evidence behind an event.
package protocol EvidenceNaming: Sendable {
    /// Returns the digest of the evidence on which a customer's event is based; `nil` if it is not based on evidence.
    func evidence(behind version: Int64, of stream: Stream) throws(Fault) -> [UInt8]?
}

/// The result of proving a piece of evidence again.
package enum ProofVerdict: Sendable {
    /// The evidence states facts about these subjects.
    case proven(EvidenceKind, subjects: [String])
    /// Only the digest is stored, so there is nothing to prove.
    case digestOnly
    /// The stored form differs from the evidence that was accepted.
    case damaged
    case refused(sentence: String)
}

/// A piece of evidence as shown in lists.
package struct EvidencePiece: Sendable {
    let filed: FiledEvidence

    package var digest: [UInt8] { filed.digest }
    package var kind: String { filed.kind }
    package var app: String? { filed.app }
    package var environment: String { filed.environment }
    package var signedAt: Instant { filed.signedAt }
    package var recordedAt: Instant { filed.firstSeenAt }
    /// Whether more than the digest is stored.
    package var isKept: Bool { filed.content != nil }
}

/// Some evidence about a customer, sorted by digest.
package struct EvidenceAnswer: Sendable {
    package let pieces: [EvidencePiece]
    /// The last piece of the page; `nil` if this is the last page.
    package let next: String?
}

/// Lists, proves and saves the evidence stored about a customer.
package struct Proofs: Sendable {
    package let exports: Exports
    let naming: any EvidenceNaming

    /// Returns up to `limit` pieces after the piece with this digest.
    package func list(
        of stream: Stream, after last: String?, limit: Int
    ) throws(CommandError) -> EvidenceAnswer {
        let all = try digests(of: stream).filter { digest in
            last.map { digest.hexDigits > $0 } ?? true
        }
        let page = Array(all.prefix(limit))
        return EvidenceAnswer(
            pieces: try filed(page), next: page.count < all.count ? page.last?.hexDigits : nil)
    }

    /// Returns the piece on which the customer's event is based; empty if it is not based on evidence.
    package func list(
        of stream: Stream, behind version: Int64
    ) throws(CommandError) -> EvidenceAnswer {
        let digest = try obtain(naming.evidence(behind: version, of: stream))
        return EvidenceAnswer(pieces: try filed([digest].compactMap(\.self)), next: nil)
    }

    /// Returns the piece with this digest, if it concerns the customer.
    package func piece(
        _ digest: String, of stream: Stream
    ) throws(CommandError) -> EvidencePiece? {
        let digest = try digests(of: stream).first { $0.hexDigits == digest }
        return try filed([digest].compactMap(\.self)).first
    }

    /// Proves the piece again with the current roots, as of the instant at which it was accepted.
    package func prove(_ piece: EvidencePiece) -> ProofVerdict {
        switch exports.reading.prove(piece.filed) {
        case .digestOnly: .digestOnly
        case .damaged: .damaged
        case .refused where !piece.filed.isSealed: .damaged
        case .refused(let sentence): .refused(sentence: sentence)
        case .proven(let again) where !piece.filed.differences(from: again, nil).isEmpty: .damaged
        case .proven(let again):
            .proven(again.kind, subjects: again.facts.subjects.map(\.text).sorted())
        }
    }

    /// Returns what the store signed or answered; `nil` if it is not stored, or only in part.
    package func bytes(of piece: EvidencePiece) -> [UInt8]? { exports.reading.unpack(piece.filed) }

    private func digests(of stream: Stream) throws(CommandError) -> [[UInt8]] {
        try exports.digests([stream] + exports.keepers(of: stream))
    }

    /// Returns the evidence with these digests, in the same order.
    private func filed(_ digests: [[UInt8]]) throws(CommandError) -> [EvidencePiece] {
        if digests.isEmpty { return [] }
        return try obtain(exports.log.filed(digests))
            .sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
            .map { EvidencePiece(filed: $0) }
    }
}
