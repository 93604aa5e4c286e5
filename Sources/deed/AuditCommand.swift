import Core
import Crypto
import Evidence
import JSON
import Ledger

let auditCommand = CommandSpec(
    path: ["audit"],
    summary: "Proves that the log has no hole and that nobody changed it since it was written.",
    options: [
        .flag("evidence", "also prove all kept evidence again, from its bytes and offline"),
        .extraRoots,
    ] + Option.database,
    example: "deed audit --evidence --json"
) { invocation throws(CommandEnd) in
    let roots = try invocation.extraRoots()
    try invocation.withPorts { _, ledger throws(CommandEnd) in
        let log = try LogAudit(ledger)
        let evidence =
            invocation.has("evidence") ? try EvidenceAudit(ledger, extraRoots: roots) : nil
        var json = log.json
        if let evidence { json.append("evidence", evidence.json) }
        invocation.show(
            .object(json), text: (log.lines + (evidence?.lines ?? [])).joined(separator: "\n"))
        if !log.findings.isEmpty {
            throw .refused(
                code: "log_altered",
                sentence: "The log was changed or is damaged; compare it with a backup.")
        }
        if let evidence, evidence.failing > 0 {
            throw .refused(
                code: "evidence_unproven",
                sentence: "Not all kept evidence can be proven again; compare it with a backup, "
                    + "and give --extra-roots if some was believed under roots of your own.")
        }
    }
}

private struct LogAudit {
    let events: Int64
    let findings: [String]

    init(_ ledger: Ledger) throws(CommandEnd) {
        var audits: [ShardAudit] = []
        for shard in Shard.all {
            audits.append(try ask { () throws(Fault) in try ledger.audit(shard) })
            showProgress("audited \(audits.count) of \(Shard.count) shards")
        }
        events = audits.reduce(0) { $0 + $1.events }
        findings = audits.compactMap { audit in
            audit.finding.map { "shard \(audit.shard.number): \($0)" }
        }
    }

    var json: JSONObject {
        var object = JSONObject()
        object.append("events", .integer(events))
        object.append("findings", .array(findings.map(JSON.string)))
        return object
    }

    var lines: [String] { ["\(events) events are proven."] + findings }
}

private struct EvidenceAudit {
    /// A piece may have some megabytes.
    private static let pageLimit = 50
    /// More findings than these are counted and not listed.
    private static let listLimit = 100

    private(set) var proven = 0
    private(set) var digestOnly = 0
    private(set) var notBelieved = 0
    private(set) var failing = 0
    private(set) var findings: [String] = []

    init(_ ledger: Ledger, extraRoots: [Certificate]) throws(CommandEnd) {
        let verifier = Verifier(extraRoots: extraRoots)
        var last: [UInt8] = []
        while true {
            let page = try ask { () throws(Fault) in
                try ledger.evidence(after: last, limit: EvidenceAudit.pageLimit)
            }
            guard let end = page.last else { return }
            for filed in page { add(verifier.proveAgain(filed), filed) }
            last = end.digest
            showProgress("proved \(proven) pieces of evidence")
        }
    }

    private mutating func add(_ finding: EvidenceFinding, _ filed: FiledEvidence) {
        switch finding {
        case .proven: proven += 1
        case .digestOnly: digestOnly += 1
        case .notBelieved: notBelieved += 1
        case .damaged: fail(filed, "What is kept is not what was believed.")
        case .refused(let refusal): fail(filed, refusal.description)
        }
    }

    private mutating func fail(_ filed: FiledEvidence, _ sentence: String) {
        failing += 1
        if findings.count < EvidenceAudit.listLimit {
            findings.append("evidence \(filed.digest.hex) (\(filed.kind)): \(sentence)")
        }
    }

    var json: JSON {
        [
            "proven": .integer(proven), "digest_only": .integer(digestOnly),
            "not_believed": .integer(notBelieved), "failing": .integer(failing),
            "findings": .array(findings.map(JSON.string)),
        ]
    }

    var lines: [String] {
        [
            "\(proven) pieces of evidence are proven, \(digestOnly) are kept as a digest only, "
                + "\(failing) fail."
        ] + findings
    }
}
