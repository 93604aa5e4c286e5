import Core
import JSON
import Ledger

let auditCommand = CommandSpec(
    path: ["audit"],
    summary: "Proves that the log has no hole and that nobody changed it since it was written.",
    options: Option.database, example: "deed audit --json"
) { invocation throws(CommandEnd) in
    try invocation.withPorts { _, ledger throws(CommandEnd) in
        var audits: [ShardAudit] = []
        for shard in Shard.all {
            audits.append(try ask { () throws(Fault) in try ledger.audit(shard) })
            showProgress("audited \(audits.count) of \(Shard.count) shards")
        }
        let events = audits.reduce(0) { $0 + $1.events }
        let findings = audits.compactMap { audit in
            audit.finding.map { "shard \(audit.shard.number): \($0)" }
        }
        invocation.show(
            ["events": .integer(events), "findings": .array(findings.map(JSON.string))],
            text: (["\(events) events are proven."] + findings).joined(separator: "\n"))
        if !findings.isEmpty {
            throw .refused(
                code: "log_altered",
                sentence: "The log was changed or is damaged; compare it with a backup.")
        }
    }
}
