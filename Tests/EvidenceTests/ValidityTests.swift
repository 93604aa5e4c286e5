import Core
import Crypto
import Dispatch
import JSON
import Minting
import Testing
import Threading

@testable import Evidence

@Suite("Certificates are judged at the instant of signing")
struct ValidityTests {
    /// Returns a transaction signed at `instant` under certificates with those lifetimes.
    func refused(
        at instant: Instant, leaf: CertificatePlan = .leaf,
        intermediate: CertificatePlan = .intermediate, by verifier: Verifier = .trusting
    ) -> EvidenceRefusal? {
        var payload = Payload.transaction
        payload["signedDate"] = .integer(instant.milliseconds)
        let chain = MintedChain.transactions.with(intermediate: intermediate).with(leaf: leaf)
        return refusal(
            of: Array(payload.signed(by: chain).utf8), as: .signedTransaction, by: verifier)
    }

    @Test("Evidence under certificates that have expired since is believed")
    func expiredSince() {
        let long = CertificatePlan.leaf.notAfter.advanced(byMilliseconds: 400 * 86_400_000)
        #expect(Terms.usual.now > long)
        #expect(refused(at: Payload.signedAt) == nil)
    }

    @Test("The first and the last second of the lifetime count, and not one more")
    func bounds() {
        let plan = CertificatePlan.leaf
        let last = plan.notAfter.advanced(byMilliseconds: 999)
        #expect(refused(at: plan.notBefore) == nil)
        #expect(refused(at: last) == nil)
        #expect(
            refused(at: plan.notBefore.advanced(byMilliseconds: -1)) == .chain(.notYetValid))
        #expect(refused(at: last.advanced(byMilliseconds: 1)) == .chain(.expired))
    }

    @Test("An intermediate outside its lifetime is refused too")
    func intermediate() {
        var plan = CertificatePlan.intermediate
        plan.notAfter = Payload.signedAt.advanced(byMilliseconds: -1000)
        #expect(refused(at: Payload.signedAt, intermediate: plan) == .chain(.expired))
        plan = CertificatePlan.intermediate
        plan.notBefore = Payload.signedAt.advanced(byMilliseconds: 1000)
        #expect(refused(at: Payload.signedAt, intermediate: plan) == .chain(.notYetValid))
    }

    @Test("A remembered chain's validity is checked each time")
    func warm() throws {
        let chain = MintedChain.transactions
        let verifier = Verifier(
            anchors: [TrustAnchor(try Certificate(der: chain.root.der), .pinned)])
        func refused(_ instant: Instant) -> EvidenceRefusal? {
            var payload = Payload.transaction
            payload["signedDate"] = .integer(instant.milliseconds)
            return refusal(
                of: Array(payload.signed().utf8), as: .signedTransaction, by: verifier)
        }
        let late = CertificatePlan.leaf.notAfter.advanced(byMilliseconds: 1000)
        let early = CertificatePlan.leaf.notBefore.advanced(byMilliseconds: -1000)
        #expect(refused(Payload.signedAt) == nil)
        #expect(verifier.signedCache.count == 1)
        #expect(refused(late) == .chain(.expired))
        #expect(refused(early) == .chain(.notYetValid))
        #expect(refused(Payload.signedAt) == nil)
        #expect(verifier.signedCache.count == 1)
    }

    @Test("Many threads share one verifier, cold and warm")
    func threads() throws {
        let roots = try [MintedChain.transactions.root, MintedChain.receipts.root].map {
            TrustAnchor(try Certificate(der: $0.der), .pinned)
        }
        let verifier = Verifier(anchors: roots)
        let transaction = Array(Payload.transaction.signed().utf8)
        let receipt = ReceiptPlan().bytes
        let believed = Monitor(0)
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            for (bytes, kind) in [
                (transaction, EvidenceKind.signedTransaction), (receipt, .appReceipt),
            ]
            where refusal(of: bytes, as: kind, by: verifier) == nil {
                believed.change { $0 += 1 }
            }
        }
        #expect(believed.change { $0 } == 128)
        #expect(verifier.signedCache.count == 1 && verifier.receiptCache.count == 1)
    }

    @Test("A chain is remembered only after a genuine signature, and within the limit")
    func remembering() throws {
        let chain = MintedChain.transactions
        let verifier = Verifier(
            anchors: [TrustAnchor(try Certificate(der: chain.root.der), .pinned)])
        var plan = SignedJSONPlan(Payload.transaction.json)
        for index in 0..<3 {
            plan.extraHeader = [("n", .integer(index))]
            let forged = plan.text(signature: [UInt8](repeating: 1, count: 64))
            #expect(
                refusal(of: Array(forged.utf8), as: .signedTransaction, by: verifier)
                    == .signatureInvalid)
        }
        #expect(verifier.signedCache.count == 0)
        for index in 0..<70 {
            plan.extraHeader = [("n", .integer(index))]
            #expect(refusal(of: plan.bytes, as: .signedTransaction, by: verifier) == nil)
        }
        #expect(verifier.signedCache.count == 64)
    }
}
