import Core
import Crypto
import JSON
import Minting
import Testing

@testable import Evidence

/// Tests genuine signatures under certificates that differ from valid ones in one detail.
@Suite("Forged chains of certificates")
struct ForgedChainTests {
    func refused(_ text: String, by verifier: Verifier = .trusting) -> EvidenceRefusal? {
        refusal(of: Array(text.utf8), as: .signedTransaction, by: verifier)
    }

    func refused(_ chain: MintedChain) -> EvidenceRefusal? {
        refused(Payload.transaction.signed(by: chain))
    }

    @Test("A chain with its own root is refused, whatever the root's name")
    func fakeRoot() {
        #expect(refused(MintedChain(.transactions)) == .chain(.untrustedRoot))
    }

    @Test("Only an extra root vouches for local signing, and only for sandbox")
    func environmentsAndRoots() {
        let production = ("environment", JSON.string("Production"))
        let local = ("environment", JSON.string("Xcode"))
        func refused(_ change: (String, JSON), _ verifier: Verifier) -> EvidenceRefusal? {
            var payload = Payload.transaction
            payload[change.0] = change.1
            return self.refused(payload.signed(), by: verifier)
        }
        #expect(refused(production, .trusting) == nil)
        #expect(refused(production, .trustingExtra) == .extraRootForProduction)
        #expect(refused(local, .trustingExtra) == nil)
        #expect(refused(local, .trusting) == .extraRootNeeded("Xcode"))
        #expect(refused(("environment", "Sandbox"), .trustingExtra) == nil)
    }

    @Test("A leaf without its marker is refused")
    func leafMarker() {
        var plan = CertificatePlan.leaf
        plan.markers = []
        #expect(
            refused(MintedChain.transactions.with(leaf: plan)) == .chain(.markerMissing(.leaf)))
    }

    @Test("An intermediate without its marker is refused")
    func intermediateMarker() {
        var plan = CertificatePlan.intermediate
        plan.markers = []
        #expect(
            refused(MintedChain.transactions.with(intermediate: plan))
                == .chain(.markerMissing(.intermediate)))
    }

    @Test("The markers do not replace each other")
    func swappedMarkers() {
        var plan = CertificatePlan.leaf
        plan.markers = [CertificatePlan.intermediateMarker]
        #expect(
            refused(MintedChain.transactions.with(leaf: plan)) == .chain(.markerMissing(.leaf)))
    }

    @Test("A genuine leaf cannot issue certificates")
    func leafAsAuthority() {
        var chain = MintedChain.transactions
        let genuine = chain.leaf
        var plan = CertificatePlan.leaf
        plan.name = "Minted by a Leaf"
        chain.leaf = MintedCertificate(plan, key: MintedKey(.p256), issuer: genuine)
        chain.intermediate = genuine
        #expect(refused(chain) == .chain(.notAnAuthority(.intermediate)))
    }

    @Test("An intermediate that is no authority is refused", arguments: ["critical,CA:FALSE", nil])
    func notAnAuthority(_ constraints: String?) {
        var plan = CertificatePlan.intermediate
        plan.constraints = constraints
        #expect(
            refused(MintedChain.transactions.with(intermediate: plan))
                == .chain(.notAnAuthority(.intermediate)))
    }

    @Test("An authority may not sign evidence itself")
    func leafIsAuthority() {
        var plan = CertificatePlan.leaf
        plan.constraints = "critical,CA:TRUE"
        #expect(refused(MintedChain.transactions.with(leaf: plan)) == .chain(.leafIsAuthority))
    }

    @Test("Key usage that forbids the use is refused on leaf and intermediate")
    func keyUsage() {
        var leaf = CertificatePlan.leaf
        leaf.usage = .issuing
        #expect(
            refused(MintedChain.transactions.with(leaf: leaf)) == .chain(.wrongKeyUsage(.leaf)))
        var intermediate = CertificatePlan.intermediate
        intermediate.usage = .signing
        #expect(
            refused(MintedChain.transactions.with(intermediate: intermediate))
                == .chain(.wrongKeyUsage(.intermediate)))
    }

    @Test("An unknown critical extension is refused on leaf and intermediate")
    func criticalExtension() {
        var leaf = CertificatePlan.leaf
        leaf.criticalExtension = "1.2.3.4.5"
        #expect(
            refused(MintedChain.transactions.with(leaf: leaf))
                == .chain(.unknownCriticalExtension(.leaf)))
        var intermediate = CertificatePlan.intermediate
        intermediate.criticalExtension = "1.2.3.4.5"
        #expect(
            refused(MintedChain.transactions.with(intermediate: intermediate))
                == .chain(.unknownCriticalExtension(.intermediate)))
    }

    @Test("A leaf signed by a stranger under the intermediate's name is refused")
    func forgedLeaf() {
        var chain = MintedChain.transactions
        let stranger = MintedCertificate(.intermediate, key: MintedKey(.p384))
        chain.leaf = MintedCertificate(.leaf, key: MintedKey(.p256), issuer: stranger)
        #expect(refused(chain) == .chain(.issuerSignatureInvalid))
    }

    @Test("A leaf that names another issuer is refused")
    func otherIssuer() {
        var plan = CertificatePlan.leaf
        plan.issuerName = "Somebody Else"
        #expect(refused(MintedChain.transactions.with(leaf: plan)) == .chain(.issuerMissing))
    }

    @Test("A leaf with a key of another kind is refused")
    func leafKey() {
        var chain = MintedChain.transactions
        chain.leaf = MintedCertificate(.leaf, key: MintedKey(.p384), issuer: chain.intermediate)
        let signed = SignedJSONPlan(Payload.transaction.json, chain: chain)
        let text = signed.text(signature: [UInt8](repeating: 1, count: 64))
        #expect(refused(text) == .chain(.unsupportedKey(.leaf)))
    }

    @Test("SHA-1 signs no certificate of this kind")
    func sha1Chain() {
        var plan = CertificatePlan.leaf
        plan.digest = .sha1
        #expect(
            refused(MintedChain.transactions.with(leaf: plan))
                == .chain(.unsupportedSignature(.leaf)))
    }

    @Test("A root that allows no authority below it is refused")
    func pathLength() throws {
        var root = CertificatePlan.root
        root.constraints = "critical,CA:TRUE,pathlen:0"
        let chain = MintedChain(.transactions, root: root)
        let verifier = Verifier(
            anchors: [TrustAnchor(try Certificate(der: chain.root.der), .pinned)])
        #expect(
            refused(Payload.transaction.signed(by: chain), by: verifier) == .chain(.pathTooLong))
    }
}
