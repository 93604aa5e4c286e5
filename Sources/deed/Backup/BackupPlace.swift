import Commands
import Core
import Foundation
import Glibc
import PrivatePostgres

/// The folder in which backups lie, each in a folder named after its moment.
struct BackupPlace {
    private static let prefix = "deed-"
    private static let unfinished = ".unfinished-"

    let path: String

    /// Makes a missing folder, closed to others: a backup holds what each customer bought.
    init(making path: String) throws(CommandEnd) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        if mkdir(self.path, 0o700) != 0, errno != EEXIST {
            throw .fault("\(self.path) cannot be made: \(String(cString: strerror(errno)))")
        }
        if access(self.path, W_OK | X_OK) != 0 {
            throw .fault("\(self.path) cannot be written to: \(String(cString: strerror(errno)))")
        }
    }

    /// Holds others off while this process writes there.
    func lock() throws(CommandEnd) -> FileLock {
        guard let lock = FileLock("\(path)/.lock") else {
            throw .fault("\(path)/.lock cannot be opened")
        }
        if !lock.tryExclusive() {
            throw .refused(
                code: "backup_running", sentence: "Another backup is written into \(path) now.")
        }
        return lock
    }

    /// A new folder under a name that no backup has; removes what killed processes left.
    func begin() throws(CommandEnd) -> String {
        for name in names where name.hasPrefix(BackupPlace.unfinished) {
            try remove("\(path)/\(name)")
        }
        let draft = "\(path)/\(BackupPlace.unfinished)\(getpid())"
        if mkdir(draft, 0o700) != 0 {
            throw .fault("\(draft) cannot be made: \(String(cString: strerror(errno)))")
        }
        return draft
    }

    /// Gives a whole backup its name, once everything in it is on disk.
    func finish(_ draft: String, at instant: Instant) throws(CommandEnd) -> String {
        let text = instant.text.filter { $0.isNumber || $0 == "T" }
        let whole = "\(path)/\(BackupPlace.prefix)\(text)"
        if rename(draft, whole) != 0 {
            throw .fault("\(whole) cannot be made: \(String(cString: strerror(errno)))")
        }
        syncFolder(of: whole)
        return whole
    }

    /// The whole backups, oldest first.
    var backups: [String] {
        names.filter {
            $0.hasPrefix(BackupPlace.prefix) && fileExists("\(path)/\($0)/manifest.json")
        }
        .sorted().map { "\(path)/\($0)" }
    }

    /// Removes the oldest beyond that many; returns how many.
    func keep(_ count: Int) throws(CommandEnd) -> Int {
        let old = backups.dropLast(count)
        for folder in old { try remove(folder) }
        return old.count
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// Under another name first, so that nothing that is half gone looks whole.
    private func remove(_ folder: String) throws(CommandEnd) {
        let doomed = "\(path)/\(BackupPlace.unfinished)gone-\(getpid())"
        _ = rename(folder, doomed)
        do {
            try FileManager.default.removeItem(atPath: doomed)
        } catch {
            throw .fault("\(folder) cannot be removed: \(error.localizedDescription)")
        }
    }

    /// The backup that a person means: that folder, or the newest one in it.
    static func newest(at path: String) throws(CommandEnd) -> String {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        if fileExists("\(path)/manifest.json") { return path }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let whole = names.filter {
            $0.hasPrefix(prefix) && fileExists("\(path)/\($0)/manifest.json")
        }
        guard let last = whole.max() else {
            throw .refused(
                code: "no_backup",
                sentence: "\(path) holds no whole backup; deed backup --out \(path) makes one.")
        }
        return "\(path)/\(last)"
    }
}
