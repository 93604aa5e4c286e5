import Auditing
import Core
import Postgres
import SQL
import Synchronization

/// Rows of `deed.evidence` and `deed.certificates`.
struct EvidenceRows {
    private var kept: [KeptEvidence] = []
    /// The purchases that each piece of evidence concerns. The same evidence may occur twice.
    private var told: [KeptEvidence] = []
    /// Certificates that may not be stored yet.
    private(set) var certificates: Set<KeptCertificate> = []

    init(_ evidence: [KeptEvidence], besides known: FiledCertificates) {
        told = evidence.filter { !$0.told.isEmpty }
        var digests: Set<[UInt8]> = []
        for one in evidence where digests.insert(one.record.digest).inserted {
            kept.append(one)
            for certificate in one.record.certificates where !known.hold(certificate) {
                certificates.insert(certificate)
            }
        }
    }

    var calls: [Call] {
        if kept.isEmpty { return [] }
        return (certificates.isEmpty ? [] : [certificatesCall]) + [evidenceCall]
            + (told.isEmpty ? [] : [namesCall])
    }

    private var namesCall: Call {
        let names = told.flatMap { one in one.told.map { (one, $0) } }
        return Statement.nameEvidence(
            .texts(names.map(\.0.stream.project.text)),
            .texts(names.map(\.0.stream.environment.rawValue)),
            .texts(names.map(\.1.store.rawValue)), .texts(names.map(\.1.original.text)),
            .byteas(names.map(\.0.record.digest)))
    }

    private var certificatesCall: Call {
        let certificates = Array(certificates)
        return Statement.insertCertificates(
            .byteas(certificates.map(\.digest)), .byteas(certificates.map(\.der)))
    }

    private var evidenceCall: Call {
        let records = kept.map(\.record)
        return Statement.insertEvidence(
            .byteas(records.map(\.digest)), .texts(kept.map(\.stream.project.text)),
            .texts(kept.map(\.stream.environment.rawValue)), .texts(records.map(\.kind)),
            .texts(records.map { $0.app?.text }), .int8s(records.map(\.signedAt.milliseconds)),
            .int8s(kept.map(\.at.milliseconds)), .texts(kept.map { _ in FiledEvidence.believed }),
            .byteas(records.map(\.content)),
            .byteas(records.map { $0.certificates.flatMap(\.digest) }),
            .byteas(kept.map { EvidenceColumns($0).seal }))
    }
}

/// Certificates that are known to be in the database. Almost all evidence comes with the same three certificates, which
/// need not be stored again.
final class FiledCertificates: Sendable {
    private static let limit = 256
    private let filed = Mutex<Set<KeptCertificate>>([])

    func hold(_ certificate: KeptCertificate) -> Bool {
        filed.withLock { $0.contains(certificate) }
    }

    /// Adds certificates that have been committed.
    func add(_ certificates: Set<KeptCertificate>) {
        if certificates.isEmpty { return }
        filed.withLock { filed in
            if filed.count > FiledCertificates.limit { filed = [] }
            filed.formUnion(certificates)
        }
    }

    /// Forgets all certificates, because the database may be a different one, or an earlier state of the same one.
    func forget() { filed.withLock { $0 = [] } }
}

/// The evidence on which a stream's events are based.
struct KeptEvidence: Sendable {
    let record: EvidenceRecord
    let stream: Stream
    let at: Instant
    /// Other purchases that the evidence concerns. None of their events is based on it.
    var told: [PurchaseID] = []
}
