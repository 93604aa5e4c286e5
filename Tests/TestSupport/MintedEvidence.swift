import Assembly
import Crypto
import Evidence
import Minting
package import Service
package import Telemetry

extension Verifier {
    /// Believes what tests mint, of both environments: the minted roots stand in for the pinned ones.
    static var minted: Verifier {
        let roots = [MintedChain.receipts.root, MintedChain.transactions.root]
        return Verifier(
            anchors: roots.compactMap { try? Certificate(der: $0.der) }.map {
                TrustAnchor($0, .pinned)
            })
    }
}

extension EvidencePort {
    /// Proves evidence that tests mint.
    package init(minted metrics: Metrics) {
        self.init(Prover(.minted, metrics: metrics))
    }
}
