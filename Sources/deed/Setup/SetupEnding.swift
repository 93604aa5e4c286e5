import Commands
import Core
import Foundation
import Glibc
import JSON
import Machine

extension Setup {
    /// The commands to run next, all in one shell.
    var commands: [String] {
        let program = Setup.program
        let settings = "set -a; . \(shellWord(place.settings.path))"
        let other = wordsOfOwner(of: place.settings.folder)
        func settled(_ command: String) -> String {
            other.isEmpty
                ? command : "\(other)sh -c \(shellWord("\(settings); exec \(command)"))"
        }
        let first =
            SetupService(place) == nil
            ? settled("\(program) serve") + " &" : settled("\(program) status")
        let key =
            answers.keysFolder.map {
                "$(\(wordsOfOwner(of: $0))cat \(shellWord("\($0)/reader")))"
            } ?? "$(\(settled("\(program) key create --role reader")) | head -n 1)"
        return [
            other.isEmpty ? "\(settings); set +a; \(first)" : first,
            settled(
                "\(program) grant --customer player-1 --entitlement pro --for P30D"
                    + " --reason 'first steps' --idempotency-key first-steps"),
            "curl -fsS --retry 30 --retry-delay 1 --retry-connrefused -H \"Authorization: Bearer \(key)\""
                + " \(url)/v1/customers/player-1/entitlements",
        ]
    }

    var ending: String {
        "Deed is set up. deed doctor says: \(verdict)\nPaste these three commands to serve, grant and read:\n\n"
            + commands.map { "    \($0)" }.joined(separator: "\n")
    }

    /// The doctor's current verdict.
    private var verdict: String { Verdict(HealthCheck.all, Patient(invocation)).sentence }

    func json(of plan: [SetupStep], isDone: Bool) -> JSON {
        let steps = plan.map { step -> JSON in
            let state = step.work == nil ? "there" : isDone ? "done" : "missing"
            return [
                "step": .string(step.name), "state": .string(state), "detail": .string(step.text),
            ]
        }
        return [
            "steps": .array(steps), "settings": .string(place.settings.path),
            "data": .string(place.dataFolder), "project": .string(answers.project.text),
            "url": .string(url), "keys": .optional(answers.keysFolder),
            "commands": .array(commands.map(JSON.string)),
            "verdict": isDone ? .string(verdict) : .null,
        ]
    }

    /// The server's address on this machine. A wildcard address includes the local one.
    private var url: String {
        let colon = answers.listen.lastIndex(of: ":") ?? answers.listen.endIndex
        let (host, port) = (answers.listen[..<colon], answers.listen[colon...])
        switch host {
        case "", "0.0.0.0": return "http://127.0.0.1\(port)"
        case "[::]": return "http://[::1]\(port)"
        default: return "http://\(host)\(port)"
        }
    }

    /// `deed` if a shell finds this program under that name, otherwise the program's path.
    private static var program: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "deed"
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let first = folders.map { "\($0)/deed" }.first(where: fileExists)
        let found = first.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        return found == own ? "deed" : shellWord(own)
    }
}

/// Returns the words with which root runs a command as the folder's owner, or none if that is root. The owner can put
/// commands into a file there, or a link that leads root to another file.
private func wordsOfOwner(of folder: String) -> String {
    var found = stat()
    guard getuid() == 0, lstat(folder, &found) == 0, found.st_uid != 0 else { return "" }
    let group = ServiceUser(id: found.st_uid)?.group ?? found.st_gid
    return "setpriv --reuid=\(found.st_uid) --regid=\(group) --init-groups "
}

/// Returns the text, quoted so that a shell reads it as a single word.
func shellWord(_ text: String) -> String {
    let isPlain = text.allSatisfy {
        $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+,@".contains($0))
    }
    return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
}
