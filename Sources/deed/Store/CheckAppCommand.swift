import Commands
import Core
import JSON
import Service
import Threading

let checkAppCommand = CommandSpec(
    path: ["app", "check"],
    summary: "Tests the connection to the store and back, and shows which step fails.",
    options: Option.app + [
        .environment, .value("wait", "SECONDS", "how long to wait for the test notification (60)"),
        .extraRoots, .secretKeyFile, .project,
    ] + Option.database, onlyReads: true,
    example: "deed app check --bundle-id com.example.game"
) { invocation throws(CommandEnd) in
    let app = try invocation.app()
    let project = try invocation.project()
    let environment = try invocation.environment()
    let seconds = try invocation.integer("wait", in: 0...600) ?? 60
    try invocation.withIntake(in: project) { intake throws(CommandEnd) in
        let check = StoreCheck(intake) { pause(milliseconds: $0) }
        let results = try obey(
            check.run(app, of: project, in: environment, waiting: seconds))
        invocation.show(
            ["steps": .array(results.map(\.json))],
            text: results.map(\.line).joined(separator: "\n"))
        if let failed = results.first(where: { $0.passed == false }) {
            throw .refused(
                code: "check_failed",
                sentence: "The step \"\(failed.step.rawValue)\" fails: \(failed.detail)")
        }
    }
}

extension StoreCheck.Result {
    fileprivate var json: JSON {
        [
            "step": .string(step.rawValue), "passed": passed.map(JSON.bool) ?? .null,
            "detail": .string(detail),
        ]
    }

    fileprivate var line: String {
        let mark = passed.map { $0 ? "ok" : "FAILED" } ?? "-"
        return "\(step.rawValue.padded(to: 10))\(mark.padded(to: 8))\(detail)"
    }
}
