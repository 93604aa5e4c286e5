import Core
import Crypto
import Postgres
import SQL

/// Rows of `deed.evidence` and `deed.certificates`.
struct EvidenceRows {
    private var kept: [KeptEvidence] = []
    private var places: Set<[UInt8]> = []
    private var digests: [[UInt8]: [UInt8]] = [:]

    init(_ evidence: [KeptEvidence]) {
        for one in evidence where places.insert(one.record.digest).inserted {
            kept.append(one)
            for certificate in one.record.certificates where digests[certificate] == nil {
                digests[certificate] = SHA256.digest(certificate).bytes
            }
        }
    }

    var calls: [Call] {
        if kept.isEmpty { return [] }
        return digests.isEmpty ? [evidenceCall] : [certificatesCall, evidenceCall]
    }

    private var certificatesCall: Call {
        Statement.insertCertificates(
            .byteas(digests.map(\.value)), .byteas(digests.map(\.key)))
    }

    private var evidenceCall: Call {
        let records = kept.map(\.record)
        return Statement.insertEvidence(
            .byteas(records.map(\.digest)), .texts(kept.map(\.stream.project.text)),
            .texts(kept.map(\.stream.environment.rawValue)), .texts(records.map(\.kind)),
            .texts(records.map { $0.app?.text }), .int8s(records.map(\.signedAt.milliseconds)),
            .int8s(kept.map(\.at.milliseconds)), .texts(kept.map { _ in "believed" }),
            .byteas(records.map(\.content)),
            .byteas(records.map { $0.certificates.flatMap { digests[$0] ?? [] } }))
    }
}
