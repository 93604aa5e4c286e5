package import Auditing
package import Core

/// The dependencies of an evidence audit.
package struct EvidenceAuditPort {
    /// A shard's events that are based on evidence, after a position; empty if there are no more.
    package var resting: (Shard, _ after: Int64) throws(Fault) -> [RestingEvent]
    package var filed: ([[UInt8]]) throws(Fault) -> [FiledEvidence]
    /// The digests of evidence that no event names, page by page; empty if there are no more.
    package var unnamed: () throws(Fault) -> [[UInt8]]
    /// Verifies evidence again from its stored form.
    package var prove: (FiledEvidence) -> EvidenceProof

    package init(
        resting: @escaping (Shard, _ after: Int64) throws(Fault) -> [RestingEvent],
        filed: @escaping ([[UInt8]]) throws(Fault) -> [FiledEvidence],
        unnamed: @escaping () throws(Fault) -> [[UInt8]],
        prove: @escaping (FiledEvidence) -> EvidenceProof
    ) {
        self.resting = resting
        self.filed = filed
        self.unnamed = unnamed
        self.prove = prove
    }
}

/// Checks that each event based on evidence has its evidence, that the evidence supports the event,
/// and that no other evidence is stored as accepted.
package struct EvidenceAudit {
    private static let rememberedLimit = 4096

    private let port: EvidenceAuditPort
    package private(set) var proven = 0
    package private(set) var digestOnly = 0
    /// The number of undamaged pieces of evidence that the roots do not vouch for.
    package private(set) var refused = 0
    package private(set) var findings = AuditFindings()
    /// Proofs of recently verified evidence.
    private var remembered: [[UInt8]: Proof] = [:]

    private enum Proof {
        case proven(EvidenceKind, Facts)
        case digestOnly
        /// An earlier finding already reports the fault in this evidence.
        case faulty
    }

    package init(_ port: EvidenceAuditPort) {
        self.port = port
    }

    package mutating func run(progress: (_ proven: Int) -> Void) throws(Fault) {
        for shard in Shard.all {
            var last: Int64 = 0
            while true {
                let events = try port.resting(shard, last)
                guard let end = events.last else { break }
                try compare(events)
                last = end.position.sequence
                progress(proven)
            }
        }
        while true {
            let digests = try port.unnamed()
            if digests.isEmpty { break }
            try compare(unnamed: digests)
            progress(proven)
        }
    }

    private mutating func compare(_ events: [RestingEvent]) throws(Fault) {
        var wanted = Set(events.compactMap(\.digest)).filter { remembered[$0] == nil }
        if remembered.count + wanted.count > EvidenceAudit.rememberedLimit {
            remembered = [:]
            wanted = Set(events.compactMap(\.digest))
        }
        for filed in try port.filed(Array(wanted)) {
            let event = events.first { $0.digest == filed.digest }
            remembered[filed.digest] = proof(of: filed, for: event)
        }
        for event in events { compare(event) }
    }

    private mutating func compare(_ event: RestingEvent) {
        guard let digest = event.digest else {
            for subject in event.facts.subjects { add(unsupported: event, subject) }
            return
        }
        switch remembered[digest] {
        case .proven(_, let facts): compare(event, with: facts)
        case .digestOnly, .faulty: break
        case nil:
            findings.add(
                AuditFinding(
                    evidence: digest, column: "digest",
                    expected: "evidence for \(event.type) at \(event.position)", found: "none"))
        }
    }

    /// Checks that the event repeats exactly what its evidence states.
    private mutating func compare(_ event: RestingEvent, with stated: Facts) {
        if stated.explain(event.facts) { return }
        let subjects = event.facts.subjects
        if let subject = subjects.first(where: { !stated.subjects.contains($0) }) {
            add(unsupported: event, subject)
        } else if let subject = subjects.first {
            add(event, found: "another statement about \(subject.text)")
        }
    }

    private mutating func compare(unnamed digests: [[UInt8]]) throws(Fault) {
        for filed in try port.filed(digests) {
            guard case .proven(let kind, _) = proof(of: filed, for: nil), kind.content != .news
            else { continue }
            findings.add(
                AuditFinding(
                    evidence: filed.digest, column: "digest",
                    expected: "an event based on this \(filed.kind)", found: "none"))
        }
    }

    /// Returns what the evidence states, unless it is damaged. Records any findings.
    private mutating func proof(of filed: FiledEvidence, for event: RestingEvent?) -> Proof {
        func finding(_ column: String, _ expected: String, _ found: String) -> AuditFinding {
            AuditFinding(
                evidence: filed.digest, column: column, expected: expected, found: found)
        }
        switch port.prove(filed) {
        case .digestOnly:
            digestOnly += 1
            return .digestOnly
        case .damaged:
            add(damaged: filed)
            return .faulty
        case .refused where !filed.isSealed:
            add(damaged: filed)
            return .faulty
        case .refused(let sentence):
            refused += 1
            findings.add(finding("content", "evidence that is believed", sentence))
            return .faulty
        case .proven(let again):
            let wrong = filed.differences(from: again, event)
            for (column, expected, found) in wrong {
                findings.add(finding(column, expected, found))
            }
            if !wrong.isEmpty { return .faulty }
            proven += 1
            return .proven(again.kind, again.facts)
        }
    }

    private mutating func add(damaged filed: FiledEvidence) {
        let damage = filed.damage
        findings.add(
            AuditFinding(
                evidence: filed.digest, column: damage.column, expected: damage.expected,
                found: damage.found))
    }

    private mutating func add(unsupported event: RestingEvent, _ subject: FactSubject) {
        add(event, found: "none about \(subject.text)")
    }

    private mutating func add(_ event: RestingEvent, found: String) {
        findings.add(
            AuditFinding(
                at: event.position, column: "payload",
                expected: "evidence that states this \(event.type)", found: found))
    }
}

extension FactSubject {
    var text: String {
        switch self {
        case .transaction(_, let transaction): "transaction \(transaction)"
        case .renewal(_, let purchase): "the renewal of \(purchase)"
        case .installation(let app): "the installation of \(app)"
        case .refund(_, let transaction): "the refund of transaction \(transaction)"
        case .consent(let app, _): "the consent to \(app)"
        }
    }
}

extension FiledEvidence {
    /// Names the column that has changed in evidence whose parts no longer yield the bytes that the
    /// digest describes.
    fileprivate var damage: (column: String, expected: String, found: String) {
        let missing = certificates.count(where: \.isEmpty)
        if missing > 0 {
            return (
                "certificates",
                "\(certificates.count) of deed.certificates, each matching its digest",
                "\(missing) missing or changed there"
            )
        }
        if !isSealed {
            return (
                "seal", "the columns as they were stored", "others, including kind or certificates"
            )
        }
        return ("content", "the bytes of that digest", "others")
    }

    /// Returns the columns that differ from the evidence or from what was stored.
    func differences(
        from again: ProvenAgain, _ event: RestingEvent?
    ) -> [(column: String, expected: String, found: String)] {
        var differences: [(column: String, expected: String, found: String)] = []
        func compare(_ column: String, _ expected: String, _ found: String) {
            if expected != found { differences.append((column, expected, found)) }
        }
        compare("verdict", FiledEvidence.believed, verdict)
        compare("app", again.app?.text ?? "none", app ?? "none")
        compare("environment", again.environment.rawValue, environment)
        compare("signed_at", "\(again.signedAt.milliseconds)", "\(signedAt.milliseconds)")
        if let event { compare("environment", event.environment, environment) }
        if !isSealed, differences.isEmpty {
            if let event { compare("project", event.project, project) }
            if differences.isEmpty {
                compare(
                    "seal", "the seal of kind, first_seen_at and certificates", "that of others")
            }
        }
        return differences
    }
}
