internal import Core
internal import Crypto
import Synchronization

/// Splits evidence into pieces for storage, without verifying anything. Evidence that could not be restored byte for
/// byte is stored in one piece.
final class EvidencePacker: Sendable {
    /// Longer certificates are not removed from the content. Genuine certificates are one to two kilobytes long.
    private static let certificateLimit = 16 << 10
    private static let certificateCountLimit = 32

    /// The most recent headers. All statements by one signer start with the same header.
    private let headers = Mutex<[Header]>([])
    private static let headerLimit = 16

    private struct Header {
        /// The encoded header, including the dot that follows it.
        let text: [UInt8]
        let pieces: [Piece]
    }

    /// Packs bare evidence of the given kind.
    func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence {
        let pieces =
            kind == .appReceipt
            ? receipt(bytes) : statement(bytes.span, mayHoldOthers: kind == .notification)
        guard let pieces else { return PackedEvidence([.literal(bytes)]) }
        let packed = PackedEvidence(pieces)
        let isRight = packed.certificates.count <= EvidencePacker.certificateCountLimit
        return isRight ? packed : PackedEvidence([.literal(bytes)])
    }

    private func receipt(_ bytes: [UInt8]) -> [Piece]? {
        guard let frame = try? ReceiptFrame(bytes) else { return nil }
        var pieces: [Piece] = []
        var end = 0
        for certificate in frame.certificates where isCertificate(certificate.range.count) {
            pieces.append(.literal(Array(bytes[end..<certificate.range.lowerBound])))
            pieces.append(.certificate(KeptCertificate(certificate.array)))
            end = certificate.range.upperBound
        }
        return pieces + [.literal(Array(bytes[end...]))]
    }

    /// Returns the three decoded parts of a signed statement, or `nil` for any other string. The
    /// base64 decoding is strict, so encoding the parts again gives the same string.
    private func statement(_ text: Span<UInt8>, mayHoldOthers: Bool) -> [Piece]? {
        guard let header = header(of: text),
            let dot = text.firstIndex(from: header.text.count, where: { $0 == SignedJSON.dot }),
            let payload = Base64.url.decode(text.extracting(header.text.count..<dot)),
            let signature = Base64.url.decode(text.extracting((dot + 1)...))
        else { return nil }
        let dotPiece = Piece.literal([SignedJSON.dot])
        return [
            .encoded(header.pieces), dotPiece,
            .encoded(mayHoldOthers ? self.payload(payload) : [.literal(payload)]), dotPiece,
            .encoded([.literal(signature)]),
        ]
    }

    private func header(of text: Span<UInt8>) -> Header? {
        for known in headers.withLock({ $0 }) where text.begins(with: known.text) { return known }
        guard let dot = text.firstIndex(from: 0, where: { $0 == SignedJSON.dot }),
            let decoded = Base64.url.decode(text.extracting(..<dot))
        else { return nil }
        let pieces = replacing(decoded) { run in
            guard let der = Base64.standard.decode(run), isCertificate(der.count) else {
                return nil
            }
            return [.certificateText(KeptCertificate(der))]
        }
        let header = Header(
            text: Base64.url.encode(decoded) + [SignedJSON.dot], pieces: pieces)
        headers.withLock { headers in
            if headers.count == EvidencePacker.headerLimit { headers.removeLast() }
            headers.insert(header, at: 0)
        }
        return header
    }

    /// Returns a payload, which may contain further statements as strings.
    private func payload(_ decoded: [UInt8]) -> [Piece] {
        replacing(decoded) { statement($0, mayHoldOthers: false) }
    }

    private func isCertificate(_ count: Int) -> Bool {
        (64...EvidencePacker.certificateLimit).contains(count)
    }

    /// Splits the bytes into pieces, and replaces each long quoted string for which `replace` returns something.
    private func replacing(
        _ bytes: [UInt8], _ replace: (Span<UInt8>) -> [Piece]?
    ) -> [Piece] {
        let shortest = 64
        let span = bytes.span
        let isQuote = { (byte: UInt8) in byte == UInt8(ascii: "\"") }
        var pieces: [Piece] = []
        var end = 0
        var quote = span.firstIndex(from: 0, where: isQuote)
        while let opening = quote,
            let closing = span.firstIndex(from: opening + 1, where: isQuote)
        {
            quote = closing
            guard closing - opening > shortest,
                let replacement = replace(span.extracting(opening + 1..<closing))
            else { continue }
            pieces.append(.literal(Array(bytes[end...opening])))
            pieces += replacement
            end = closing
        }
        return pieces + [.literal(Array(bytes[end...]))]
    }
}

extension KeptCertificate {
    fileprivate convenience init(_ der: [UInt8]) {
        self.init(digest: SHA256.digest(der).bytes, der: der)
    }
}

extension Span<UInt8> {
    fileprivate func firstIndex(from start: Int, where holds: (UInt8) -> Bool) -> Int? {
        var place = start
        while place < count {
            if holds(self[place]) { return place }
            place += 1
        }
        return nil
    }
}
