internal import Core
import Synchronization

/// Takes evidence apart for keeping. Nothing is verified here: what cannot be put back byte for byte
/// is kept whole.
final class EvidencePacker: Sendable {
    /// Longer ones are left where they are; genuine ones are of one to two kilobytes.
    private static let certificateLimit = 16 << 10
    private static let certificateCountLimit = 32

    /// The headers that were seen last: all that one signer signs begins with the same one.
    private let headers = Mutex<[Header]>([])
    private static let headerLimit = 16

    private struct Header {
        let text: [UInt8]
        let pieces: [Piece]
    }

    /// Packs evidence of that kind in its bare form.
    func pack(_ bytes: [UInt8], as kind: EvidenceKind) -> PackedEvidence {
        let whole = PackedEvidence([.literal(bytes)])
        let pieces = kind == .appReceipt ? receipt(bytes) : statement(bytes, bytes.indices)
        guard let pieces else { return whole }
        let packed = PackedEvidence(pieces)
        let isRight =
            packed.certificates.count <= EvidencePacker.certificateCountLimit
            && packed.unpacked() == bytes
        return isRight ? packed : whole
    }

    private func receipt(_ bytes: [UInt8]) -> [Piece]? {
        guard let frame = try? ReceiptFrame(bytes) else { return nil }
        var pieces: [Piece] = []
        var end = 0
        for certificate in frame.certificates where isCertificate(certificate.range.count) {
            pieces.append(.literal(Array(bytes[end..<certificate.range.lowerBound])))
            pieces.append(.certificate(certificate.array))
            end = certificate.range.upperBound
        }
        return pieces + [.literal(Array(bytes[end...]))]
    }

    /// The three parts of a signed statement, decoded; `nil` when it is none.
    private func statement(_ bytes: [UInt8], _ range: Range<Int>) -> [Piece]? {
        let dot = UInt8(ascii: ".")
        let parts = bytes[range].split(separator: dot, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = header(Array(parts[0])),
            let payload = parts[1].withSpan(Base64.url.decode),
            let signature = parts[2].withSpan(Base64.url.decode)
        else { return nil }
        return [
            .encoded(header), .literal([dot]), .encoded(self.payload(payload)), .literal([dot]),
            .encoded([.literal(signature)]),
        ]
    }

    private func header(_ text: [UInt8]) -> [Piece]? {
        let known = headers.withLock { $0.first { $0.text == text }?.pieces }
        if let known { return known }
        guard let decoded = Base64.url.decode(text) else { return nil }
        let pieces = replacing(decoded, where: Base64.standard.holdsPadded) { run in
            guard let der = run.withSpan(Base64.standard.decode), isCertificate(der.count) else {
                return nil
            }
            return [.certificateText(der)]
        }
        headers.withLock { headers in
            if headers.count == EvidencePacker.headerLimit { headers.removeLast() }
            headers.insert(Header(text: text, pieces: pieces), at: 0)
        }
        return pieces
    }

    /// A payload, in which further statements may stand as texts.
    private func payload(_ decoded: [UInt8]) -> [Piece] {
        let holds = { (byte: UInt8) in byte == UInt8(ascii: ".") || Base64.url.holds(byte) }
        return replacing(decoded, where: holds) { run in statement(decoded, run.indices) }
    }

    private func isCertificate(_ count: Int) -> Bool {
        (64...EvidencePacker.certificateLimit).contains(count)
    }

    /// The bytes with each long text in quotes replaced, as far as `replace` gives something for it.
    private func replacing(
        _ bytes: [UInt8], where holds: (UInt8) -> Bool,
        _ replace: (ArraySlice<UInt8>) -> [Piece]?
    ) -> [Piece] {
        let quote = UInt8(ascii: "\"")
        let shortest = 64
        var pieces: [Piece] = []
        var end = 0
        var start = 0
        while let opening = bytes[start...].firstIndex(of: quote) {
            let run = bytes[(opening + 1)...].prefix(while: holds)
            start = run.endIndex
            guard run.count >= shortest, start < bytes.count, bytes[start] == quote,
                let replacement = replace(run)
            else { continue }
            pieces.append(.literal(Array(bytes[end..<run.startIndex])))
            pieces += replacement
            end = run.endIndex
        }
        return pieces + [.literal(Array(bytes[end...]))]
    }
}

extension Base64 {
    fileprivate func holdsPadded(_ character: UInt8) -> Bool {
        character == UInt8(ascii: "=") || holds(character)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func withSpan(_ body: (Span<UInt8>) -> [UInt8]?) -> [UInt8]? { body(span) }
}
