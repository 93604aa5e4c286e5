import Core
import Crypto
import JSON
import Minting
import Telemetry
import Testing

@testable import Evidence

@Suite("Proving evidence for recording")
struct ProverTests {
    let metrics = Metrics()
    let prover: Prover
    let apps = Terms.usual.apps
    let now = Terms.usual.now

    init() {
        prover = Prover(Verifier.trusting, metrics: metrics)
    }

    func prove(
        _ kind: EvidenceKind, _ bytes: [UInt8], apps: [TrustedApp]? = nil, now: Instant? = nil
    ) throws(RefusedEvidence) -> ProvenEvidence {
        try prover.prove(
            RawEvidence(kind, bytes), for: apps ?? self.apps, now: now ?? self.now)
    }

    func refusal(
        _ kind: EvidenceKind, _ bytes: [UInt8], apps: [TrustedApp]? = nil, now: Instant? = nil
    ) -> String? {
        do throws(RefusedEvidence) {
            _ = try prove(kind, bytes, apps: apps, now: now)
            return nil
        } catch {
            return error.code
        }
    }

    func counted(_ line: String) -> Bool { metrics.text().contains("\n\(line)\n") }

    @Test("A transaction gives its facts, its app, its environment and its stored form")
    func transaction() throws {
        let bytes = Array(Payload.transaction.signed().utf8)
        let proven = try prove(.signedTransaction, bytes)
        #expect(proven.kind == .signedTransaction && proven.app == .example)
        #expect(proven.environment == .sandbox && proven.notification == nil)
        #expect(proven.facts.transactions.map(\.transaction.text) == ["2000000000000002"])
        #expect(proven.facts.transactions.map(\.rank) == [.clientTransaction])
        let record = proven.record
        #expect(record.digest == SHA256.digest(bytes).bytes)
        #expect(record.kind == "signed_transaction" && record.app == .example)
        #expect(record.signedAt == Payload.signedAt && !record.isKeptAlways)
        let kept = PackedEvidence(content: record.content, certificates: record.certificates)
        #expect(kept.unpacked() == bytes)
    }

    @Test("A receipt has one digest, whether it comes in base64 or in binary")
    func receiptDigest() throws {
        let binary = ReceiptPlan().bytes
        let one = try prove(.appReceipt, binary)
        let other = try prove(.appReceipt, Array(binary.base64.utf8))
        #expect(one == other && one.record.digest == SHA256.digest(binary).bytes)
        #expect(counted("deed_evidence_known_total 1"))
    }

    @Test("A notification has one digest, whatever its JSON, and is always stored")
    func notificationDigest() throws {
        let signed = Payload.notification().signed()
        let one = try prove(.notification, Array(signed.utf8))
        let body = "{ \"more\": 1, \"signedPayload\" : \"\(signed)\" }"
        #expect(try prove(.notification, Array(body.utf8)) == one)
        #expect(
            one.record.isKeptAlways && one.record.digest == SHA256.digest(Array(signed.utf8)).bytes)
        #expect(one.notification?.id == "5e1f6a04-7a7b-4a0c-8f5a-0a5e6a0d1c22")
        #expect(one.notification?.type == "DID_RENEW")
        #expect(one.facts.transactions.count == 1 && one.facts.renewals.count == 1)
        #expect(one.facts.transactions.map(\.rank) == [.notification])
    }

    @Test("Believed evidence is recognized and gives the same; the terms are checked each time")
    func known() throws {
        let receipt = ReceiptPlan().bytes
        for (name, kind, bytes) in PackingTests.samples {
            let first = try prove(kind, bytes)
            #expect(try prove(kind, bytes) == first, "\(name)")
        }
        #expect(counted("deed_evidence_known_total \(PackingTests.samples.count)"))
        let others = [TrustedApp(id: .example, appleID: nil, environments: [.production])]
        #expect(refusal(.appReceipt, receipt, apps: []) == "foreign_bundle_id")
        #expect(refusal(.appReceipt, receipt, apps: others) == "foreign_environment")
        let early = Payload.signedAt.advanced(byMilliseconds: -3_600_000)
        #expect(refusal(.appReceipt, receipt, now: early) == "signed_in_future")
        #expect(refusal(.signedTransaction, PackingTests.samples[5].bytes) == "wrong_kind")
    }

    @Test("A body in a body is refused, and nothing in it counts as believed")
    func bodyInBody() throws {
        let genuine = Payload.notification().signed()
        var payload = Payload.transaction
        payload["productId"] = "com.example.everything"
        // The body has two dots, so that it could also be read as a signed statement with the forger's payload.
        let inner =
            "{\"x\":\"a.\(payload.json.bytes.base64URL).b\",\"signedPayload\":\""
            + genuine.split(separator: ".").joined(separator: "\\u002e") + "\"}"
        let outer: JSON = ["signedPayload": .string(inner)]
        for _ in 0..<2 {
            #expect(refusal(.notification, outer.bytes) == "malformed_jws")
            #expect(refusal(.signedTransaction, Array(inner.utf8)) != nil)
        }
        // Without the outer body, it is a normal notification.
        let proven = try prove(.notification, Array(inner.utf8))
        #expect(proven.record.digest == SHA256.digest(Array(genuine.utf8)).bytes)
        #expect(refusal(.signedTransaction, Array(inner.utf8)) != nil)
    }

    @Test("Unwrapped and hashed evidence gives the same, and is not unwrapped again")
    func bare() throws {
        let body: JSON = ["signedPayload": .string(Payload.notification().signed())]
        let raw = RawEvidence(.notification, body.bytes, rank: .notification)
        let bare = try prover.bare(raw)
        #expect(bare.digest == SHA256.digest(bare.bytes).bytes)
        #expect(try prover.bare(bare) == bare)
        let proven = try prover.prove(bare, for: apps, now: now)
        #expect(try prover.prove(raw, for: apps, now: now) == proven)
        #expect(try prover.heading(of: bare) == prover.heading(of: raw))
    }

    @Test("A forged repetition of believed evidence is different evidence and is refused")
    func forged() throws {
        let text = Payload.transaction.signed()
        _ = try prove(.signedTransaction, Array(text.utf8))
        var payload = Payload.transaction
        payload["productId"] = "com.example.everything"
        let parts = text.split(separator: ".")
        let forged = parts[0] + "." + payload.json.bytes.base64URL + "." + parts[2]
        for _ in 0..<2 {
            #expect(refusal(.signedTransaction, Array(forged.utf8)) == "signature_invalid")
        }
        let line = "{kind=\"signed_transaction\",outcome=\"refused\"} 2"
        #expect(counted("deed_evidence_verifications_total\(line)"))
    }

    @Test("A refusal has a code, a sentence and whether the same bytes may be believed later")
    func refusals() throws {
        let bytes = Array(Payload.transaction.signed().utf8)
        do throws(RefusedEvidence) {
            _ = try prove(.signedTransaction, bytes, now: Instant(milliseconds: 0))
            Issue.record("evidence of the future was believed")
        } catch {
            #expect(error.code == "signed_in_future" && error.cure == .time)
            #expect(error.sentence.contains("five minutes"))
        }
        #expect(refusal(.appReceipt, Array("AA A".utf8)) == "bad_base64")
        #expect(refusal(.verifyReceiptReply, Array("{\"status\":0}".utf8)) == "unsigned")
        #expect(
            refusal(.appReceipt, [UInt8](repeating: 0x30, count: RawEvidence.byteLimit + 1))
                == "too_large")
    }

    @Test("The heading of evidence is read without believing it")
    func heading() throws {
        let bytes = ReceiptPlan(chain: MintedChain(.receipts)).bytes
        #expect(refusal(.appReceipt, bytes) == "untrusted_root")
        let heading = try prover.heading(of: RawEvidence(.appReceipt, Array(bytes.base64.utf8)))
        #expect(
            heading
                == EvidenceHeading(
                    digest: SHA256.digest(bytes).bytes, kind: "app_receipt", environment: .sandbox,
                    app: .example))
        #expect(throws: RefusedEvidence.self) {
            try prover.heading(of: RawEvidence(.appReceipt, []))
        }
    }

    @Test("Evidence that the store vouched for is read without its signature, on the same terms")
    func vouched() throws {
        let raw = RawEvidence(.appReceipt, ReceiptPlan(chain: MintedChain(.receipts)).bytes)
        let read = try prover.read(vouchedFor: raw, for: apps, now: now)
        #expect(read.facts.transactions.count == 1)
        #expect(throws: RefusedEvidence.self) {
            try prover.read(vouchedFor: raw, for: [], now: now)
        }
        // The store's confirmation of these bytes does not make Deed accept them without it.
        #expect(refusal(.appReceipt, raw.bytes) == "untrusted_root")
        let reply = RawEvidence(.verifyReceiptReply, Array("{\"status\":0}".utf8))
        #expect(throws: RefusedEvidence.self) {
            try prover.read(vouchedFor: reply, for: apps, now: now)
        }
    }

    @Test("The memory of believed digests is bounded and keeps the newest half")
    func bounded() {
        let recent = RecentlyBelieved(limit: 64)
        let digests = (0..<200).map { SHA256.digest([UInt8($0)]) }
        for digest in digests { recent.remember(digest, as: .notification) }
        #expect(digests.count { recent.holds($0, as: .notification) } <= 64)
        #expect(digests.suffix(32).allSatisfy { recent.holds($0, as: .notification) })
        #expect(!digests.contains { recent.holds($0, as: .signedTransaction) })
    }
}
