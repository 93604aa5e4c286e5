import Crypto
package import Evidence
import Minting
package import Telemetry

extension Verifier {
    /// A verifier that accepts the tests' minted evidence in both environments, because the minted
    /// roots replace the pinned ones.
    static var minted: Verifier {
        let roots = [MintedChain.receipts.root, MintedChain.transactions.root]
        return Verifier(
            anchors: roots.compactMap { try? Certificate(der: $0.der) }.map {
                TrustAnchor($0, .pinned)
            })
    }
}

extension Prover {
    /// Creates a prover for the tests' minted evidence.
    package convenience init(minted metrics: Metrics) {
        self.init(Verifier.minted, metrics: metrics)
    }
}
