import Core
import Crypto
import JSON
import Minting
import Testing

@testable import Evidence

@Suite("Examinations")
struct ExaminationTests {
    func examine(
        _ bytes: [UInt8], by verifier: Verifier = .trusting,
        _ change: (inout EvidenceQuestion) -> Void = { _ in }
    ) -> Examination {
        var question = EvidenceQuestion(now: Terms.usual.now)
        change(&question)
        return verifier.examine(bytes, question)
    }

    func passed(_ examination: Examination, _ name: Check.Name) -> Bool? {
        examination.checks.first { $0.name == name }?.passed
    }

    @Test("The kind is found from the bytes alone")
    func kinds() {
        let samples: [(EvidenceKind, [UInt8])] = [
            (.appReceipt, ReceiptPlan().bytes),
            (.appReceipt, Array(ReceiptPlan().bytes.base64.utf8)),
            (.signedTransaction, Array(Payload.transaction.signed().utf8)),
            (.renewalInfo, Array(Payload.renewal.signed().utf8)),
            (.appTransaction, Array(Payload.appTransaction.signed().utf8)),
            (.notification, Array(Payload.notification().signed().utf8)),
            (
                .notification,
                (["signedPayload": .string(Payload.notification().signed())] as JSON).bytes
            ),
        ]
        for (kind, bytes) in samples {
            let examination = examine(bytes)
            #expect(examination.kind == kind)
            #expect(examination.isBelieved, "\(kind): \(String(describing: examination.refusal))")
        }
        #expect(examine(ReplyTests.good.json.bytes).kind == .verifyReceiptReply)
    }

    @Test("Bytes that resemble nothing are refused as such", arguments: ["", "{}", "[1]", "\u{1}"])
    func unrecognized(_ text: String) {
        let examination = examine(Array(text.utf8))
        #expect(examination.kind == nil && examination.refusal == .unrecognized)
    }

    @Test("Broken JSON is named", arguments: ["{", "{\"a\":1,\"a\":2}", "{\"signedPayload\":"])
    func brokenJSON(_ text: String) {
        #expect(examine(Array(text.utf8)).refusal?.code == "bad_json")
    }

    @Test("Bytes beyond the limit are refused unread")
    func tooLarge() {
        let examination = examine([UInt8](repeating: 0x30, count: (4 << 20) + 1))
        #expect(examination.refusal == .tooLarge(limit: 4 << 20))
    }

    @Test("A believed receipt passes every requested check, and names the others")
    func believed() {
        let bytes = ReceiptPlan().bytes
        let examination = examine(bytes) {
            $0.bundleID = .example
            $0.device = DeviceID("00010203-0405-0607-0809-0a0b0c0d0e0f")
        }
        #expect(examination.isBelieved)
        #expect(examination.statement?.purchases.count == 1)
        let notMade = examination.checks.filter { $0.passed == nil }.map(\.name)
        #expect(notMade == [.version, .licence])
        #expect(examination.checks.allSatisfy { $0.passed != false })
        #expect(passed(examine(bytes), .bundleID) == .some(nil))
    }

    @Test("A foreign bundle id fails its own check after earlier ones passed")
    func foreign() throws {
        let other = try AppID("com.other")
        let examination = examine(ReceiptPlan().bytes) { $0.bundleID = other }
        #expect(examination.refusal == .foreignBundleID(Payload.bundleID))
        #expect(passed(examination, .chain) == true && passed(examination, .signature) == true)
        #expect(passed(examination, .bundleID) == false)
        #expect(passed(examination, .environment) == .some(nil))
    }

    @Test("A refused receipt still tells what it states")
    func refused() {
        let examination = examine(ReceiptPlan().bytes, by: Verifier(extraRoots: []))
        #expect(examination.refusal == .chain(.untrustedRoot))
        #expect(passed(examination, .format) == true && passed(examination, .chain) == false)
        #expect(examination.statement?.app == .example)
        #expect(examination.statement?.purchases.count == 1)
    }

    @Test("The instant of the question decides what lies in the future")
    func at() {
        let bytes = Array(Payload.transaction.signed().utf8)
        let examination = examine(bytes) { $0.now = Instant(milliseconds: 0) }
        #expect(examination.refusal == .signedInFuture)
        #expect(passed(examination, .signingTime) == false)
    }

    @Test("Renewal info names no app, so its bundle id is not compared")
    func renewal() throws {
        let examination = examine(Array(Payload.renewal.signed().utf8)) {
            $0.bundleID = .example
        }
        #expect(examination.isBelieved)
        #expect(passed(examination, .bundleID) == .some(nil))
    }

    @Test("A reply from a file is refused because nothing signs it, after everything else passed")
    func reply() {
        var payload = ReplyTests.good
        let examination = examine(payload.json.bytes) { $0.bundleID = .example }
        #expect(examination.refusal == .unsigned)
        #expect(passed(examination, .status) == true && passed(examination, .bundleID) == true)
        #expect(passed(examination, .latestReceipt) == .some(nil))
        #expect(passed(examination, .signature) == false)
        #expect(examination.statement?.purchases.count == 2)
        payload["latest_receipt"] = .string(ReceiptPlan().bytes.base64)
        #expect(passed(examine(payload.json.bytes), .latestReceipt) == true)
        payload["latest_receipt"] = "AAAA"
        #expect(passed(examine(payload.json.bytes), .latestReceipt) == false)
        payload["status"] = 21003
        #expect(examine(payload.json.bytes).refusal == .replyRefused(status: 21003))
    }

    @Test("A fault inside a notification fails its own check")
    func inside() {
        var transaction = Payload.transaction
        transaction["bundleId"] = "com.other"
        let bytes = Array(
            Payload.notification(transaction: transaction.signed()).signed().utf8)
        let examination = examine(bytes)
        #expect(passed(examination, .signature) == true && passed(examination, .inside) == false)
        #expect(examination.refusal?.code == "foreign_bundle_id")
    }

    @Test("Device ids are accepted in both forms, and nothing else")
    func deviceIDs() {
        #expect(DeviceID("00010203-0405-0607-0809-0a0b0c0d0e0f")?.bytes == Array(0..<16))
        #expect(DeviceID("00:01:02:03:04:05")?.bytes == Array(0..<6))
        for text in ["", "00", "zz:01:02:03:04:05", "00:01:02:03:04:05:06"] {
            #expect(DeviceID(text) == nil)
        }
    }

    @Test("Every refusal has its own code and a sentence")
    func codes() {
        let refusals: [EvidenceRefusal] = [
            .unrecognized, .wrongKind(expected: .appReceipt, found: .notification),
            .tooLarge(limit: 1), .badBase64, .badJSON("x"), .badASN1, .trailingBytes,
            .transactionReceipt, .malformedSignedJSON, .algorithmRefused(nil), .certificateCount(2),
            .unknownCriticalHeader, .wrongContentType, .contentMissing, .noSigner,
            .severalSigners, .signerCertificateMissing, .signatureForm, .signatureInvalid,
            .unsigned, .invalidMember("x"), .signedDateMissing, .signedInFuture, .weakDigest,
            .unknownEnvironment("x"), .extraRootForProduction, .extraRootNeeded("x"),
            .foreignEnvironment(.sandbox), .foreignBundleID("x"), .foreignAppID,
            .versionMismatch, .deviceMismatch, .receiptExpired, .replyRefused(status: 1),
            .replyLater(status: 1), .replyFromOtherEnvironment(.sandbox),
        ]
        #expect(Set(refusals.map(\.code)).count == refusals.count)
        #expect(Set(refusals.map(\.description)).count == refusals.count)
    }
}
