import Commands
import JSON

let doctorCommand = CommandSpec(
    path: ["doctor"],
    summary: "Checks the installation, and says what to do about each problem.",
    options: [
        .value("only", "CODES", "only these checks, separated by commas"),
        .flag("fix", "also make harmless repairs and check again"),
        .listen, .tlsCertificate, .tlsKey, .connections, .extraRoots, .secretKeyFile,
    ] + Option.database,
    onlyReads: true, example: "deed doctor --json"
) { invocation throws(CommandEnd) in
    let checks = try invocation.checks()
    var verdict = Verdict(checks, Patient(invocation))
    if invocation.has("fix"), try verdict.fix() {
        let done = verdict.done
        verdict = Verdict(checks, Patient(invocation))
        verdict.done = done
    }
    invocation.show(verdict.json, text: verdict.text)
    if let end = verdict.end { throw end }
}

extension Invocation {
    fileprivate func checks() throws(CommandEnd) -> [HealthCheck] {
        guard let only = self["only"] else { return HealthCheck.all }
        return try only.split(separator: ",").map { word throws(CommandEnd) -> HealthCheck in
            guard let check = HealthCheck.all.first(where: { $0.code == word }) else {
                let near = nearest(String(word), of: HealthCheck.all.map(\.code))
                throw usage(
                    "--only takes codes of checks, which deed doctor --json lists, not \"\(word)\""
                        + (near.map { "; did you mean \($0)?" } ?? ""))
            }
            return check
        }
    }
}

/// The result of the checks.
struct Verdict {
    private struct Line {
        let check: HealthCheck
        let findings: [Finding]
        /// Why the checks could not run; `nil` if they could.
        let obstacle: String?
    }

    private var lines: [Line] = []
    /// The repairs that were made.
    var done: [String] = []

    init(_ checks: [HealthCheck], _ patient: Patient) {
        for check in checks {
            if let obstacle = patient.obstacle(before: check.needs) {
                lines.append(Line(check: check, findings: [], obstacle: obstacle))
                continue
            }
            do throws(CommandEnd) {
                let findings = try check.find(patient).map(patient.addressed)
                lines.append(Line(check: check, findings: findings, obstacle: nil))
            } catch {
                lines.append(Line(check: check, findings: [], obstacle: error.sentence))
            }
        }
        patient.leave()
    }

    /// Makes the harmless repairs, and returns whether there were any.
    mutating func fix() throws(CommandEnd) -> Bool {
        for line in lines {
            for finding in line.findings {
                guard let fix = finding.fix else { continue }
                try fix()
                done.append("\(line.check.code): \(finding.remedy)")
            }
        }
        return !done.isEmpty
    }

    private func count(_ level: Finding.Level) -> Int {
        lines.filter { $0.check.level == level }.reduce(0) { $0 + $1.findings.count }
    }

    var sentence: String {
        let (wrong, warnings) = (count(.wrong), count(.warning))
        let skipped = lines.count { $0.obstacle != nil }
        let rest = skipped == 0 ? "" : " \(skipped) checks were skipped until the rest is in order."
        if wrong + warnings == 0 {
            return
                "Everything that was checked is in order (\(lines.count - skipped) checks).\(rest)"
        }
        return "\(wrong) wrong, \(warnings) to consider.\(rest)"
    }

    var end: CommandEnd? {
        count(.wrong) == 0 ? nil : .refused(code: "not_in_order", sentence: sentence)
    }

    /// The findings that require a person to act. `--json` lists every check. The error of a failed command contains
    /// the summary.
    var text: String {
        let found = lines.flatMap { line in
            line.findings.map { finding -> String in
                let mark = line.check.level == .wrong ? "WRONG  " : "warning"
                let head = "\(mark) \(line.check.code): \(finding.sentence)"
                return
                    ([head, "        \(finding.remedy)"]
                    + finding.commands.map { "            \($0.line)" }).joined(separator: "\n")
            }
        }
        let last = end == nil ? [sentence] : []
        return (done.map { "repaired  \($0)" } + found + last).joined(separator: "\n")
    }

    var json: JSON {
        let checks = lines.map { line -> JSON in
            let state =
                line.obstacle != nil
                ? "not_checked" : line.findings.isEmpty ? "ok" : line.check.level.rawValue
            return [
                "code": .string(line.check.code), "subject": .string(line.check.subject),
                "state": .string(state), "obstacle": .optional(line.obstacle),
                "findings": .array(line.findings.map(\.json)),
            ]
        }
        return [
            "wrong": .integer(count(.wrong)), "warnings": .integer(count(.warning)),
            "verdict": .string(sentence), "mended": .array(done.map(JSON.string)),
            "checks": .array(checks),
        ]
    }
}

extension Finding {
    fileprivate var json: JSON {
        [
            "detail": .string(sentence), "remedy": .string(remedy),
            "mends_itself": .bool(fix != nil),
            "commands": .array(
                commands.map {
                    ["in": .string($0.place.rawValue), "text": .string($0.text)]
                }),
        ]
    }
}
