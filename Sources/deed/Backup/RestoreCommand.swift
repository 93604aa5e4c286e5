import Assembly
import Commands
import Core
import Foundation
import JSON
import Ledger
import PrivatePostgres
import Wording

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
                    "\(settings.dataFolder) already holds a database; give a new folder with --data-dir."
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
        lacking.map {
            "\($0.withRemedy)\nIf those events are lost for good, accept the loss once with: \(accept)"
        }
        ?? (isRemembered
            ? "The backup contains everything that this machine has seen."
            : "This machine has no record of the log, so it cannot tell what was written after the backup. If "
                + "other instances refuse the database, run once: \(accept)")
    invocation.show(
        [
            "backup": .string(restoring.folder), "made_at": .string(restoring.manifest.madeAt.text),
            "events": .integer(restoring.manifest.events),
            "lacking": .optional(lacking?.withRemedy),
            "remembered": .bool(isRemembered), "accept": .string(accept),
        ],
        text:
            "\(restoring.manifest.events) events as of \(restoring.manifest.madeAt.text) are restored, and the hash "
            + "chain proves them.\n"
            + (restoring.isOlder
                ? "The schema was migrated from \(restoring.manifest.migration) to this release's version.\n"
                : "")
            + "\(told)\n"
            + "The backup does not include later erasures. Repeat them from your separate lists: "
            + "deed customer erase --again FILE --yes\(flag)\nThen: deed audit --evidence --projections\(flag)"
    )
}

/// Removes the leftovers of an interrupted restore.
private func clearHalfRestored(_ folder: String) throws(CommandEnd) {
    guard let users = FileLock("\(folder)/postgres.users"), users.tryExclusive() else {
        throw .refused(
            code: "restore_running",
            sentence: "Another restore is writing to \(folder); wait until it is done, or stop it.")
    }
    endPostgres(in: folder)
    let removed = runProgram(["/bin/rm", "-rf", "\(folder)/postgres"])
    if removed.status != 0 {
        throw .fault("\(folder)/postgres cannot be removed: \(removed.output)")
    }
}
