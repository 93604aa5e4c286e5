/// Writes ASN.1 without a library, so that each octet can be forged.
package enum ASN1 {
    package static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// Returns the same element, encoded in BER with indefinite length.
    package static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x80] + content + [0, 0]
    }

    package static func integer(_ value: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        repeat {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while (rest != 0 && rest != -1) || (rest == 0) == (bytes[0] & 0x80 != 0)
        return element(0x02, bytes)
    }

    package static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    package static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    package static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    package static func sequence(_ parts: [[UInt8]]) -> [UInt8] {
        element(0x30, Array(parts.joined()))
    }
    package static func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, Array(parts.joined())) }

    package static let null: [UInt8] = [0x05, 0x00]
    package static let data: [UInt8] = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
    package static let signedData = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
    package static let envelopedData = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x03])
    package static let contentType = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03])
    package static let messageDigest = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04])
    package static let rsa = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
    package static let rsaSHA1 = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05])
    package static let rsaSHA256 = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B])
    package static let sha1 = oid([0x2B, 0x0E, 0x03, 0x02, 0x1A])
    package static let sha256 = oid([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
    package static let md5 = oid([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05])

    private static func oid(_ content: [UInt8]) -> [UInt8] { element(0x06, content) }
}

/// An attribute of a receipt, with its encoded value.
package struct ReceiptAttribute: Sendable {
    package var number: Int64
    package var value: [UInt8]

    package init(_ number: Int64, _ value: [UInt8]) {
        self.number = number
        self.value = value
    }

    var encoded: [UInt8] {
        ASN1.sequence([ASN1.integer(number), ASN1.integer(1), ASN1.octets(value)])
    }
}

extension [ReceiptAttribute] {
    /// The SET of these attributes, in the given order.
    package var encoded: [UInt8] { ASN1.set(map(\.encoded)) }

    package subscript(attribute number: Int64) -> [UInt8]? {
        get { first { $0.number == number }?.value }
        set {
            let index = firstIndex { $0.number == number }
            switch (index, newValue) {
            case (let index?, let value?): self[index].value = value
            case (let index?, nil): remove(at: index)
            case (nil, let value?): append(ReceiptAttribute(number, value))
            case (nil, nil): break
            }
        }
    }

    /// Returns the attributes of a subscription purchase.
    package static func purchase(
        transaction: String = "1000000000000002", original: String = "1000000000000001"
    ) -> [ReceiptAttribute] {
        [
            ReceiptAttribute(1708, ASN1.ia5("2023-06-01T09:59:59Z")),
            ReceiptAttribute(1701, ASN1.integer(1)),
            ReceiptAttribute(1702, ASN1.utf8("com.example.pro.month")),
            ReceiptAttribute(1703, ASN1.utf8(transaction)),
            ReceiptAttribute(1704, ASN1.ia5("2023-05-01T09:59:59Z")),
            ReceiptAttribute(1705, ASN1.utf8(original)),
            ReceiptAttribute(1706, ASN1.ia5("2023-04-01T09:59:59Z")),
            ReceiptAttribute(1707, ASN1.integer(3)), ReceiptAttribute(1709, ASN1.utf8("")),
            ReceiptAttribute(1710, ASN1.integer(0)),
            ReceiptAttribute(1711, ASN1.integer(1_000_000_000_077)),
            ReceiptAttribute(1712, ASN1.ia5("")), ReceiptAttribute(1713, ASN1.integer(0)),
            ReceiptAttribute(1719, ASN1.integer(0)), ReceiptAttribute(1722, ASN1.integer(0)),
        ]
    }

    /// Returns the attributes of a sandbox receipt for the device `ReceiptPlan.device`.
    package static func receipt(
        purchases: [[ReceiptAttribute]] = [.purchase()]
    ) -> [ReceiptAttribute] {
        let opaque: [UInt8] = [0xD0, 0x1A, 0x00, 0xFF, 0x04]
        let bundleID = ASN1.utf8(Payload.bundleID)
        let hash = MintedDigest.sha1.of(ReceiptPlan.device + opaque + bundleID)
        return [
            ReceiptAttribute(20, ASN1.utf8("")), ReceiptAttribute(3, ASN1.utf8("42")),
            ReceiptAttribute(12, ASN1.ia5("2023-05-01T10:00:00Z")), ReceiptAttribute(5, hash),
            ReceiptAttribute(2, bundleID), ReceiptAttribute(4, opaque),
            ReceiptAttribute(0, ASN1.utf8("ProductionSandbox")),
            ReceiptAttribute(1, ASN1.integer(0)), ReceiptAttribute(8, ASN1.ia5("")),
            ReceiptAttribute(18, ASN1.ia5("2013-08-01T07:00:00Z")),
            ReceiptAttribute(19, ASN1.utf8("1.0")), ReceiptAttribute(21, ASN1.ia5("")),
            ReceiptAttribute(9999, [0xFF, 0xFF]),
        ] + purchases.map { ReceiptAttribute(17, $0.encoded) }
    }
}

/// The content of a PKCS#7 receipt to mint. A change to a single member makes it a forgery.
package struct ReceiptPlan: Sendable {
    package enum Form: Sendable {
        case der
        /// BER with indefinite lengths and with the content in several pieces.
        case ber
    }
    /// The vendor identifier `00010203-0405-0607-0809-0a0b0c0d0e0f`.
    package static let device: [UInt8] = Array(0..<16)

    package var attributes: [ReceiptAttribute] = .receipt()
    package var form = Form.der
    package var digest = MintedDigest.sha256
    package var digestName = ASN1.sha256
    package var signatureName = ASN1.rsa
    package var hasSignedAttributes = false
    package var outerType = ASN1.signedData
    package var innerType = ASN1.data
    package var hasContent = true
    /// How many times the only signer appears in the list of signers.
    package var signerCount = 1
    package var certificates: [[UInt8]]
    package var signer: MintedCertificate

    package init(chain: MintedChain = .receipts) {
        certificates = chain.certificates.map(\.der)
        signer = chain.leaf
    }

    package var bytes: [UInt8] { bytes(content: attributes.encoded) }

    /// Returns a signed receipt with this content.
    package func bytes(content: [UInt8]) -> [UInt8] {
        let attributes = hasSignedAttributes ? signedAttributes(of: content) : nil
        let signature = signer.key.sign(attributes.map { ASN1.set($0) } ?? content, digest)
        return bytes(content: content, signature: signature)
    }

    /// Returns a receipt with this content and signature.
    package func bytes(content: [UInt8], signature: [UInt8]) -> [UInt8] {
        let signers = [[UInt8]](
            repeating: signerInfo(content, signature), count: signerCount)
        let inside = [
            ASN1.integer(1), ASN1.set([algorithm(digestName)]), wrappedContent(content),
            element(0xA0, certificates), element(0x31, signers),
        ]
        return element(0x30, [outerType, element(0xA0, [element(0x30, inside)])])
    }

    private func element(_ tag: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
        let content = Array(parts.joined())
        return form == .der ? ASN1.element(tag, content) : ASN1.indefinite(tag, content)
    }

    private func wrappedContent(_ content: [UInt8]) -> [UInt8] {
        guard hasContent else { return element(0x30, [innerType]) }
        let octets: [UInt8]
        switch form {
        case .der: octets = ASN1.octets(content)
        case .ber:
            let middle = content.count / 2
            let first = ASN1.octets(Array(content[..<middle]))
            let second = ASN1.indefinite(0x24, ASN1.octets(Array(content[middle...])))
            octets = ASN1.indefinite(0x24, first + second)
        }
        return element(0x30, [innerType, element(0xA0, [octets])])
    }

    private func algorithm(_ name: [UInt8]) -> [UInt8] { ASN1.sequence([name, ASN1.null]) }

    private func signedAttributes(of content: [UInt8]) -> [[UInt8]] {
        [
            ASN1.sequence([ASN1.contentType, ASN1.set([ASN1.data])]),
            ASN1.sequence([ASN1.messageDigest, ASN1.set([ASN1.octets(digest.of(content))])]),
        ]
    }

    private func signerInfo(_ content: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        var parts = [
            ASN1.integer(1), ASN1.element(0x30, signer.issuerAndSerial), algorithm(digestName),
        ]
        if hasSignedAttributes {
            parts.append(ASN1.element(0xA0, Array(signedAttributes(of: content).joined())))
        }
        return element(0x30, parts + [algorithm(signatureName), ASN1.octets(signature)])
    }
}
