import Core
import Crypto
import Minting
import Testing

@testable import Evidence

/// Tests receipts that differ from a valid one in one detail.
@Suite("Forged app receipts")
struct ForgedReceiptTests {
    let good = ReceiptPlan()

    func refused(_ bytes: [UInt8]) -> EvidenceRefusal? { refusal(of: bytes, as: .appReceipt) }

    func refused(_ change: (inout ReceiptPlan) -> Void) -> EvidenceRefusal? {
        var plan = good
        change(&plan)
        return refused(plan.bytes)
    }

    func refused(leaf: CertificatePlan) -> EvidenceRefusal? {
        refused(ReceiptPlan(chain: MintedChain.receipts.with(leaf: leaf)).bytes)
    }

    func refused(intermediate: CertificatePlan) -> EvidenceRefusal? {
        refused(ReceiptPlan(chain: MintedChain.receipts.with(intermediate: intermediate)).bytes)
    }

    @Test("The good sample is believed")
    func isGood() {
        #expect(refused(good.bytes) == nil)
    }

    // MARK: Form

    @Test("Base64 that is not strict is refused", arguments: ["\n", " ", "=", "====", "-", "A"])
    func badBase64(_ end: String) {
        #expect(refused(Array((good.bytes.base64 + end).utf8)) == .badBase64)
        #expect(refused(Array("not base64".utf8)) == .badBase64)
    }

    @Test("Base64 of something else is refused as that, including a receipt in base64 twice")
    func base64OfAnything() {
        for bytes in [[0, 0, 0], Array("some words".utf8), Array(good.bytes.base64.utf8)] {
            #expect(refused(Array(bytes.base64.utf8)) == .badASN1)
        }
    }

    @Test("ASN.1 that is broken is refused")
    func badASN1() {
        #expect(refused([]) == .badASN1)
        #expect(refused([0x30]) == .badASN1)
        #expect(refused([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]) == .badASN1)
        #expect(refused([0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8)) == .badASN1)
        #expect(refused([0x30, 0x80]) == .badASN1)
        #expect(refused([0x30, 0x00]) == .badASN1)
    }

    @Test("A receipt cut at any byte is refused", arguments: [ReceiptPlan.Form.der, .ber])
    func truncated(_ form: ReceiptPlan.Form) {
        var plan = good
        plan.form = form
        let bytes = plan.bytes
        for count in 0..<bytes.count {
            #expect(refused(Array(bytes[..<count])) == .badASN1, "cut after \(count) bytes")
        }
    }

    @Test("A receipt flipped in any bit is refused, or says exactly the same")
    func flipped() throws {
        let bytes = good.bytes
        let fact = try Verifier.trusting.verify(bytes, as: .appReceipt, on: .usual).facts
        for bit in stride(from: 0, to: bytes.count * 8, by: 13) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            // Some bytes do not matter: the root, which Deed does not read, and a digest that nothing uses.
            let statement = try? Verifier.trusting.verify(
                flipped, as: .appReceipt, on: .usual)
            #expect(statement == nil || statement?.facts == fact, "bit \(bit)")
        }
    }

    @Test("Bytes after the receipt are refused", arguments: [[0x00], [0x30, 0x00], [0x0A]])
    func trailing(_ rest: [UInt8]) {
        #expect(refused(good.bytes + rest) == .trailingBytes)
        var plan = good
        plan.form = .ber
        #expect(refused(plan.bytes + rest) == .trailingBytes)
    }

    @Test("Another content type is refused, outside and inside")
    func contentType() {
        #expect(refused { $0.outerType = ASN1.envelopedData } == .wrongContentType)
        #expect(refused { $0.innerType = ASN1.envelopedData } == .wrongContentType)
    }

    @Test("A signature without what it signs is refused")
    func detached() {
        #expect(refused { $0.hasContent = false } == .contentMissing)
    }

    @Test("No signer and two signers are refused")
    func signers() {
        #expect(refused { $0.signerCount = 0 } == .noSigner)
        #expect(refused { $0.signerCount = 2 } == .severalSigners)
    }

    @Test("Other digests and signature algorithms are refused")
    func algorithms() {
        #expect(refused { $0.digestName = ASN1.md5 }?.code == "algorithm_refused")
        #expect(refused { $0.signatureName = ASN1.data }?.code == "algorithm_refused")
        #expect(refused { $0.signatureName = ASN1.rsaSHA1 }?.code == "algorithm_refused")
    }

    @Test("A digest other than the one that was signed is refused")
    func otherDigest() {
        #expect(refused { $0.digestName = ASN1.sha1 } == .signatureInvalid)
        #expect(refused { $0.digest = .sha1 } == .signatureInvalid)
    }

    @Test("Too many certificates are refused")
    func certificateBomb() {
        #expect(
            refused { plan in
                plan.certificates = [[UInt8]](repeating: plan.certificates[0], count: 9)
            } == .chain(.tooManyCertificates(limit: 8)))
    }

    @Test("Nesting beyond sixteen levels is refused, however deep")
    func depthBomb() {
        let deep = [UInt8](repeating: 0, count: 2 << 20).enumerated().map { index, _ in
            index % 2 == 0 ? UInt8(0x30) : 0x80
        }
        #expect(refused(deep) == .badASN1)
        var octets = ASN1.octets([1])
        for _ in 0..<20 { octets = ASN1.element(0x24, octets) }
        #expect(refused(good.bytes(content: octets)) == .badASN1)
        var reader = BERReader(ByteRange(octets))
        #expect(throws: BERFault.tooDeep) { try reader.string(BERTag.octets) }
        var deepReader = BERReader(ByteRange(deep))
        #expect(throws: BERFault.tooDeep) { try deepReader.next() }
    }

    @Test("A receipt beyond four mebibytes is refused unread")
    func sizeBomb() {
        let bytes = [UInt8](repeating: 0x30, count: (4 << 20) + 1)
        #expect(refused(bytes) == .tooLarge(limit: 4 << 20))
    }

    // MARK: Signature

    @Test("A signature flipped in any one bit is refused")
    func flippedSignature() {
        let content = good.attributes.encoded
        let signature = good.signer.key.sign(content, .sha256)
        // This puts the chain into the cache, so that below only the signature is checked.
        #expect(refused(good.bytes(content: content, signature: signature)) == nil)
        for bit in stride(from: 0, to: signature.count * 8, by: 3) {
            var flipped = signature
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(
                refused(good.bytes(content: content, signature: flipped)) == .signatureInvalid)
        }
        #expect(refused(good.bytes(content: content, signature: [])) == .signatureInvalid)
    }

    @Test("A content flipped in any one bit is refused, also under signed attributes")
    func flippedContent() {
        let content = good.attributes.encoded
        for hasSignedAttributes in [false, true] {
            var plan = good
            plan.hasSignedAttributes = hasSignedAttributes
            let bytes = plan.bytes
            let starts = bytes.indices.filter { bytes[$0...].starts(with: content) }
            #expect(starts.count == 1)
            for start in starts {
                for bit in stride(from: 0, to: content.count * 8, by: 11) {
                    var flipped = bytes
                    flipped[start + bit / 8] ^= 1 << (bit % 8)
                    #expect(refused(flipped) == .signatureInvalid)
                }
            }
        }
    }

    @Test("Signed attributes do not pass for the content that they vouch for")
    func attributesAsContent() {
        var plan = good
        plan.hasSignedAttributes = true
        let attributes = ASN1.set([
            ASN1.sequence([ASN1.contentType, ASN1.set([ASN1.data])]),
            ASN1.sequence([
                ASN1.messageDigest,
                ASN1.set([ASN1.octets(MintedDigest.sha256.of(plan.attributes.encoded))]),
            ]),
        ])
        let signature = plan.signer.key.sign(attributes, .sha256)
        #expect(
            refused(good.bytes(content: attributes, signature: signature)) == .badASN1)
    }

    // MARK: Certificates

    @Test("A receipt with a fake root of the same name embedded is refused")
    func fakeRoot() {
        #expect(
            refused(ReceiptPlan(chain: MintedChain(.receipts)).bytes) == .chain(.untrustedRoot))
    }

    @Test("A chain without its intermediate, or without its leaf, is refused")
    func missingCertificates() {
        #expect(refused { $0.certificates.remove(at: 1) } == .chain(.issuerMissing))
        #expect(refused { $0.certificates.remove(at: 0) } == .signerCertificateMissing)
        #expect(refused { $0.certificates = [] } == .signerCertificateMissing)
    }

    @Test("The embedded root is not needed")
    func noRoot() {
        #expect(refused { $0.certificates.remove(at: 2) } == nil)
    }

    @Test("Missing markers are refused on leaf and intermediate")
    func markers() {
        var leaf = CertificatePlan.leaf
        leaf.markers = []
        #expect(refused(leaf: leaf) == .chain(.markerMissing(.leaf)))
        var intermediate = CertificatePlan.intermediate
        intermediate.markers = []
        #expect(refused(intermediate: intermediate) == .chain(.markerMissing(.intermediate)))
    }

    @Test("A genuine leaf cannot issue certificates, with or without its whole chain")
    func leafAsAuthority() {
        let chain = MintedChain.receipts
        var plan = CertificatePlan.leaf
        plan.name = "Minted by a Leaf"
        let forged = MintedCertificate(plan, key: MintedKey(.rsa2048), issuer: chain.leaf)
        let refusal = refused {
            $0.signer = forged
            $0.certificates.append(forged.der)
        }
        #expect(refusal == .chain(.notAnAuthority(.intermediate)))
    }

    @Test("A second authority below the first one is refused: the path has one")
    func longPath() {
        let chain = MintedChain.receipts
        var plan = CertificatePlan.intermediate
        plan.name = "Minted Second Intermediate"
        let second = MintedCertificate(
            plan, key: MintedKey(.rsa2048), issuer: chain.intermediate)
        let leaf = MintedCertificate(.leaf, key: MintedKey(.rsa2048), issuer: second)
        let refusal = refused {
            $0.signer = leaf
            $0.certificates += [second.der, leaf.der]
        }
        #expect(refusal == .chain(.untrustedRoot))
    }

    @Test("Certificates that were expired or not yet valid at the creation date are refused")
    func validity() {
        #expect(
            refused { $0.attributes[attribute: 12] = ASN1.ia5("2024-10-01T19:00:00Z") }
                == .chain(.expired))
        #expect(
            refused { $0.attributes[attribute: 12] = ASN1.ia5("2022-09-02T18:59:59Z") }
                == .chain(.notYetValid))
    }

    @Test("Certificates for transactions do not sign receipts")
    func otherChain() throws {
        var chain = MintedChain.transactions
        chain.leaf = MintedCertificate(.leaf, key: MintedKey(.p256), issuer: chain.intermediate)
        #expect(
            refused(ReceiptPlan(chain: chain).bytes) == .chain(.unsupportedKey(.leaf)))
    }

    @Test("An unknown critical extension is refused")
    func criticalExtension() {
        var leaf = CertificatePlan.leaf
        leaf.criticalExtension = "1.2.3.4.5"
        #expect(refused(leaf: leaf) == .chain(.unknownCriticalExtension(.leaf)))
    }

    @Test("Other certificates with the intermediate's name do not block the true one")
    func sameName() {
        let impostor = MintedCertificate(.intermediate, key: MintedKey(.rsa2048))
        #expect(refused { $0.certificates.insert(impostor.der, at: 0) } == nil)
    }

    // MARK: What it states

    @Test("Another app's receipt is refused")
    func foreignBundleID() {
        #expect(
            refused { $0.attributes[attribute: 2] = ASN1.utf8("com.other") }
                == .foreignBundleID("com.other"))
    }

    @Test("An environment that the app does not accept is refused, and so is an unknown one")
    func environment() {
        var terms = Terms.usual
        terms.apps = [TrustedApp(id: .example, appleID: nil, environments: [.production])]
        #expect(
            refusal(of: good.bytes, as: .appReceipt, on: terms) == .foreignEnvironment(.sandbox))
        #expect(
            refused { $0.attributes[attribute: 0] = ASN1.utf8("Moon") }
                == .unknownEnvironment("Moon"))
        #expect(
            refused { $0.attributes[attribute: 0] = nil } == .invalidMember("environment"))
    }

    @Test("A creation date ahead of the clock is refused")
    func future() {
        var terms = Terms.usual
        terms.now = Payload.signedAt.advanced(byMilliseconds: -5 * 60_000 - 1)
        #expect(refusal(of: good.bytes, as: .appReceipt, on: terms) == .signedInFuture)
    }

    @Test("A receipt without app or creation date is refused", arguments: [Int64(2), 12])
    func missing(_ number: Int64) {
        #expect(
            refused { $0.attributes[attribute: number] = nil }
                == .invalidMember("attribute \(number)"))
    }

    @Test(
        "A purchase without id, product or date is refused", arguments: [Int64(1702), 1703, 1704])
    func missingInPurchase(_ number: Int64) {
        let refusal = refused { plan in
            var purchase: [ReceiptAttribute] = .purchase()
            purchase[attribute: number] = nil
            plan.attributes = .receipt(purchases: [purchase])
        }
        #expect(refusal == .invalidMember("attribute \(number)"))
    }

    static let badValues = [
        ReceiptAttribute(12, ASN1.ia5("yesterday")), ReceiptAttribute(12, ASN1.integer(1)),
        ReceiptAttribute(2, ASN1.utf8("a\u{0}b")), ReceiptAttribute(2, [0x0C, 0x01, 0xFF]),
        ReceiptAttribute(2, ASN1.utf8("a") + [0]), ReceiptAttribute(1, ASN1.utf8("1")),
        ReceiptAttribute(1, [0x02, 0x09, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ReceiptAttribute(1, [0x02, 0x00]),
    ]

    @Test("Values of the wrong kind are refused", arguments: badValues)
    func badValue(_ attribute: ReceiptAttribute) {
        let codes = ["bad_asn1", "invalid_member"]
        let refusal = refused { $0.attributes[attribute: attribute.number] = attribute.value }
        #expect(codes.contains(refusal?.code ?? "believed"))
    }

    @Test("Two values for one attribute are refused")
    func twice() {
        #expect(
            refused { $0.attributes.append(ReceiptAttribute(2, ASN1.utf8("com.other"))) }
                == .badASN1)
    }

    @Test("Content with bytes after its attributes is refused")
    func trailingContent() {
        #expect(refused(good.bytes(content: good.attributes.encoded + [0x05, 0x00])) == .badASN1)
    }
}
