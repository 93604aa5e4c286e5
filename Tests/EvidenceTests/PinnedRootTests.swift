import Core
import Crypto
import Minting
import Testing

@testable import Evidence

@Suite("Pinned roots")
struct PinnedRootTests {
    @Test("The roots in the binary are Apple Root CA and Apple Root CA - G3, and no others")
    func fingerprints() {
        #expect(
            AppleRoots.pinned.map(\.fingerprint.hex) == [
                "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
                "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
            ])
        #expect(AppleRoots.pinned.map(\.name) == ["Apple Root CA", "Apple Root CA - G3"])
    }

    @Test("A verifier without extra roots trusts nothing that was minted")
    func nothingElse() {
        let verifier = Verifier(extraRoots: [])
        #expect(
            refusal(of: ReceiptPlan().bytes, as: .appReceipt, by: verifier)
                == .chain(.untrustedRoot))
        let signed = Array(Payload.transaction.signed().utf8)
        #expect(
            refusal(of: signed, as: .signedTransaction, by: verifier) == .chain(.untrustedRoot))
    }

    @Test("A root that borrows a pinned one's name is not taken for it")
    func borrowedName() throws {
        var plan = CertificatePlan.root
        plan.name = "Apple Root CA - G3"
        let chain = MintedChain(.transactions, root: plan)
        let signed = Array(Payload.transaction.signed(by: chain).utf8)
        #expect(
            refusal(of: signed, as: .signedTransaction, by: Verifier(extraRoots: []))
                == .chain(.untrustedRoot))
    }

    @Test("Roots are read from PEM, several from one text, and from DER")
    func reading() throws {
        let minted = [MintedChain.receipts.root, MintedChain.transactions.root]
        let text = "a comment\n" + minted.map(\.pem).joined(separator: "\n")
        #expect(try Certificate.read(Array(text.utf8)).count == 2)
        #expect(try Certificate.read(minted[0].der).count == 1)
        #expect(throws: ChainRefusal.badCertificate) { try Certificate.read([]) }
        #expect(throws: ChainRefusal.badCertificate) { try Certificate.read(Array("no".utf8)) }
    }
}
