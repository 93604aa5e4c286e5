import Core
import Crypto
import Foundation
import Glibc
import JSON
package import Ledger

extension LogMemory {
    /// Stores in files what was seen of each database's log, in a folder inside the data folder that services share.
    /// Commands only read the files, which belong to the service user, and do not write notes to the database
    /// either.
    package static func files(in dataFolder: String, areKept: Bool) -> LogMemory {
        let folder = "\(dataFolder)/seen"
        var memory = LogMemory(
            recall: { root, server throws(NotRecalled) in
                do throws(NotRecalled) {
                    let file = SeenLogFile(folder: folder, root: root, of: server)
                    // The log may have moved from another database to this one, for example through
                    // a backup.
                    if let seen = try file.read() { return seen }
                    return try file.latestElsewhere?.read()
                } catch {
                    if !areKept, error.isForbidden { return nil }
                    throw error
                }
            },
            keep: { seen, care in
                guard areKept, let root = seen.root else { return nil }
                do throws(SeenLogFile.NotWritten) {
                    let file = SeenLogFile(folder: folder, root: root, of: seen.server)
                    try file.merge(seen, with: care)
                    return nil
                } catch {
                    return error.reason
                }
            }, notes: areKept ? .written : .heeded)
        memory.forget = { served, instant in
            guard areKept, let root = served.root else { return 0 }
            SeenLogFile(folder: folder, root: root, of: served.server).touch()
            return SeenLogFile.removeOld(in: folder, except: root, before: instant)
        }
        return memory
    }
}

/// The file that stores what has been seen of one log in one database.
private struct SeenLogFile {
    struct NotWritten: Error {
        let reason: String

        init(_ path: String) {
            reason = "\(path): \(String(cString: strerror(errno)))"
        }

        init(_ other: LogMemory.NotRecalled) {
            reason = other.reason
        }
    }
    private let folder: String
    private let root: Digest32
    private let path: String
    /// The file that records what was seen since the main file was last synced. A power failure may corrupt it.
    private var recent: String { "\(path).recent" }

    /// Chooses the file's name. All databases without a known identity share one file.
    init(folder: String, root: Digest32, of server: ServerIdentity?) {
        let place = server.map {
            "-\(SHA256.digest(Array("\($0.system) \($0.database)".utf8)).hex.prefix(16))"
        }
        self.init(
            folder: folder, root: root, name: SeenLogFile.name(of: root) + (place ?? "") + ".json")
    }

    private init(folder: String, root: Digest32, name: String) {
        self.folder = folder
        self.root = root
        path = "\(folder)/\(name)"
    }

    private static let nameLength = 32

    private static func name(of root: Digest32) -> String { String(root.hex.prefix(nameLength)) }

    /// The newest file about the same log in a different database.
    var latestElsewhere: SeenLogFile? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let files = names.filter {
            $0.hasPrefix(SeenLogFile.name(of: root)) && $0.hasSuffix(".json")
        }
        .map { SeenLogFile(folder: folder, root: root, name: $0) }
        return files.max { $0.changedAt < $1.changedAt }
    }

    private var changedAt: Date { SeenLogFile.changedAt(path) ?? .distantPast }

    private static func changedAt(_ path: String) -> Date? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.modificationDate] as? Date
    }

    /// Marks the log as in use, for other services that share the folder. Touches the lock file, because the age of the
    /// other files has a different meaning.
    func touch() { utimes("\(path).lock", nil) }

    /// Removes the files of each other log if all of them are older than the instant. A process that uses such a log
    /// has read its files and will write them again.
    static func removeOld(in folder: String, except root: Digest32, before instant: Instant) -> Int
    {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let logs = Dictionary(grouping: names.filter(isOfLog)) { $0.prefix(nameLength) }
        let end = Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
        var count = 0
        for (log, names) in logs where log != name(of: root) {
            let paths = names.map { "\(folder)/\($0)" }
            // Keeps files of unknown age, as if they were new.
            if !paths.allSatisfy({ changedAt($0).map { $0 < end } ?? false }) { continue }
            for path in paths { unlink(path) }
            count += 1
        }
        return count
    }

    private static func isOfLog(_ name: String) -> Bool {
        let digits = name.prefix { $0.isHexDigit }
        return digits.count == nameLength && name.contains(".json")
    }

    /// Returns the file's content, merged with what has been seen since, or `nil` if the file does not exist.
    func read() throws(LogMemory.NotRecalled) -> SeenLog? {
        guard var seen = try read(path) else { return nil }
        if let recent = try? read(recent) { seen.merge(recent) }
        return seen
    }

    private func read(_ path: String) throws(LogMemory.NotRecalled) -> SeenLog? {
        guard let file = fopen(path, "r") else {
            let code = errno
            if code == ENOENT { return nil }
            throw LogMemory.NotRecalled(
                "\(path): \(String(cString: strerror(code)))", isForbidden: code == EACCES)
        }
        fclose(file)
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let json = try? JSON.read(text), let seen = SeenLog(json), seen.root == root
        else {
            throw LogMemory.NotRecalled(
                "\(path) is damaged",
                changedAt: Instant(
                    milliseconds: Int64(changedAt.timeIntervalSince1970 * 1000)))
        }
        return seen
    }

    /// Merges what this process has seen with what others have stored. If the process is killed during the merge, the
    /// files stay unchanged. After a power failure, all synced data remains. Overwrites other processes' records only
    /// if they are unreadable and an operator has given them up.
    func merge(_ seen: SeenLog, with care: LogMemory.Care) throws(NotWritten) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw NotWritten(folder)
        }
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if lock < 0 { throw NotWritten("\(path).lock") }
        defer { close(lock) }
        if flock(lock, LOCK_EX) != 0 { throw NotWritten("\(path).lock") }
        var merged = seen
        do throws(LogMemory.NotRecalled) {
            if let other = try read() { merged.merge(other) }
        } catch {
            if care != .overwriting { throw NotWritten(error) }
        }
        try write(merged, to: care == .quick ? recent : path, isSynced: care != .quick)
        // The main file now contains everything. The recent file would otherwise outlive a main
        // file that someone removes.
        if care != .quick { unlink(recent) }
    }

    private func write(
        _ seen: SeenLog, to path: String, isSynced: Bool
    ) throws(NotWritten) {
        let new = "\(path).new"
        guard let file = fopen(new, "w") else { throw NotWritten(new) }
        let text = seen.json.text + "\n"
        let isWritten =
            fputs(text, file) >= 0 && fflush(file) == 0
            && (!isSynced || fdatasync(fileno(file)) == 0)
        if fclose(file) != 0 || !isWritten { throw NotWritten(new) }
        if rename(new, path) != 0 { throw NotWritten(path) }
    }
}

extension SeenLog {
    fileprivate var json: JSON {
        [
            "root": .optional(root?.hex),
            "server": server.map {
                [
                    "system": .string($0.system), "database": .string($0.database),
                    "timeline": .integer($0.timeline),
                ]
            } ?? .null,
            "acceptances": .array(acceptances.map(\.text).sorted().map(JSON.string)),
            "ends": .array(
                marks.values.sorted { $0.shard < $1.shard }.map { mark in
                    [
                        "shard": .integer(Int(mark.shard.number)), "head": .integer(mark.head),
                        "chain": .string(mark.chain.hex),
                    ]
                }),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let root = json["root"]?.string.flatMap({ Digest32(hex: $0) }),
            let ends = json["ends"]?.array
        else { return nil }
        self.init()
        self.root = root
        if let system = json["server"]?["system"]?.string,
            let database = json["server"]?["database"]?.string,
            let timeline = json["server"]?["timeline"]?.integer
        {
            server = ServerIdentity(system: system, database: database, timeline: timeline)
        }
        for text in json["acceptances"]?.array?.compactMap(\.string) ?? [] {
            if let acceptance = try? AcceptanceID(text) { acceptances.insert(acceptance) }
        }
        for end in ends {
            guard let number = end["shard"]?.integer, (0..<64).contains(number),
                let head = end["head"]?.integer, head > 0,
                let chain = end["chain"]?.string.flatMap({ Digest32(hex: $0) })
            else { return nil }
            note([ShardMark(shard: Shard(number: Int16(number)), head: head, chain: chain.bytes)])
        }
    }
}
