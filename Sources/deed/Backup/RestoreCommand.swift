import Assembly
import Commands
import Core
import Foundation
import JSON
import Ledger
import PrivatePostgres

let restoreCommand = CommandSpec(
    path: ["restore"],
    summary: "Restores a backup into an empty database, or into a new data folder.",
    positionals: [Positional(name: "FOLDER", help: "a backup, or the folder that holds backups")],
    options: [.backupJobs, .secretKeyFile] + Option.database,
    onlyReads: true, example: "deed restore /var/backups/deed --data-dir /srv/deed-restored"
) { invocation throws(CommandEnd) in
    let restoring = try Restoring(of: invocation.positional(0) ?? "", invocation)
    let settings = Settings(invocation)
    if settings.databaseURL == nil {
        if BackupPlace.isInside(settings.dataFolder, restoring.folder) {
            throw .usage("--data-dir is inside the backup; name a folder elsewhere")
        }
        if RestoreMark(in: settings.dataFolder).isThere {
            try clearHalfRestored(settings.dataFolder)
        } else if PrivatePostgres.exists(in: settings.dataFolder) {
            throw .refused(
                code: "database_not_empty",
                sentence:
                    "\(settings.dataFolder) holds a database already; give a new folder with --data-dir."
            )
        }
        var parent = URL(fileURLWithPath: settings.dataFolder).standardizedFileURL
        while !fileExists(parent.path) { parent.deleteLastPathComponent() }
        try requireRoom(4 * restoring.manifest.bytes, in: parent.path)
    }
    let database = try invocation.database(mayCreate: true, isRestoring: true)
    defer { database.leave() }
    try restoring.fill(database, invocation)
    database.endRestoring()
    let (lacking, isRemembered) = try database.impediment()
    let flag = invocation.placeFlags
    let accept =
        "deed accept-log --reason 'the backup of \(restoring.manifest.madeAt.text) was restored'\(flag)"
    let told =
        lacking.map { "\($0.sentence)\nIf that is lost for good, say so once: \(accept)" }
        ?? (isRemembered
            ? "This machine has seen nothing that the backup lacks."
            : "This machine remembers nothing of the log, so it cannot tell what was written after the backup. If "
                + "instances elsewhere refuse the database, say once: \(accept)")
    invocation.show(
        [
            "backup": .string(restoring.folder), "made_at": .string(restoring.manifest.madeAt.text),
            "events": .integer(restoring.manifest.events), "lacking": .optional(lacking?.sentence),
            "remembered": .bool(isRemembered), "accept": .string(accept),
        ],
        text:
            "\(restoring.manifest.events) events of \(restoring.manifest.madeAt.text) are restored, and the "
            + "chain proves them.\n"
            + (restoring.isOlder
                ? "The schema was brought from migration \(restoring.manifest.migration) to this release's.\n"
                : "")
            + "\(told)\n"
            + "Erasures since then are not in it. Repeat them from the lists that are kept apart: "
            + "deed customer erase --again FILE --yes\(flag)\nThen: deed audit --evidence --projections\(flag)"
    )
}

/// Removes what an interrupted restore has left behind.
private func clearHalfRestored(_ folder: String) throws(CommandEnd) {
    guard let users = FileLock("\(folder)/postgres.users"), users.tryExclusive() else {
        throw .refused(
            code: "restore_running",
            sentence: "Another restore fills \(folder) now; wait for it, or end it.")
    }
    endPostgres(in: folder)
    let removed = runProgram(["/bin/rm", "-rf", "\(folder)/postgres"])
    if removed.status != 0 {
        throw .fault("\(folder)/postgres cannot be removed. rm says: \(removed.output)")
    }
}
