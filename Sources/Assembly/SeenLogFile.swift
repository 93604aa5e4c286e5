import Core
import Crypto
import Foundation
import Glibc
import JSON
package import Ledger

extension LogMemory {
    /// A file for each log in a folder of the data folder, which services share. Commands look there, and
    /// write nothing: the files belong to the user who serves.
    package static func files(in dataFolder: String, areKept: Bool) -> LogMemory {
        let folder = "\(dataFolder)/seen"
        return LogMemory(
            recall: { SeenLogFile(folder: folder, root: $0).read() },
            keep: { seen in
                guard areKept, let root = seen.root else { return nil }
                do throws(SeenLogFile.NotWritten) {
                    try SeenLogFile(folder: folder, root: root).merge(seen)
                    return nil
                } catch {
                    return error.reason
                }
            })
    }
}

/// What was seen of one log, as a file.
private struct SeenLogFile {
    struct NotWritten: Error {
        let reason: String

        init(_ path: String) {
            reason = "\(path): \(String(cString: strerror(errno)))"
        }
    }
    private let folder: String
    private let root: Digest32
    private var path: String { "\(folder)/\(root.hex.prefix(32)).json" }

    init(folder: String, root: Digest32) {
        self.folder = folder
        self.root = root
    }

    /// What is in it; nothing where it cannot be read.
    func read() -> SeenLog? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let json = try? JSON.read(text), let seen = SeenLog(json), seen.root == root
        else { return nil }
        return seen
    }

    /// Adds what this process has seen to what others have. A process that is killed meanwhile leaves the
    /// file as it was.
    func merge(_ seen: SeenLog) throws(NotWritten) {
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
        if let other = read() { merged.merge(other) }
        let new = "\(path).new"
        guard let file = fopen(new, "w") else { throw NotWritten(new) }
        let text = merged.json.text + "\n"
        let isWritten = fputs(text, file) >= 0
        if fclose(file) != 0 || !isWritten { throw NotWritten(new) }
        if rename(new, path) != 0 { throw NotWritten(path) }
    }
}

extension SeenLog {
    fileprivate var json: JSON {
        [
            "root": .optional(root?.hex),
            "server": server.map {
                ["system": .string($0.system), "timeline": .integer($0.timeline)]
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
            let timeline = json["server"]?["timeline"]?.integer
        {
            server = ServerIdentity(system: system, timeline: timeline)
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
