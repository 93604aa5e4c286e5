package import Core
internal import Crypto

/// Evidence in its stored form: the content without certificates, and the certificates that were removed from it.
///
/// The content is a sequence of pieces. Each piece has a mark and data: literal bytes, the number of a certificate to
/// insert in DER or in base64, or pieces to insert as base64url. The parts of a signed statement are thus stored
/// decoded, including those of statements inside another one.
package struct PackedEvidence: Hashable, Sendable {
    package let content: [UInt8]
    /// The certificates, without duplicates.
    package let certificates: [KeptCertificate]

    package init(content: [UInt8], certificates: [KeptCertificate]) {
        self.content = content
        self.certificates = certificates
    }

    init(_ pieces: [Piece]) {
        var writer = PieceWriter()
        for piece in pieces { writer.write(piece) }
        content = writer.content
        certificates = writer.certificates
    }

    /// Returns the original evidence, byte for byte, or `nil` if the content or one of the certificates is damaged.
    package func unpacked() -> [UInt8]? {
        PackedEvidence.unpack(content, certificates.map(\.der))
    }

    /// Returns the original evidence, restored from packed content and certificates in DER.
    static func unpack(_ content: [UInt8], _ certificates: [[UInt8]]) -> [UInt8]? {
        var bytes: [UInt8] = []
        let reader = PieceReader(content: content, certificates: certificates)
        return reader.unpack(content.indices, into: &bytes, depth: 0) ? bytes : nil
    }
}

/// A part of evidence. Each case is a different way to restore it.
enum Piece: Sendable {
    case literal([UInt8])
    case certificate(KeptCertificate)
    /// A certificate to insert in base64.
    case certificateText(KeptCertificate)
    /// Pieces to insert as base64url.
    case encoded([Piece])
}

private enum Mark {
    static let literal: UInt8 = 0
    static let certificate: UInt8 = 1
    static let certificateText: UInt8 = 2
    static let encoded: UInt8 = 3
}

private struct PieceWriter {
    private(set) var content: [UInt8] = []
    private(set) var certificates: [KeptCertificate] = []

    mutating func write(_ piece: Piece) {
        switch piece {
        case .literal(let bytes):
            content.append(Mark.literal)
            write(length: bytes.count)
            content.append(contentsOf: bytes)
        case .certificate(let one): content += [Mark.certificate, number(of: one)]
        case .certificateText(let one): content += [Mark.certificateText, number(of: one)]
        case .encoded(let pieces):
            content.append(Mark.encoded)
            let at = content.count
            write(length: 0)
            for piece in pieces { write(piece) }
            let length = content.count - at - 4
            for place in 0..<4 { content[at + place] = octet(place, of: length) }
        }
    }

    private mutating func number(of certificate: KeptCertificate) -> UInt8 {
        if let index = certificates.firstIndex(of: certificate) {
            return UInt8(truncatingIfNeeded: index)
        }
        certificates.append(certificate)
        // Evidence with more certificates than the packer's limit is stored in one piece, so every number fits in a
        // byte.
        return UInt8(truncatingIfNeeded: certificates.count - 1)
    }

    private mutating func write(length: Int) {
        for place in 0..<4 { content.append(octet(place, of: length)) }
    }

    private func octet(_ place: Int, of length: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: length >> (24 - 8 * place))
    }
}

/// Reassembles evidence from its pieces. Trusts none of the bytes that it reads.
private struct PieceReader {
    /// The maximum depth. A statement inside another statement needs three levels.
    private static let depthLimit = 4

    let content: [UInt8]
    let certificates: [[UInt8]]

    func unpack(_ range: Range<Int>, into bytes: inout [UInt8], depth: Int) -> Bool {
        if depth > PieceReader.depthLimit { return false }
        var rest = range
        while !rest.isEmpty {
            let mark = content[rest.removeFirst()]
            switch mark {
            case Mark.literal:
                guard let literal = take(from: &rest) else { return false }
                bytes += content[literal]
            case Mark.certificate, Mark.certificateText:
                guard let number = rest.popFirst().map({ Int(content[$0]) }),
                    number < certificates.count
                else { return false }
                let der = certificates[number]
                bytes += mark == Mark.certificate ? der : Base64.standard.encode(der)
            case Mark.encoded:
                var decoded: [UInt8] = []
                guard let inside = take(from: &rest),
                    unpack(inside, into: &decoded, depth: depth + 1)
                else { return false }
                bytes += Base64.url.encode(decoded)
            default: return false
            }
            if bytes.count > RawEvidence.byteLimit { return false }
        }
        return true
    }

    /// Reads a length and takes the bytes that follow it.
    private func take(from rest: inout Range<Int>) -> Range<Int>? {
        if rest.count < 4 { return nil }
        var length = 0
        for _ in 0..<4 { length = length << 8 | Int(content[rest.removeFirst()]) }
        if length > rest.count { return nil }
        defer { rest = rest.lowerBound + length..<rest.upperBound }
        return rest.lowerBound..<rest.lowerBound + length
    }
}
