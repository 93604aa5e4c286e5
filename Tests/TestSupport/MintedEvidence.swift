import Core
import Crypto
import Evidence
package import Ledger
import Minting
package import Service
package import Telemetry

extension EvidencePort {
    /// Proves evidence that tests mint, of both environments: the minted roots stand in for the
    /// pinned ones.
    package init(minted metrics: Metrics, _ ledger: Ledger? = nil) {
        let roots = [MintedChain.receipts.root, MintedChain.transactions.root]
        let anchors = roots.compactMap { try? Certificate(der: $0.der) }
            .map { TrustAnchor($0, .pinned) }
        let prover = Prover(Verifier(anchors: anchors), metrics: metrics)
        self.init(
            prove: { raw, apps, now throws(RefusedEvidence) in
                try prover.prove(raw, for: apps, now: now)
            },
            readVouched: { raw, apps, now throws(RefusedEvidence) in
                try prover.read(vouchedFor: raw, for: apps, now: now)
            },
            bare: { raw throws(RefusedEvidence) in try prover.bare(raw) },
            heading: { raw throws(RefusedEvidence) in try prover.heading(of: raw) },
            wasBelieved: { digest throws(Fault) in try ledger?.hasBelieved(digest) ?? false },
            standing: { prover.standing(ofSigner: $0) })
    }
}
