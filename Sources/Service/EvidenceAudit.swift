package import Core

/// What an audit of evidence needs.
package struct EvidenceAuditPort {
    /// What some events of a shard say of their evidence, behind a position; none when all were read.
    package var claims: (Shard, _ after: Int64) throws(Fault) -> [EvidenceClaim]
    /// Evidence by its digests.
    package var filed: ([[UInt8]]) throws(Fault) -> [FiledEvidence]
    /// The digests of some more of the evidence that no event names; none when that was all.
    package var unnamed: () throws(Fault) -> [[UInt8]]
    /// Proves evidence again from what is kept of it.
    package var prove: (FiledEvidence) -> EvidenceProof

    package init(
        claims: @escaping (Shard, _ after: Int64) throws(Fault) -> [EvidenceClaim],
        filed: @escaping ([[UInt8]]) throws(Fault) -> [FiledEvidence],
        unnamed: @escaping () throws(Fault) -> [[UInt8]],
        prove: @escaping (FiledEvidence) -> EvidenceProof
    ) {
        self.claims = claims
        self.filed = filed
        self.unnamed = unnamed
        self.prove = prove
    }
}

/// Proves that each event which rests on evidence has it, that the evidence says so, and that nothing
/// else was filed as believed.
///
/// Events of before this was noted name no evidence when they came with an Idempotency-Key: theirs is
/// found by what it states, and until it is found they are kept in mind.
package struct EvidenceAudit {
    private static let rememberedLimit = 4096

    private let port: EvidenceAuditPort
    package private(set) var proven = 0
    package private(set) var digestOnly = 0
    package private(set) var findings = AuditFindings()
    /// What the latest pieces state; `nil` where they are not to be believed.
    private var remembered: [[UInt8]: Set<StatedFact>?] = [:]
    /// The evidence that events of before name by their cause.
    private var namedByCause: Set<[UInt8]> = []
    /// Events of before for which evidence must still be found.
    private var waiting: [StatedFact: [EvidenceClaim]] = [:]

    package init(_ port: EvidenceAuditPort) {
        self.port = port
    }

    package mutating func run(progress: (_ proven: Int) -> Void) throws(Fault) {
        for shard in Shard.all {
            var last: Int64 = 0
            while true {
                let claims = try port.claims(shard, last)
                guard let end = claims.last else { break }
                try compare(claims)
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
        addUnsupported()
    }

    private mutating func compare(_ claims: [EvidenceClaim]) throws(Fault) {
        let digests = Set(claims.compactMap(\.digest)).filter { remembered[$0] == nil }
        if remembered.count + digests.count > EvidenceAudit.rememberedLimit { remembered = [:] }
        let wanted = Set(claims.compactMap(\.digest)).filter { remembered[$0] == nil }
        for filed in try port.filed(Array(wanted)) {
            let claim = claims.first { $0.digest == filed.digest }
            remembered[filed.digest] = .some(stated(by: filed, for: claim))
        }
        for claim in claims { compare(claim) }
    }

    private mutating func compare(_ claim: EvidenceClaim) {
        guard let digest = claim.digest else {
            for fact in claim.facts { waiting[fact, default: []].append(claim) }
            return
        }
        namedByCause.insert(digest)
        guard let known = remembered[digest] else {
            findings.add(
                AuditFinding(
                    evidence: digest, column: "digest",
                    expected: "evidence for \(claim.type) at \(claim.position)", found: "none"))
            return
        }
        // What is wrong with the evidence itself was found already.
        guard let stated = known else { return }
        for fact in claim.facts where !stated.contains(fact) { add(unsupported: claim, fact) }
    }

    private mutating func compare(unnamed digests: [[UInt8]]) throws(Fault) {
        let wanted = digests.filter { !namedByCause.contains($0) }
        for filed in try port.filed(wanted) {
            guard let stated = stated(by: filed, for: nil) else { continue }
            let supported = stated.filter { waiting.removeValue(forKey: $0) != nil }
            let isNews = filed.kind == EvidenceKind.notification.rawValue
            if isNews || !supported.isEmpty || !supportedBefore.isDisjoint(with: stated) {
                supportedBefore.formUnion(supported)
                continue
            }
            findings.add(
                AuditFinding(
                    evidence: filed.digest, column: "digest",
                    expected: "an event that rests on this \(filed.kind)", found: "none"))
        }
    }

    /// What events of before say for which evidence was found.
    private var supportedBefore: Set<StatedFact> = []

    /// What the evidence states, if it is as it was filed; what is wrong is noted.
    private mutating func stated(
        by filed: FiledEvidence, for claim: EvidenceClaim?
    ) -> Set<StatedFact>? {
        func finding(_ column: String, _ expected: String, _ found: String) -> AuditFinding {
            AuditFinding(
                evidence: filed.digest, column: column, expected: expected, found: found)
        }
        switch port.prove(filed) {
        case .digestOnly:
            digestOnly += 1
            return nil
        case .damaged:
            findings.add(finding("content", "the bytes of that digest", "others"))
            return nil
        case .refused(let sentence):
            findings.add(finding("content", "evidence that is believed", sentence))
            return nil
        case .proven(let again):
            let wrong = filed.differences(from: again, claim)
            for (column, expected, found) in wrong {
                findings.add(finding(column, expected, found))
            }
            if !wrong.isEmpty { return nil }
            proven += 1
            return again.stated
        }
    }

    private mutating func add(unsupported claim: EvidenceClaim, _ fact: StatedFact) {
        findings.add(
            AuditFinding(
                at: claim.position, column: "payload",
                expected: "\(claim.type) of what its evidence states", found: "\(fact)"))
    }

    private mutating func addUnsupported() {
        let claims = waiting.flatMap { fact, claims in claims.map { ($0, fact) } }
        let ordered = claims.sorted {
            ($0.0.position.shard, $0.0.position.sequence)
                < ($1.0.position.shard, $1.0.position.sequence)
        }
        for (claim, fact) in ordered { add(unsupported: claim, fact) }
        waiting = [:]
    }
}

extension FiledEvidence {
    /// The columns that say something else than the evidence, or than what was filed.
    fileprivate func differences(
        from again: ProvenAgain, _ claim: EvidenceClaim?
    ) -> [(column: String, expected: String, found: String)] {
        var differences: [(column: String, expected: String, found: String)] = []
        func compare(_ column: String, _ expected: String, _ found: String) {
            if expected != found { differences.append((column, expected, found)) }
        }
        compare("verdict", FiledEvidence.believed, verdict)
        compare("app", again.app?.text ?? "none", app ?? "none")
        compare("environment", again.environment.rawValue, environment)
        compare("signed_at", "\(again.signedAt.milliseconds)", "\(signedAt.milliseconds)")
        // Where the columns were not sealed yet, the event tells whose evidence it is.
        if let claim, isSealed == nil { compare("project", claim.project, project) }
        if isSealed == false, differences.isEmpty {
            differences.append(
                ("seal", "the columns that were filed", "others, such as first_seen_at"))
        }
        return differences
    }
}
