import Assembly
import Auditing
import Commands
import Core
import Glibc
import Ledger
import Postgres
import PrivatePostgres
import Threading

/// The restore of a backup into an empty database.
struct Restoring {
    /// The table that is filled last. Until then, services do not accept the schema.
    private static let last = " TABLE DATA deed migrations "

    let folder: String
    let manifest: Manifest
    let jobs: Int

    /// Whether the schema must be migrated to this release.
    var isOlder: Bool { manifest.migration < Schema.needed }

    /// Reads the backup. Throws unless it is complete, comes from this installation, and is not newer than this
    /// release.
    init(of path: String, _ invocation: Invocation) throws(CommandEnd) {
        let keys = try? invocation.secretKeys()
        let (folder, older) = try BackupPlace.newest(at: path, keys ?? [])
        self.folder = folder
        let key = invocation.secretKeyFile.path
        if !fileExists(key) {
            throw .refused(
                code: "backup_key_missing",
                sentence:
                    "A backup is verified with the key of the installation that made it, but \(key) "
                    + "does not exist: give a copy of that key with --secret-key-file.")
        }
        do throws(CommandEnd) {
            manifest = try Manifest(of: folder, invocation.secretKeys())
        } catch {
            guard case .refused(let code, let sentence) = error, let older else { throw error }
            throw .refused(code: code, sentence: "\(sentence) The previous backup is \(older).")
        }
        jobs = try invocation.integer("jobs", in: 1...64) ?? 2
        if manifest.migration > Schema.needed {
            throw .refused(
                code: "backup_newer",
                sentence:
                    "\(folder) has a schema at migration \(manifest.migration), but this release knows only "
                    + "\(Schema.needed); use deed \(manifest.program) or newer.")
        }
    }

    /// Throws unless the database is empty and the login may fill it. Changes nothing.
    func requireEmpty(_ database: Database) throws(CommandEnd) -> RestoreTarget {
        let found = try attempt { () throws(LedgerError) in
            try RestoreTarget.of(database.connection(role: nil))
        }
        guard let found else { throw .fault("The server returned no information about itself.") }
        if found.hasSchema {
            throw .refused(
                code: "database_not_empty",
                sentence:
                    "The database already has a schema named deed, which a restore would overwrite. "
                    + "Give an empty database.")
        }
        if !found.mayCreate {
            throw .refused(
                code: "login_not_allowed",
                sentence:
                    "The login \(found.login) may not create a schema there. Have an administrator run: "
                    + "alter database … owner to \(found.login)")
        }
        if !found.hasServiceRole, !found.mayCreateRoles {
            throw .refused(
                code: "login_not_allowed",
                sentence:
                    "The role deed_service is missing, and the login \(found.login) may not create it. "
                    + "Have an administrator run the statements of \(folder)/roles.sql, and then: "
                    + Restoring.admission(of: found.login))
        }
        if found.hasServiceRole, !found.mayServe, !found.mayCreateRoles {
            throw .refused(
                code: "login_not_allowed",
                sentence:
                    "The login \(found.login) may not act as deed_service, so the restored log cannot be "
                    + "verified. Have an administrator run: \(Restoring.admission(of: found.login))"
            )
        }
        if found.encoding != "UTF8" {
            throw .refused(
                code: "encoding_wrong",
                sentence:
                    "The database stores text as \(found.encoding); create one with the encoding UTF8."
            )
        }
        if found.version / 10_000 < manifest.postgres {
            throw .refused(
                code: "postgres_older",
                sentence:
                    "The dump is from PostgreSQL \(manifest.postgres), but the server has version "
                    + "\(found.version / 10_000); use a server that is at least as new.")
        }
        return found
    }

    /// Fills the empty database and checks that its content matches the manifest.
    func fill(_ database: Database, _ invocation: Invocation) throws(CommandEnd) {
        let target = try requireEmpty(database)
        let programs = try invocation.clientPrograms(
            forServer: max(manifest.postgres, target.version / 10_000))
        let source = Source(database.connection(role: nil))
        try makeRoles(source, programs, for: target)
        let lists = try Lists(of: folder, programs)
        defer { lists.remove() }
        showProgress("restoring \(bytesText(manifest.bytes))")
        for (list, jobs) in [(lists.first, jobs), (lists.last, 1)] {
            let restored = source.run(
                programs, "pg_restore",
                [
                    "--no-owner", "--exit-on-error", "--jobs=\(jobs)", "--no-password",
                    "--use-list=\(list)", "\(folder)/dump",
                ])
            if restored.status != 0 {
                throw .fault(
                    "pg_restore failed, so the database is incomplete. Drop its schema deed before you try "
                        + "again. The output was: \(restored.output)")
            }
        }
        if isOlder {
            showProgress(
                "bringing the schema from migration \(manifest.migration) to \(Schema.needed)")
            try attempt { () throws(LedgerError) in
                var schema = Schema(database.connection(role: nil))
                try schema.migrate(by: Build.version, now: systemClock()) { _ in }
            }
        }
        try prove(database)
    }

    /// Creates the roles that are missing. Existing roles stay unchanged.
    private func makeRoles(
        _ source: Source, _ programs: ClientPrograms, for target: RestoreTarget
    ) throws(CommandEnd) {
        let quiet = ["--no-psqlrc", "--quiet", "--no-password"]
        let made = source.run(programs, "psql", quiet + ["--file=\(folder)/roles.sql"])
        // The roles may exist already: without ON_ERROR_STOP, psql continues after such an error.
        if made.status != 0 { throw .fault("The roles cannot be created: \(made.output)") }
        if target.mayServe { return }
        let statement = Restoring.admission(of: target.login)
        let admitted = source.run(programs, "psql", quiet + ["--command=\(statement)"])
        if admitted.status != 0 {
            throw .refused(
                code: "login_not_allowed",
                sentence:
                    "The login \(target.login) may not act as deed_service. Have an administrator run: \(statement)"
            )
        }
    }

    private static func admission(of login: String) -> String {
        "grant deed_service to \"\(login.replacing("\"", with: "\"\""))\""
    }

    /// Checks that each shard ends where the manifest says. The chain then proves everything before that end.
    private func prove(_ database: Database) throws(CommandEnd) {
        let settings = database.connection(role: nil)
        let marks = try attempt { () throws(LedgerError) in try Auditor(settings).marks() }
        let proved = Monitor((count: 0, isOver: false))
        let lanes = (0..<jobs).map { lane in
            Shard.all.filter { Int($0.number) % jobs == lane }
        }
        let results = sideBySide(lanes) { [self] shards in
            Result { () throws(CommandEnd) in
                let auditor = Auditor(settings)
                for shard in shards where !proved.change({ $0.isOver }) {
                    do throws(CommandEnd) {
                        try prove(shard, auditor, marks)
                    } catch {
                        proved.change { $0.isOver = true }
                        throw error
                    }
                    proved.change {
                        $0.count += 1
                        showProgress("proved \($0.count) of \(Shard.count) shards")
                    }
                }
            }
        }
        // An error in the log takes precedence over a broken connection.
        let ends = results.compactMap { result -> CommandEnd? in
            if case .failure(let end) = result { end } else { nil }
        }
        let refusal = ends.first { if case .refused = $0 { true } else { false } }
        if let end = refusal ?? ends.first { throw end }
    }

    private func prove(
        _ shard: Shard, _ auditor: Auditor, _ marks: [ShardMark]
    ) throws(CommandEnd) {
        guard let wanted = manifest.marks.first(where: { $0.shard == shard }),
            let found = marks.first(where: { $0.shard == shard }), wanted.head == found.head,
            wanted.chain == found.chain
        else {
            throw .refused(
                code: "backup_incomplete",
                sentence: "Shard \(shard.number) does not end where the backup's manifest says.")
        }
        // With a mark, the audit does not compare customers' rows with their events. That comparison would read
        // everything a second time, so `deed audit` makes it.
        let audit = try attempt { () throws(LedgerError) in
            try auditor.audit(shard, since: .start(of: shard), against: wanted)
        }
        if !audit.findings.isEmpty {
            throw .refused(
                code: "log_altered",
                sentence: "The restored log is damaged; for details, run: deed audit")
        }
    }

    /// The dump's table of contents, split into two lists for two passes.
    private struct Lists {
        /// A folder that only this user can write to, so that other users cannot place links in it.
        private let place: String
        var first: String { "\(place)/first" }
        var last: String { "\(place)/last" }

        init(of folder: String, _ programs: ClientPrograms) throws(CommandEnd) {
            let place = try temporaryFolder("/tmp/deed-restore.")
            self.place = place
            var isWhole = false
            defer { if !isWhole { Lists.remove(place) } }
            let file = "\(place)/all"
            let listed = programs.run(
                "pg_restore", ["--list", "--file=\(file)", "\(folder)/dump"])
            if listed.status != 0 {
                throw .fault("pg_restore cannot read the dump: \(listed.output)")
            }
            let lines = String(decoding: try readStart(of: file, limit: 16 << 20), as: UTF8.self)
                .split(separator: "\n").filter { !$0.hasPrefix(";") }
            let (ends, others) = (
                lines.filter { $0.contains(Restoring.last) },
                lines.filter { !$0.contains(Restoring.last) }
            )
            if ends.count != 1 { throw .fault("The dump lacks the table deed.migrations.") }
            try replaceFile(first, with: others.joined(separator: "\n") + "\n")
            try replaceFile(last, with: ends.joined(separator: "\n") + "\n")
            isWhole = true
        }

        func remove() { Lists.remove(place) }

        private static func remove(_ folder: String) {
            _ = runProgram(["/bin/rm", "-rf", folder])
        }
    }
}
