import Commands
import Core
import Crypto
import Foundation
import Glibc
import Ledger
import Machine
import PrivatePostgres

/// The folder that holds the backups. Each backup is in a separate folder, named after the time of the backup.
struct BackupPlace {
    private static let prefix = "deed-"
    private static let unfinished = ".unfinished-"

    let path: String

    /// Opens the folder and creates it if it is missing. Other users cannot enter it, because a backup shows what each
    /// customer bought.
    init(making path: String) throws(CommandEnd) {
        self.path = absolutePath(path)
        if mkdir(self.path, 0o700) != 0, errno != EEXIST {
            throw .fault("\(self.path) cannot be created: \(systemReason)")
        }
        if access(self.path, W_OK | X_OK) != 0 {
            throw .fault("\(self.path) cannot be written to: \(systemReason)")
        }
    }

    /// Locks the folder while this process writes.
    func lock() throws(CommandEnd) -> FileLock {
        guard let lock = FileLock("\(path)/.lock") else {
            throw .fault("\(path)/.lock cannot be opened")
        }
        if !lock.tryExclusive() {
            throw .refused(
                code: "backup_running",
                sentence: "Another backup is being written to \(path); wait until it is done.")
        }
        return lock
    }

    /// Creates a new folder under an unused name, and removes the leftovers of killed processes.
    func begin() throws(CommandEnd) -> String {
        for name in names where name.hasPrefix(BackupPlace.unfinished) {
            try remove("\(path)/\(name)")
        }
        let draft = "\(path)/\(BackupPlace.unfinished)\(getpid())"
        if mkdir(draft, 0o700) != 0 {
            throw .fault("\(draft) cannot be created: \(systemReason)")
        }
        return draft
    }

    /// Gives a backup its final name. Its files must already be on disk.
    func finish(_ draft: String, at instant: Instant) throws(CommandEnd) -> String {
        let text = instant.text.filter { $0.isNumber || $0 == "T" }
        let whole = "\(path)/\(BackupPlace.prefix)\(text)"
        if rename(draft, whole) != 0 {
            throw .fault("\(whole) cannot be created: \(systemReason)")
        }
        syncFolder(of: whole)
        return whole
    }

    /// The complete backups, oldest first. The manifest is `nil` if it cannot be read or has no valid signature.
    private func backups(_ keys: [SecretKey]) -> [(folder: String, manifest: Manifest?)] {
        BackupPlace.oldestFirst(
            names.filter {
                $0.hasPrefix(BackupPlace.prefix) && fileExists("\(path)/\($0)/\(Manifest.name)")
            }.map { "\(path)/\($0)" }, keys)
    }

    /// Sorts backups by their numbers of events, because the log only grows, but the clock that named a backup may
    /// have been wrong. Backups without a usable manifest come first, so that none of them counts as the newest.
    private static func oldestFirst(
        _ folders: [String], _ keys: [SecretKey]
    ) -> [(folder: String, manifest: Manifest?)] {
        let read = folders.map { (folder: $0, manifest: try? Manifest(readIn: $0, keys)) }
        return read.sorted {
            ($0.manifest?.events ?? -1, $0.folder) < ($1.manifest?.events ?? -1, $1.folder)
        }
    }

    /// Removes all but the newest `count` backups of this log, and no backups of other logs. The backup that was just
    /// made always stays. Returns the number of removed backups and the number that belong to other logs.
    func keep(
        _ count: Int, with made: String, of log: [ShardMark], _ keys: [SecretKey]
    ) throws(CommandEnd) -> (removed: Int, others: Int) {
        let all = backups(keys)
        let own = all.filter { $0.folder == made || $0.manifest?.isContinued(by: log) ?? false }
        let old = own.filter { $0.folder != made }.dropLast(count - 1)
        for backup in old { try remove(backup.folder) }
        return (old.count, all.count - own.count)
    }

    /// Throws unless the newest backup belongs to this log. Without this check, an empty database in place of a lost
    /// one would be backed up every night, and the loss would go unnoticed.
    func requireOwn(_ log: [ShardMark], _ keys: [SecretKey]) throws(CommandEnd) {
        guard let newest = backups(keys).last else { return }
        let last = newest.folder
        let advice =
            "Check whether this is the right database; if it is, give another folder with --out."
        guard let manifest = newest.manifest else {
            throw .refused(
                code: "backup_of_another",
                sentence:
                    "\(last) cannot be read, or is not signed with this installation's key. \(advice)"
            )
        }
        if manifest.isContinued(by: log) { return }
        let events = log.reduce(0) { $0 + $1.head }
        throw .refused(
            code: "backup_of_another",
            sentence:
                "\(last) holds \(manifest.events) events, and the \(events) events of this database do not "
                + "begin with them. \(advice)")
    }

    static func isInside(_ path: String, _ folder: String) -> Bool {
        "\(absolutePath(path))/".hasPrefix("\(absolutePath(folder))/")
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// Removes a backup. Renames its folder first, so that a half-removed backup does not look complete.
    private func remove(_ folder: String) throws(CommandEnd) {
        let doomed = "\(path)/\(BackupPlace.unfinished)gone-\(getpid())"
        _ = rename(folder, doomed)
        do {
            try FileManager.default.removeItem(atPath: doomed)
        } catch {
            throw .fault("\(folder) cannot be removed: \(error.localizedDescription)")
        }
    }

    /// Returns the backup at this path. For a folder of backups, returns the newest one and its predecessor. If no
    /// manifest can be read with these keys, the names decide, and reading the manifest then gives the reason.
    static func newest(
        at path: String, _ keys: [SecretKey]
    ) throws(CommandEnd) -> (backup: String, older: String?) {
        let path = absolutePath(path)
        if fileExists("\(path)/\(Manifest.name)") { return (path, nil) }
        func missing(_ reason: String) -> CommandEnd {
            .refused(code: "no_backup", sentence: "\(path) \(reason)")
        }
        guard let folder = opendir(path) else {
            let isFile = errno == ENOTDIR
            throw missing(
                isFile
                    ? "is a file, but a backup is a folder."
                    : "cannot be read: \(systemReason)")
        }
        closedir(folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        if names.contains("dump") {
            throw missing(
                "lacks \(Manifest.name), so it is not a complete backup; use another backup.")
        }
        let named = names.filter { $0.hasPrefix(prefix) }.sorted()
        if let closed = named.first(where: { access("\(path)/\($0)", R_OK | X_OK) != 0 }) {
            throw missing(
                "contains the backup \(closed), which this user may not read; run the command as the backup's owner."
            )
        }
        let whole = oldestFirst(
            named.map { "\(path)/\($0)" }.filter { fileExists("\($0)/\(Manifest.name)") }, keys)
        guard let last = whole.last else {
            throw missing(
                "contains no complete backup; the name of a backup's folder begins with \(prefix)")
        }
        let unusable = whole.count { $0.manifest == nil }
        if last.manifest != nil, unusable > 0 {
            // Any of them may be newer, so the choice must not look like the only one.
            printError(
                "\(unusable) other backups in \(path) were passed over, because their manifests cannot be read or "
                    + "are not signed with this installation's key.")
        }
        // Names an unusable predecessor only if no backup is usable.
        let older = whole.dropLast().last { $0.manifest != nil || last.manifest == nil }
        return (last.folder, older?.folder)
    }
}
