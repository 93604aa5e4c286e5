import Auditing
import Core
import Crypto

/// The columns of `deed.evidence` that describe the bytes. The digest protects the bytes, and the
/// seal reveals changes to other columns.
struct EvidenceColumns {
    let digest: [UInt8]
    let project: String
    let environment: String
    let kind: String
    let app: String?
    let signedAt: Int64
    let firstSeenAt: Int64
    let verdict: String
    /// The certificates' digests, concatenated.
    let certificates: [UInt8]

    /// SHA-256 over the columns. `docs/ledger.md` has the exact bytes.
    var seal: [UInt8] {
        var bytes = digest
        bytes.append(text: project)
        bytes.append(text: environment)
        bytes.append(text: kind)
        bytes.append(text: app ?? "")
        bytes.append(number: signedAt)
        bytes.append(number: firstSeenAt)
        bytes.append(text: verdict)
        bytes.append(contentsOf: certificates)
        return SHA256.digest(bytes).bytes
    }
}

extension EvidenceColumns {
    /// Creates the columns of newly filed evidence.
    init(_ kept: KeptEvidence) {
        self.init(
            digest: kept.record.digest, project: kept.stream.project.text,
            environment: kept.stream.environment.rawValue, kind: kept.record.kind,
            app: kept.record.app?.text, signedAt: kept.record.signedAt.milliseconds,
            firstSeenAt: kept.at.milliseconds, verdict: FiledEvidence.believed,
            certificates: kept.record.certificates.flatMap(\.digest))
    }
}
