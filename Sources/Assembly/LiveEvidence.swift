import Core
import Crypto
import Evidence
import JSON
import Ledger
import Service
import Telemetry

extension Option {
    static let extraRoots = setting(
        "extra-roots", "FOLDER", "certificates that vouch for sandbox evidence too")
}

extension EvidencePort {
    /// Proves under the pinned roots, and under the operator's own for sandbox evidence.
    init(extraRoots: [Certificate], metrics: Metrics, _ ledger: Ledger) {
        let prover = Prover(Verifier(extraRoots: extraRoots), metrics: metrics)
        self.init(
            prove: { raw, apps, now throws(RefusedEvidence) in
                try prover.prove(raw, for: apps, now: now)
            },
            readVouched: { raw, apps, now throws(RefusedEvidence) in
                try prover.read(vouchedFor: raw, for: apps, now: now)
            },
            bare: { raw throws(RefusedEvidence) in try prover.bare(raw) },
            heading: { raw throws(RefusedEvidence) in try prover.heading(of: raw) },
            wasBelieved: { digest throws(Fault) in try ledger.hasBelieved(digest) },
            standing: { prover.standing(ofSigner: $0) })
    }
}

extension Invocation {
    /// The certificates of `--extra-roots`; none without it.
    func extraRoots() throws(CommandEnd) -> [Certificate] {
        try self["extra-roots"].map(readRoots) ?? []
    }
}

extension Log {
    /// Says whom else the instance trusts, so that nobody learns of it too late.
    func tellExtraRoots(_ roots: [Certificate]) {
        if roots.isEmpty { return }
        warning(
            "extra_roots",
            [
                "environment": "sandbox",
                "roots": .array(roots.map { .string("\($0.name) \($0.fingerprint.hex)") }),
            ])
    }
}
