import Assembly
import Auditing
import Commands
import Core
import Crypto
import Evidence
import JSON
import Ledger
import Postgres
import Service
import Telemetry

let auditCommand = CommandSpec(
    path: ["audit"],
    summary: "Checks that the log is intact, and names each place where it was changed.",
    options: [
        .flag(
            "evidence",
            "also verify all stored evidence again, and check that no event lacks its evidence"),
        .flag("projections", "also compare every derived row with the log"),
        .value("sample", "COUNT", "with --projections: compare only about this many customers"),
        .value("against", "FILE", "check that the log still has what this checkpoint covers"),
        .flag("since-mark", "read only the events added since the last clean audit with this flag"),
        .flag(
            "quarantine",
            "first move events beyond a shard's head aside; needs the login of the schema's owner"),
        .secretKeyFile, .extraRoots,
    ] + Option.database,
    example: "deed audit --evidence --projections --json"
) { invocation throws(CommandEnd) in
    let sample = try invocation.integer("sample", in: 1...1_000_000)
    if sample != nil, !invocation.has("projections") {
        throw invocation.usage("--sample goes with --projections")
    }
    let roots = try invocation.extraRoots()
    try invocation.withAuditor(asOwner: invocation.has("quarantine")) {
        auditor, clock throws(CommandEnd) in
        var report = AuditReport()
        do throws(CommandEnd) {
            if invocation.has("quarantine") { try report.quarantine(auditor, at: clock()) }
            try report.auditSchema(auditor)
            try report.auditLog(auditor, invocation)
            if invocation.has("evidence") {
                try report.auditEvidence(auditor, Verifier(extraRoots: roots))
            }
            if invocation.has("projections") {
                try report.auditProjections(auditor, sample: sample)
            }
        } catch {
            // Reports findings and repairs before the error.
            if report.hasNews { invocation.show(report.json, text: report.text) }
            throw error
        }
        invocation.show(report.json, text: report.text)
        if let refusal = report.refusal { throw refusal }
        if invocation.has("evidence"), invocation.has("projections"), sample == nil {
            invocation.note(done: "audit")
        }
        try report.keepMark(invocation, now: clock())
    }
}

/// The findings of an audit.
private struct AuditReport {
    private(set) var quarantined: [QuarantinedEvent]?
    private var schema: [SchemaDifference] = []
    private var events: Int64 = 0
    private var log = AuditFindings()
    /// The number of events after their shard's head.
    private var beyond = 0
    private var marks: [ShardMark] = []
    private var since: Checkpoint?
    private var evidence: EvidenceAudit?
    private var projections: ProjectionAudit?

    /// Whether an interrupted audit has findings to report.
    var hasNews: Bool {
        quarantined?.isEmpty == false || !schema.isEmpty || !log.isEmpty
    }

    mutating func quarantine(_ auditor: Auditor, at now: Instant) throws(CommandEnd) {
        do throws(LedgerError) {
            quarantined = try auditor.quarantine(at: now)
        } catch {
            // 42501: the login lacks the privilege.
            if case .postgres(let reason) = error, reason.sqlState == "42501" {
                throw .fault(
                    "Only the schema's owner may move events aside; give its login with "
                        + "--database-url, as for deed migrate.")
            }
            throw .fault(error.detailed)
        }
    }

    mutating func auditSchema(_ auditor: Auditor) throws(CommandEnd) {
        schema = try attempt { () throws(LedgerError) in try auditor.schemaDifferences() }
    }

    mutating func auditLog(
        _ auditor: Auditor, _ invocation: Invocation
    ) throws(CommandEnd) {
        var checkpoint: Checkpoint?
        if let name = invocation["against"] {
            let keys = try invocation.secretKeys()
            checkpoint = try Checkpoint(readFile(name), from: name, keys)
        }
        since = try invocation.lastMark()
        for shard in Shard.all {
            let audit = try attempt { () throws(LedgerError) in
                try auditor.audit(shard, since: since?[shard], against: checkpoint?[shard])
            }
            events += audit.events
            log.add(audit.findings)
            beyond += audit.beyond
            marks.append(audit.end)
            showProgress("audited \(marks.count) of \(Shard.count) shards")
        }
        let strays = try attempt { () throws(LedgerError) in try auditor.strays() }
        log.add(strays)
        beyond += strays.count
    }

    mutating func auditEvidence(
        _ auditor: Auditor, _ verifier: Verifier
    ) throws(CommandEnd) {
        var audit = EvidenceAudit(EvidenceAuditPort(auditor, verifier))
        try attempt { () throws(LedgerError) in try auditor.findUnnamedEvidence() }
        try ask(audit.run { showProgress("proved \($0) pieces of evidence") })
        evidence = audit
    }

    mutating func auditProjections(
        _ auditor: Auditor, sample: Int?
    ) throws(CommandEnd) {
        var audit = ProjectionAudit()
        try attempt { () throws(LedgerError) in
            if let sample {
                try audit.compareSample(of: sample, auditor)
            } else {
                try audit.compareAll(auditor) { showProgress("compared \($0) customers") }
            }
        }
        projections = audit
    }

    /// Stores the place where a clean audit ended.
    func keepMark(_ invocation: Invocation, now: Instant) throws(CommandEnd) {
        guard invocation.has("since-mark") else { return }
        let mark = Checkpoint(madeAt: now, marks: marks)
        try replaceFile(
            invocation.markFile, with: mark.text(try invocation.signingKey()))
    }

    /// Why the command fails; `nil` if the audit found nothing wrong.
    var refusal: CommandEnd? {
        if !log.isEmpty {
            return .refused(
                code: "log_altered",
                sentence: (log.count > beyond
                    ? "The log was changed or is damaged; compare the named places with a "
                        + "backup." : "Something other than Deed wrote to the database.")
                    + (beyond > 0
                        ? " Events beyond a head or in no shard are not part of the log: find out who wrote "
                            + "them, then run deed audit --quarantine with the schema owner's login."
                        : ""))
        }
        if let evidence, !evidence.findings.isEmpty {
            return .refused(
                code: "evidence_unproven",
                sentence:
                    "Evidence, or an event based on it, has changed since it was written; compare the "
                    + "named places with a backup."
                    + (evidence.refused > 0
                        ? " If some of it was verified with your own roots, give --extra-roots."
                        : ""))
        }
        if let projections, !projections.findings.isEmpty {
            return .refused(
                code: "projections_differ",
                sentence:
                    "Derived rows differ from the log; something other than Deed "
                    + "wrote to the database.")
        }
        return schema.refusal
    }
}

extension AuditReport {
    var json: JSON {
        var object = JSONObject()
        object.append("events", .integer(events))
        object.append(
            "schema",
            [
                "findings": .array(schema.map(\.json)),
                "finding_count": .integer(schema.count),
            ])
        if let since { object.append("since", .string(since.madeAt.text)) }
        object.append("findings", log.json)
        object.append("finding_count", .integer(log.count))
        if let evidence {
            object.append(
                "evidence",
                [
                    "proven": .integer(evidence.proven),
                    "digest_only": .integer(evidence.digestOnly),
                    "failing": .integer(evidence.findings.count),
                    "findings": evidence.findings.json,
                ])
        }
        if let projections {
            object.append(
                "projections",
                [
                    "customers": .integer(projections.customers),
                    "findings": projections.findings.json,
                    "finding_count": .integer(projections.findings.count),
                ])
        }
        if let quarantined {
            object.append("quarantined", .array(quarantined.map(\.json)))
        }
        return .object(object)
    }

    var text: String {
        var lines: [String] = []
        for event in quarantined ?? [] {
            lines.append(
                "moved aside: \(event.type) of '\(event.customer)' at \(event.place), now in "
                    + "deed.quarantined_events")
        }
        lines += schema.map(\.description)
        let beginning = since.map { " since \($0.madeAt.text)" } ?? ""
        lines.append(
            events == 1
                ? "1 event\(beginning) \(log.isEmpty ? "is proven" : "was read")."
                : "\(events) events\(beginning) \(log.isEmpty ? "are proven" : "were read").")
        lines += log.lines
        if let evidence {
            lines.append(
                "\(evidence.proven) pieces of evidence are proven, \(evidence.digestOnly) are kept as a "
                    + "digest only.")
            lines += evidence.findings.lines
        }
        if let projections {
            lines.append(
                "The rows of \(projections.customers) customers were compared with the log.")
            lines += projections.findings.lines
        }
        return lines.joined(separator: "\n")
    }
}

extension AuditFindings {
    fileprivate var json: JSON { .array(listed.map(\.json)) }

    fileprivate var lines: [String] {
        let rest = count - listed.count
        return listed.map(\.description) + (rest > 0 ? ["and \(rest) more"] : [])
    }
}

extension AuditFinding {
    fileprivate var json: JSON {
        [
            "table": .string(table), "row": .string(row),
            "shard": shard.map { .integer(Int($0.number)) } ?? .null, "column": .string(column),
            "expected": .string(expected), "found": .string(found),
        ]
    }
}

extension QuarantinedEvent {
    fileprivate var json: JSON {
        ["position": .string(place), "customer": .string(customer), "type": .string(type)]
    }
}

extension EvidenceAuditPort {
    fileprivate init(_ auditor: Auditor, _ verifier: Verifier) {
        self.init(
            resting: { shard, last throws(Fault) in
                try faulting { () throws(LedgerError) in
                    try auditor.restingEvents(of: shard, after: last)
                }
            },
            filed: { digests throws(Fault) in
                try faulting { () throws(LedgerError) in try auditor.evidence(digests) }
            },
            unnamed: { () throws(Fault) in
                try faulting { () throws(LedgerError) in try auditor.nextUnnamedEvidence() }
            },
            prove: { [verifier, PlayEvidence()].proveAgain($0) })
    }
}

/// Calls the ledger's auditor. A failure ends the command.
func attempt<Answer: ~Copyable>(
    _ body: () throws(LedgerError) -> Answer
) throws(CommandEnd) -> Answer {
    do throws(LedgerError) {
        return try body()
    } catch {
        if let code = error.refusalCode {
            throw .refused(code: code, sentence: error.description)
        }
        throw .fault(error.detailed)
    }
}

extension Invocation {
    fileprivate var markFile: String { "\(Settings(self).dataFolder)/audit.mark" }

    /// Returns the mark of the last clean audit, or `nil` if there was no such audit or if
    /// everything must be read.
    fileprivate func lastMark() throws(CommandEnd) -> Checkpoint? {
        guard has("since-mark"), fileExists(markFile) else { return nil }
        do throws(CommandEnd) {
            return try Checkpoint(readOwnFile(markFile), from: markFile, secretKeys())
        } catch {
            guard case .refused(let code, let sentence) = error else { throw error }
            throw .refused(
                code: code, sentence: "\(sentence) To audit in full again, remove the file.")
        }
    }

    /// Runs `body` with an auditor for the configured database.
    func withAuditor(
        asOwner: Bool = false, _ body: (Auditor, @escaping Clock) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        try withDatabase { database throws(CommandEnd) in
            let clock = try clock(over: database, onlyReads: !asOwner)
            try body(
                Auditor(asOwner ? database.connection(role: nil) : database.serviceConnection),
                clock)
        }
    }
}
