import Assembly
import Commands
import Core
import Foundation
import Glibc
import JSON
import PrivatePostgres
import Threading

let checkBackupCommand = CommandSpec(
    path: ["backup", "check"],
    summary: "Tests a backup: restores it into a temporary PostgreSQL, audits it, and removes it.",
    positionals: [Positional(name: "FOLDER", help: "a backup, or the folder that holds backups")],
    options: [
        .value("scratch", "FOLDER", "the folder for the temporary database, on disk (/var/tmp)"),
        .backupJobs, .extraRoots, .secretKeyFile,
    ] + Option.database,
    onlyReads: true, example: "deed backup check /var/backups/deed"
) { invocation throws(CommandEnd) in
    let begin = monotonicMilliseconds()
    let restoring = try Restoring(of: invocation.positional(0) ?? "", invocation)
    let scratch = absolutePath(invocation["scratch"] ?? "/var/tmp")
    try requireRoom(4 * restoring.manifest.bytes, in: scratch)
    let folder = try trialFolder(in: scratch)
    defer { _ = runProgram(["/bin/rm", "-rf", folder]) }
    let database = try starting { () throws(StartError) in
        try Database(Settings(databaseURL: nil, dataFolder: folder), mayCreate: true)
    }
    func prove() throws(CommandEnd) {
        defer { database.leave() }
        try restoring.fill(database, invocation)
        try audit(folder, invocation)
    }
    try prove()
    let seconds = (monotonicMilliseconds() - begin) / 1000
    let tried: JSON = [
        "tried_at": .string(systemClock().text), "events": .integer(restoring.manifest.events),
        "seconds": .integer(seconds), "program": .string(Build.version),
    ]
    try replaceFile("\(restoring.folder)/tried.json", with: tried.text + "\n")
    invocation.note(done: "backup_tried", says: ["folder": .string(restoring.folder)])
    invocation.show(
        tried.followed(by: ["folder": .string(restoring.folder)]),
        text:
            "\(restoring.folder) was restored and audited in \(seconds) s: its \(restoring.manifest.events) "
            + "events, their evidence and all rows are proven.")
}

/// Creates a folder that PostgreSQL's user can enter. Also stops and removes trial databases of killed commands.
private func trialFolder(in scratch: String) throws(CommandEnd) -> String {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: scratch)) ?? []
    for name in names where name.hasPrefix("deed-trial.") {
        let words = name.split(separator: ".")
        guard words.count == 3, let process = pid_t(words[1]), kill(process, 0) != 0,
            errno == ESRCH
        else { continue }
        endPostgres(in: "\(scratch)/\(name)")
        _ = runProgram(["/bin/rm", "-rf", "\(scratch)/\(name)"])
    }
    return try temporaryFolder("\(scratch)/deed-trial.\(getpid()).")
}

/// Stops a server that a killed command left running in this folder.
func endPostgres(in folder: String) {
    let place = "\(folder)/postgres"
    guard let text = try? String(contentsOfFile: "\(place)/postmaster.pid", encoding: .utf8),
        let process = text.split(separator: "\n").first.flatMap({ pid_t($0) }),
        // Another process may have been given this process ID.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd"))
            == place
    else { return }
    kill(process, SIGQUIT)
    let deadline = monotonicMilliseconds() + 10_000
    while kill(process, 0) == 0, monotonicMilliseconds() < deadline { pause(milliseconds: 20) }
}

/// Runs the audit as if a person had started it.
private func audit(_ folder: String, _ invocation: Invocation) throws(CommandEnd) {
    let program =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "deed"
    unsetenv("DEED_DATABASE_URL")
    let roots = invocation["extra-roots"].map { ["--extra-roots", absolutePath($0)] } ?? []
    showProgress("auditing")
    let audited = runProgram(
        [program, "audit", "--evidence", "--projections", "--data-dir", folder] + roots)
    if audited.status != 0 {
        throw .refused(
            code: "backup_unsound",
            sentence: "The restored copy failed its audit: \(audited.output)"
        )
    }
}
