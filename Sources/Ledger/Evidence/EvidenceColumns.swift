import Auditing
import Core
import Crypto

/// What a row of `deed.evidence` says about its bytes. The digest speaks for the bytes themselves; the
/// seal shows when something of the rest was changed.
struct EvidenceColumns {
    let digest: [UInt8]
    private(set) var project: String
    let environment: String
    private(set) var kind: String
    let app: String?
    let signedAt: Int64
    private(set) var firstSeenAt: Int64
    let verdict: String
    /// The digests of the certificates, one behind the other.
    private(set) var certificates: [UInt8]

    /// SHA-256 of the columns. `docs/ledger.md` has the exact bytes.
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
    /// The column that was changed since the seal was made: the kind, or one byte of another.
    func column(changedSince seal: [UInt8]) -> String? {
        for kind in EvidenceKind.allCases {
            var original = self
            original.kind = kind.rawValue
            if original.seal == seal { return "kind" }
        }
        let first = (0..<8).map { UInt8(truncatingIfNeeded: firstSeenAt >> (56 - 8 * $0)) }
        let searches: [(String, [UInt8], (inout EvidenceColumns, [UInt8]) -> Void)] = [
            ("first_seen_at", first, { $0.firstSeenAt = $1.reduce(0) { $0 << 8 | Int64($1) } }),
            ("project", Array(project.utf8), { $0.project = String(decoding: $1, as: UTF8.self) }),
            ("certificates", certificates, { $0.certificates = $1 }),
        ]
        for (column, bytes, set) in searches {
            var (original, tried) = (self, bytes)
            for place in bytes.indices {
                for value in UInt8.min...UInt8.max where value != bytes[place] {
                    tried[place] = value
                    set(&original, tried)
                    if original.seal == seal { return column }
                }
                tried[place] = bytes[place]
            }
        }
        return nil
    }

    /// As it is filed first.
    init(_ kept: KeptEvidence) {
        self.init(
            digest: kept.record.digest, project: kept.stream.project.text,
            environment: kept.stream.environment.rawValue, kind: kept.record.kind,
            app: kept.record.app?.text, signedAt: kept.record.signedAt.milliseconds,
            firstSeenAt: kept.at.milliseconds, verdict: FiledEvidence.believed,
            certificates: kept.record.certificates.flatMap(\.digest))
    }
}
