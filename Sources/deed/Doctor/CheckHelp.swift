import Assembly
import Core
import Foundation
import Glibc
import Ledger
import Service
import StoreAccess
import Wording

extension HealthCheck {
    /// The checks that the service also makes.
    static let ofProjects = ProjectCheck.all.map { check in
        HealthCheck(check.code, check.subject, check.isWrong ? .wrong : .warning, needs: .schema) {
            patient in
            patient.sights.flatMap { check.needs(of: $0) }.map { need in
                let advice = CommandWords(storeProfiles).advice(need.remedy)
                return Finding(
                    sentence: need.sentence, remedy: advice.text,
                    commands: advice.commands.map(Advice.shell))
            }
        }
    }
}

extension Patient {
    /// What the checks need to know of each readable project.
    var sights: [ProjectSight] {
        guard let live else { return [] }
        let (needs, notes) = (live.needs(isForTests: isForTests), Set(done.map(\.what)))
        return projects.compactMap { listed, state in
            state.flatMap { try? needs.sight(of: listed.project, $0, notes: notes) }
        }
    }

    /// Returns the finding with commands that are ready to paste. Deed's own commands include this call's flags for the
    /// installation's location.
    func addressed(_ finding: Finding) -> Finding {
        var finding = finding
        finding.commands = finding.commands.map { command in
            guard command.text.hasPrefix("deed "), !command.text.contains(" --data-dir ") else {
                return command
            }
            return .shell(command.text + invocation.placeFlags)
        }
        return finding
    }

    /// Returns a finding if a regular task of the operator is overdue. A new installation has no such finding.
    func lateness(_ what: String, _ participle: String) -> [Finding] {
        guard let chore = Chore.all.first(where: { $0.what == what }), !isForTests else {
            return []
        }
        let last = done.first { $0.what == what }
        let oldest = projects.map { $0.listed.createdAt.milliseconds }.min()
        let age = oldest.map { systemClock().milliseconds - $0 } ?? 0
        if (last?.ago ?? age) <= chore.limit { return [] }
        let when = last.map { "\(span($0.ago)) ago" } ?? "never"
        return [
            Finding(
                sentence: "The installation was last \(participle) \(when).",
                remedy: "Run the command now, and set up a timer for it (docs/backup.md).",
                commands: [.shell(chore.command)])
        ]
    }
}

func owners(in folder: String) -> [String: uid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    var owners: [String: uid_t] = [:]
    for name in names {
        var found = stat()
        if lstat("\(folder)/\(name)", &found) == 0 { owners[name] = found.st_uid }
    }
    return owners
}

func appFlag(of store: Store) -> String {
    storeProfiles.first { $0.store == store }?.appFlag.name ?? "app"
}

func sqlName(_ name: String) -> String {
    "\"\(name.replacing("\"", with: "\"\""))\""
}
