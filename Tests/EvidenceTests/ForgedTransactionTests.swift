import Core
import Crypto
import JSON
import Minting
import Testing

@testable import Evidence

/// Tests transactions that differ from a valid one in one detail.
@Suite("Forged signed transactions")
struct ForgedTransactionTests {
    let good = SignedJSONPlan(Payload.transaction.json)

    func refused(_ text: String, by verifier: Verifier = .trusting) -> EvidenceRefusal? {
        refusal(of: Array(text.utf8), as: .signedTransaction, by: verifier)
    }

    func refused(_ name: String, _ value: JSON?) -> EvidenceRefusal? {
        var payload = Payload.transaction
        payload[name] = value
        return refused(payload.signed())
    }

    @Test("The good sample is believed")
    func isGood() {
        #expect(refused(good.text) == nil)
    }

    // MARK: Form

    @Test("Padded base64url is refused in each part", arguments: [0, 1, 2])
    func padded(_ part: Int) {
        var parts = good.text.split(separator: ".").map(String.init)
        parts[part] += String(repeating: "=", count: (4 - parts[part].utf8.count % 4) % 4)
        if parts[part].last != "=" { parts[part] += "====" }
        #expect(
            refused(parts.joined(separator: ".")) == (part == 1 ? .signatureInvalid : .badBase64))
    }

    @Test("A trailing newline is refused", arguments: ["\n", "\r\n", " "])
    func newline(_ end: String) {
        #expect(refused(good.text + end) == .badBase64)
    }

    @Test("The standard alphabet is refused where base64url belongs")
    func alphabet() {
        let signature = good.key.signRaw(Array(good.signedText.utf8))
        let text = good.text(signature: signature)
        let swapped = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        if swapped != text { #expect(refused(swapped) != nil) }
        #expect(Base64.url.decode(Array("+/+/".utf8)) == nil)
    }

    @Test("A signature cut at every character is refused, and so is any shorter text")
    func truncated() {
        let text = good.bytes
        for count in 0..<text.count {
            #expect(
                refusal(of: Array(text[..<count]), as: .signedTransaction) != nil,
                "cut after \(count) bytes")
        }
    }

    @Test("A wrong number of parts is refused", arguments: ["", ".", "..", "a.b", "a.b.c.d"])
    func parts(_ text: String) {
        #expect(refused(text) == .malformedSignedJSON)
    }

    @Test(
        "Any algorithm but ES256 is refused by its name",
        arguments: ["none", "HS256", "ES384", "RS256", "es256", ""])
    func algorithm(_ name: String) {
        var plan = good
        plan.algorithm = .string(name)
        #expect(refused(plan.text) == .algorithmRefused(name))
    }

    @Test("An unsigned transaction is refused in every form")
    func unsigned() {
        var plan = good
        plan.algorithm = "none"
        #expect(refused(plan.signedText + ".") == .algorithmRefused("none"))
        #expect(refused(good.signedText + ".") == .signatureForm)
    }

    @Test("A header without an algorithm is refused")
    func noAlgorithm() {
        var plan = good
        plan.algorithm = nil
        #expect(refused(plan.text) == .algorithmRefused(nil))
    }

    @Test("A header that demands an extension is refused")
    func criticalHeader() {
        var plan = good
        plan.extraHeader = [("crit", ["b64"]), ("b64", false)]
        #expect(refused(plan.text) == .unknownCriticalHeader)
    }

    @Test(
        "A genuine leaf with any number of certificates but three is refused",
        arguments: [0, 1, 2, 4])
    func certificateCount(_ count: Int) {
        var plan = good
        plan.certificates = Array((good.certificates + good.certificates)[..<count])
        #expect(refused(plan.text) == .certificateCount(count))
    }

    @Test("A certificate in base64url instead of base64 is refused")
    func certificateAlphabet() throws {
        var plan = good
        plan.extraHeader = [
            ("x5c", .array(good.certificates.map { .string($0.base64URL) }))
        ]
        let header: JSON = ["alg": "ES256", "x5c": plan.extraHeader[0].1]
        let text = header.bytes.base64URL + "." + good.payload.bytes.base64URL
        let signed = text + "." + good.key.signRaw(Array(text.utf8)).base64URL
        #expect(refused(signed) == .badBase64)
    }

    @Test("An invalid certificate, or one with trailing bytes, is refused")
    func badCertificate() {
        var plan = good
        plan.certificates[0] = [0x30, 0x03, 0x02, 0x01, 0x01]
        #expect(refused(plan.text) == .chain(.badCertificate))
        plan.certificates[0] = good.certificates[0] + [0]
        #expect(refused(plan.text) == .chain(.badCertificate))
    }

    @Test("Duplicate members are refused in header and payload")
    func duplicates() {
        var plan = good
        plan.extraHeader = [("alg", "ES256")]
        #expect(refused(plan.text)?.code == "bad_json")
        let members = String(Payload.transaction.json.text.dropLast())
        let payload = Array((members + ",\"bundleId\":\"\(Payload.bundleID)\"}").utf8)
        let text = good.header.bytes.base64URL + "." + payload.base64URL
        let signed = text + "." + good.key.signRaw(Array(text.utf8)).base64URL
        #expect(refused(signed)?.code == "bad_json")
    }

    @Test("A payload nested too deeply is refused")
    func depthBomb() {
        var nested: JSON = []
        for _ in 0..<16 { nested = [nested] }
        #expect(refused("bomb", nested)?.code == "bad_json")
        let header = String(repeating: "[", count: 40_000)
        #expect(refused(Array(header.utf8).base64URL + ".e30.e30")?.code == "bad_json")
    }

    @Test("Nothing but dots, or a certificate beyond any real size, is refused")
    func otherBombs() {
        let dots = [UInt8](repeating: UInt8(ascii: "."), count: 4 << 20)
        #expect(refusal(of: dots, as: .signedTransaction) == .malformedSignedJSON)
        let examination = Verifier.trusting.examine(dots, EvidenceQuestion(now: Terms.usual.now))
        #expect(examination.refusal == .malformedSignedJSON)
        var plan = good
        plan.certificates[0] = ASN1.sequence([[UInt8](repeating: 0, count: 20_000)])
        #expect(refused(plan.text) == .chain(.badCertificate))
    }

    @Test("An oversized header or whole is refused")
    func sizeBomb() {
        let header = [UInt8](repeating: 0x20, count: 60_000)
        #expect(refused(header.base64URL + ".e30.e30") == .tooLarge(limit: 64 << 10))
        let whole = [UInt8](repeating: UInt8(ascii: "A"), count: (4 << 20) + 1)
        #expect(
            refusal(of: whole, as: .signedTransaction) == .tooLarge(limit: 4 << 20))
    }

    // MARK: Signature

    @Test("A signature flipped in any one bit is refused")
    func flippedSignature() {
        let signature = good.key.signRaw(Array(good.signedText.utf8))
        for bit in 0..<512 {
            var flipped = signature
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(refused(good.text(signature: flipped)) == .signatureInvalid)
        }
    }

    @Test("A payload flipped in any one bit is refused")
    func flippedPayload() {
        let signature = good.key.signRaw(Array(good.signedText.utf8)).base64URL
        let payload = good.payload.bytes
        let header = good.header.bytes.base64URL
        for bit in stride(from: 0, to: payload.count * 8, by: 7) {
            var flipped = payload
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(refused("\(header).\(flipped.base64URL).\(signature)") == .signatureInvalid)
        }
    }

    @Test("A signature in DER is refused")
    func derSignature() {
        let der = good.key.sign(Array(good.signedText.utf8), .sha256)
        #expect(refused(good.text(signature: der)) == .signatureForm)
    }

    @Test("A signature of another length is refused", arguments: [0, 1, 32, 63, 65, 96, 128])
    func signatureLength(_ count: Int) {
        #expect(
            refused(good.text(signature: [UInt8](repeating: 1, count: count))) == .signatureForm)
    }

    @Test("A signature with r or s zero is refused")
    func zeroes() {
        let signature = good.key.signRaw(Array(good.signedText.utf8))
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(refused(good.text(signature: zero + signature[32...])) == .signatureForm)
        #expect(refused(good.text(signature: signature[..<32] + zero)) == .signatureForm)
        #expect(refused(good.text(signature: zero + zero)) == .signatureForm)
    }

    @Test("A signature with r or s of the order of the curve or more is refused")
    func overflow() {
        let signature = good.key.signRaw(Array(good.signedText.utf8))
        let large = [UInt8](repeating: 0xFF, count: 32)
        #expect(refused(good.text(signature: large + signature[32...])) == .signatureInvalid)
        #expect(refused(good.text(signature: signature[..<32] + large)) == .signatureInvalid)
    }

    @Test("The signature of another transaction is refused")
    func otherSignature() {
        var payload = Payload.transaction
        payload["transactionId"] = "3"
        let other = SignedJSONPlan(payload.json)
        let signature = other.key.signRaw(Array(other.signedText.utf8))
        #expect(refused(good.text(signature: signature)) == .signatureInvalid)
    }

    // MARK: What it states

    @Test("Another app's transaction is refused")
    func foreignBundleID() {
        #expect(refused("bundleId", "com.other") == .foreignBundleID("com.other"))
    }

    @Test("A bundle id that only looks the same is refused")
    func similarBundleID() {
        #expect(refused("bundleId", "com.Example.app")?.code == "foreign_bundle_id")
        #expect(refused("bundleId", "com.example.app ")?.code == "foreign_bundle_id")
    }

    @Test("An environment that the app does not accept is refused")
    func foreignEnvironment() {
        var terms = Terms.usual
        terms.apps = [
            TrustedApp(id: .example, appleID: nil, environments: [.production])
        ]
        #expect(
            refusal(of: good.bytes, as: .signedTransaction, on: terms)
                == .foreignEnvironment(.sandbox))
    }

    @Test("An unknown environment is refused, and so is a missing one")
    func unknownEnvironment() {
        #expect(refused("environment", "Moon") == .unknownEnvironment("Moon"))
        #expect(refused("environment", nil) == .invalidMember("environment"))
    }

    @Test("A missing signedDate is refused")
    func noDate() {
        #expect(refused("signedDate", nil) == .signedDateMissing)
    }

    @Test("A signedDate up to five minutes ahead is believed, and no more")
    func future() {
        var terms = Terms.usual
        terms.now = Payload.signedAt.advanced(byMilliseconds: -5 * 60_000)
        #expect(refusal(of: good.bytes, as: .signedTransaction, on: terms) == nil)
        terms.now = terms.now.advanced(byMilliseconds: -1)
        let refused = refusal(of: good.bytes, as: .signedTransaction, on: terms)
        #expect(refused == .signedInFuture)
        #expect(refused?.cure == .time)
    }

    @Test("Dates at the ends of time are refused without harm")
    func endsOfTime() {
        #expect(refused("signedDate", 0) == .chain(.notYetValid))
        #expect(refused("signedDate", .integer(Int64.min)) == .instantOutOfRange("signedDate"))
        #expect(refused("signedDate", 253_402_300_799_999) == .signedInFuture)
        #expect(refused("signedDate", .integer(-1)) == .instantOutOfRange("signedDate"))
        #expect(refused("signedDate", .decimal("1e400")) == .invalidMember("signedDate"))
    }

    @Test("A store's name that leaves no room for Deed's longer names is refused")
    func longNames() {
        for name in [
            "transactionId", "originalTransactionId", "previousOriginalTransactionId",
            "appTransactionId",
        ] {
            let longest = String(repeating: "1", count: 128)
            #expect(refused(name, .string(longest)) == nil)
            #expect(refused(name, .string(longest + "1")) == .invalidMember(name))
        }
    }

    @Test("A negative quantity is refused")
    func quantity() {
        #expect(refused("quantity", -1) == .invalidMember("quantity"))
        #expect(refused("quantity", .integer(Int64.min)) == .invalidMember("quantity"))
        #expect(refused("quantity", 0) == nil)
    }

    @Test("One kind of signed statement does not pass for another")
    func wrongKind() {
        let kinds: [(EvidenceKind, Payload)] = [
            (.signedTransaction, .transaction), (.renewalInfo, .renewal),
            (.appTransaction, .appTransaction), (.notification, .notification()),
        ]
        for (kind, payload) in kinds {
            let bytes = Array(payload.signed().utf8)
            for (other, _) in kinds where other != kind {
                #expect(
                    refusal(of: bytes, as: other) == .wrongKind(expected: other, found: kind))
            }
        }
    }
}
