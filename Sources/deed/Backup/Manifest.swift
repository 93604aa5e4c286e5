import Commands
import Core
import Crypto
import Foundation
import Glibc
import JSON
import Ledger
import Machine

/// A list of a backup's contents, signed with the installation's key.
struct Manifest {
    private static let format: Int64 = 1
    static let name = "manifest.json"
    /// Files that may be added to a complete backup.
    private static let later: Set<String> = [name, "tried.json"]

    struct File: Equatable {
        let name: String
        let bytes: Int64
        let digest: String
    }

    let madeAt: Instant
    let program: String
    /// PostgreSQL's major version.
    let postgres: Int64
    let migration: Int64
    let marks: [ShardMark]
    let files: [File]

    var events: Int64 { marks.reduce(0) { $0 + $1.head } }
    var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

    static func files(in folder: String) throws(CommandEnd) -> [File] {
        var files: [File] = []
        let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        for name in all.sorted() where !later.contains(name) {
            var found = stat()
            let path = "\(folder)/\(name)"
            guard lstat(path, &found) == 0 else { continue }
            if found.st_mode & S_IFMT == S_IFDIR { continue }
            if found.st_mode & S_IFMT != S_IFREG {
                throw .refused(
                    code: "backup_damaged", sentence: "\(path) is not a file from a backup.")
            }
            files.append(
                File(name: name, bytes: Int64(found.st_size), digest: try fileDigest(path)))
        }
        return files
    }

    func text(_ key: SecretKey) -> String {
        let content = content
        return (content.followed(by: ["signature": .string(signature(of: content, key))])).text
            + "\n"
    }

    private var content: JSON {
        [
            "deed_backup": .integer(Manifest.format), "made_at": .string(madeAt.text),
            "program": .string(program), "postgres": .integer(postgres),
            "migration": .integer(migration),
            "shards": .array(
                marks.map {
                    [
                        "shard": .integer(Int($0.shard.number)), "head": .integer($0.head),
                        "chain": .string($0.chain.hex),
                    ]
                }),
            "files": .array(
                files.map {
                    [
                        "name": .string($0.name), "bytes": .integer($0.bytes),
                        "sha256": .string($0.digest),
                    ]
                }),
        ]
    }

    private func signature(of content: JSON, _ key: SecretKey) -> String {
        key.derived(for: "deed backup").authenticate(Array(content.text.utf8)).hex
    }

    private static func damaged(_ folder: String, _ reason: String) -> CommandEnd {
        .refused(code: "backup_damaged", sentence: "\(folder) cannot be used: \(reason)")
    }

    /// Reads a backup's manifest, checks that one of the keys signed it, and compares every file with it. Until then,
    /// no other file of the backup may be used.
    init(of folder: String, _ keys: [SecretKey]) throws(CommandEnd) {
        try self.init(readIn: folder, keys)
        let found = try Manifest.files(in: folder)
        for file in files where !found.contains(file) {
            throw Manifest.damaged(
                folder,
                found.contains { $0.name == file.name }
                    ? "\(file.name) was changed." : "\(file.name) is missing.")
        }
        if let other = found.first(where: { !files.contains($0) }) {
            throw Manifest.damaged(folder, "\(other.name) is not part of the backup.")
        }
    }

    /// Reads only the manifest, and checks that one of the keys signed it.
    init(readIn folder: String, _ keys: [SecretKey]) throws(CommandEnd) {
        let path = "\(folder)/\(Manifest.name)"
        guard let json = try? JSON.read(readWhole(path)),
            json["deed_backup"]?.integer == Manifest.format,
            let madeAt = json["made_at"]?.string.flatMap({ Instant(text: $0) }),
            let program = json["program"]?.string, let postgres = json["postgres"]?.integer,
            let migration = json["migration"]?.integer, let shards = json["shards"]?.array,
            let listed = json["files"]?.array, let signature = json["signature"]?.string
        else { throw Manifest.damaged(folder, "\(Manifest.name) is not a backup's manifest.") }
        self.madeAt = madeAt
        self.program = program
        self.postgres = postgres
        self.migration = migration
        marks = shards.compactMap(ShardMark.init)
        files = listed.compactMap { file in
            guard let name = file["name"]?.string, let bytes = file["bytes"]?.integer,
                let digest = file["sha256"]?.string
            else { return nil }
            return File(name: name, bytes: bytes, digest: digest)
        }
        let content = self.content
        guard keys.contains(where: { self.signature(of: content, $0) == signature }) else {
            throw Manifest.damaged(
                folder,
                "its manifest is not signed with this installation's key. If another installation made the "
                    + "backup, give that installation's key with --secret-key-file; otherwise, the manifest was changed."
            )
        }
    }

    /// Returns whether a log that ends at these marks can continue the backup's log.
    func isContinued(by later: [ShardMark]) -> Bool {
        marks.allSatisfy { mark in
            guard let end = later.first(where: { $0.shard == mark.shard }) else { return false }
            return end.head > mark.head || end.head == mark.head && end.chain == mark.chain
        }
    }

    init(
        at madeAt: Instant, program: String, postgres: Int64, migration: Int64, marks: [ShardMark],
        files: [File]
    ) {
        self.madeAt = madeAt
        self.program = program
        self.postgres = postgres
        self.migration = migration
        self.marks = marks
        self.files = files
    }
}

/// Reads a text file of any size. A manifest of many tables exceeds the usual limit for files.
private func readWhole(_ path: String) throws(CommandEnd) -> [UInt8] {
    try readStart(of: path, limit: 64 << 20)
}

private func fileDigest(_ path: String) throws(CommandEnd) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
        throw .fault("\(path) cannot be read: \(systemReason)")
    }
    defer { close(descriptor) }
    var hash = SHA256()
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
        let count = read(descriptor, &piece, piece.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 {
            throw .fault("\(path) cannot be read: \(systemReason)")
        }
        if count == 0 { break }
        hash.update(count == piece.count ? piece : Array(piece[..<count]))
    }
    return hash.finish().hex
}

/// Syncs all files in a folder to disk.
func syncFiles(in folder: String) {
    let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    for name in all + ["."] {
        let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { continue }
        fsync(descriptor)
        close(descriptor)
    }
}
