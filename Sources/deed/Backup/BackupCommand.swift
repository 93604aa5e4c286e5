import Assembly
import Commands
import Core
import Glibc
import JSON
import Ledger
import Postgres
import PrivatePostgres

/// Longer names come first, because the first match wins.
let backupCommands = [checkBackupCommand, backupCommand, restoreCommand]

private let backupCommand = CommandSpec(
    path: ["backup"],
    summary: "Backs up all of Deed's data to a folder while services keep running.",
    options: [
        .value(
            "out", "FOLDER", "the folder for backups; each backup gets a subfolder",
            isRequired: true
        ),
        .value("keep", "COUNT", "keep this many complete backups and remove older ones"),
        .backupJobs, .secretKeyFile,
    ] + Option.database,
    onlyReads: true, example: "deed backup --out /var/backups/deed --keep 14"
) { invocation throws(CommandEnd) in
    let keep = try invocation.integer("keep", in: 1...10_000)
    let jobs = try invocation.integer("jobs", in: 1...64) ?? 2
    let settings = Settings(invocation)
    let out = invocation["out"] ?? ""
    if settings.databaseURL == nil, BackupPlace.isInside(out, settings.dataFolder) {
        throw .usage(
            "--out is inside the data folder, so the backup could be lost with it; name another folder"
        )
    }
    let place = try BackupPlace(making: out)
    let lock = try place.lock()
    defer { withExtendedLifetime(lock) {} }
    let backup = try invocation.makeBackup(in: place, jobs: jobs)
    let keys = try invocation.secretKeys()
    let kept = try keep.map { count throws(CommandEnd) in
        try place.keep(count, with: backup.folder, of: backup.manifest.marks, keys)
    }
    let others = kept?.others ?? 0
    invocation.note(done: "backup", says: ["folder": .string(backup.folder)])
    invocation.show(
        [
            "folder": .string(backup.folder), "events": .integer(backup.manifest.events),
            "bytes": .integer(backup.manifest.bytes), "removed": .integer(kept?.removed ?? 0),
            "others": .integer(others),
        ],
        text: "\(backup.folder) holds the log up to its \(backup.manifest.events) events "
            + "(\(bytesText(backup.manifest.bytes))).\n"
            + (others == 0
                ? ""
                : "\(others) other backups there are unreadable or belong to another log; they were left alone.\n")
            + "The backup does not contain the installation's key: keep a copy of \(invocation.secretKeyFile.path) elsewhere.\n"
            + "Test the backup with: deed backup check \(shellWord(backup.folder))")
}

extension Option {
    static let backupJobs = value(
        "jobs", "COUNT", "how many tables to read or write at the same time, up to 64 (2)")
}

extension Invocation {
    fileprivate func makeBackup(
        in place: BackupPlace, jobs: Int
    ) throws(CommandEnd) -> (folder: String, manifest: Manifest) {
        let database = try database()
        defer { database.leave() }
        let server = try attempt { () throws(LedgerError) in
            try ServerExamination.of(database.connection(role: nil))
        }
        let postgres = (server?.version ?? 0) / 10_000
        let programs = try clientPrograms(forServer: postgres)
        let snapshot = try attempt { () throws(LedgerError) in
            try LogSnapshot(database.connection(role: nil))
        }
        // A newly installed release makes a backup before it upgrades the schema, so the schema may
        // be older.
        if !snapshot.isDumpable, let error = LedgerError(migrationFound: snapshot.migration) {
            throw .refused(code: "schema_not_current", sentence: error.description)
        }
        if !snapshot.undumpable.isEmpty {
            throw .refused(
                code: "login_not_allowed",
                sentence: "The login \(server?.login ?? "") may not read "
                    + "\(snapshot.undumpable.prefix(3).joined(separator: ", ")): give --database-url the "
                    + "login of the schema's owner, as for deed migrate.")
        }
        try place.requireOwn(snapshot.marks, (try? secretKeys()) ?? [])
        try requireRoom(snapshot.bytes / 4, in: place.path)
        let key = try signingKey()
        let now = systemClock()
        let draft = try place.begin()
        let source = Source(database.connection(role: nil))
        showProgress("dumping \(bytesText(snapshot.bytes))")
        let dumped = source.run(
            programs, "pg_dump",
            [
                "--format=directory", "--jobs=\(jobs)", "--schema=deed", "--no-password",
                "--snapshot=\(snapshot.name)", "--exclude-table-data=deed.instances",
                // Excluded, because kept states are derived from the log and are stored again after
                // a restore.
                "--exclude-table-data=deed.kept_states",
                "--file=\(draft)/dump",
            ])
        if dumped.status != 0 { throw .fault("pg_dump failed: \(dumped.output)") }
        try replaceFile(
            "\(draft)/roles.sql", with: snapshot.roles.map { "\($0);\n" }.joined())
        try replaceFile(
            "\(draft)/checkpoint.json",
            with: Checkpoint(madeAt: now, marks: snapshot.marks).text(key))
        let whole = Manifest(
            at: now, program: Build.version, postgres: postgres, migration: snapshot.migration,
            marks: snapshot.marks, files: try Manifest.files(in: draft))
        try replaceFile("\(draft)/\(Manifest.name)", with: whole.text(key))
        syncFiles(in: draft)
        return (try place.finish(draft, at: now), whole)
    }

    func clientPrograms(forServer version: Int64) throws(CommandEnd) -> ClientPrograms {
        do throws(PrivatePostgresError) {
            return try ClientPrograms.find(forServer: Int(version))
        } catch {
            throw .fault(error.description)
        }
    }
}

/// Throws unless the folder's disk has this many free bytes.
func requireRoom(_ bytes: Int64, in folder: String) throws(CommandEnd) {
    guard let free = freeBytes(in: folder), free < bytes else { return }
    throw .refused(
        code: "too_little_room",
        sentence:
            "\(folder) has only \(bytesText(free)) free, and about \(bytesText(bytes)) are needed; free some space."
    )
}

/// A database in the form that PostgreSQL's programs need. The password does not appear in their
/// arguments.
struct Source {
    let address: String
    let password: String?

    init(_ settings: ConnectionSettings) {
        (address, password) = settings.forArgument
    }

    func run(
        _ programs: ClientPrograms, _ program: String, _ arguments: [String]
    ) -> (status: Int32, output: String) {
        if let password { setenv("PGPASSWORD", password, 1) }
        return programs.run(program, arguments + ["--dbname=\(address)"])
    }
}
