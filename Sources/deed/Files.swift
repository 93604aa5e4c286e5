import Commands
import Core
import Foundation
import Glibc
import Machine
import PrivatePostgres

/// Reads a file that a person named. `-` means standard input.
func readFile(_ path: String, limit: Int = 1 << 20) throws(CommandEnd) -> String {
    let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return try readText(of: descriptor, path, limit: limit)
}

/// Reads one of Deed's own files in the data folder. Follows no link and waits for no pipe there, because the folder's
/// owner could have placed them for root.
func readOwnFile(_ path: String) throws(CommandEnd) -> String {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { close(descriptor) }
    return try readText(of: descriptor, path)
}

/// Reads a file to its end. A negative descriptor means that the file could not be opened.
func readText(
    of descriptor: Int32, _ path: String, limit: Int = 1 << 20
) throws(CommandEnd) -> String {
    if descriptor < 0 {
        throw .usage("\(path) cannot be read: \(systemReason)")
    }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while content.count <= limit {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { throw .usage("\(path) cannot be read: \(systemReason)") }
        if count == 0 { return String(decoding: content, as: UTF8.self) }
        content += chunk[..<count]
    }
    throw .usage("\(path) is larger than \(limit >> 20) MiB, the limit for such files")
}

func absolutePath(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
}

/// Syncs the file's folder, so that renamed or linked files in it are durable.
func syncFolder(of path: String) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { return }
    fsync(descriptor)
    close(descriptor)
}

func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Returns the number of free bytes on the folder's disk, or `nil` if unknown.
func freeBytes(in folder: String) -> Int64? {
    var found = statvfs()
    guard statvfs(folder, &found) == 0, found.f_blocks > 0 else { return nil }
    return Int64(clamping: UInt64(found.f_bavail) * UInt64(found.f_frsize))
}

/// Creates a folder that only this user can enter and whose name starts with this prefix.
func temporaryFolder(_ beginning: String) throws(CommandEnd) -> String {
    var template = nameTemplate(beginning)
    guard mkdtemp(&template) != nil else {
        throw .fault("\(beginning)… cannot be created: \(systemReason)")
    }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Replaces a file completely or not at all. The old file stays until the new one is on disk.
func replaceFile(_ path: String, with text: String) throws(CommandEnd) {
    func fault() -> CommandEnd {
        .fault("\(path) cannot be written: \(systemReason)")
    }
    let draft = "\(path).\(getpid()).new"
    // Never writes through a link that is already there, because the folder may belong to another
    // user.
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    if descriptor < 0 { throw fault() }
    let bytes = Array(text.utf8)
    let count = write(descriptor, bytes, bytes.count)
    // A partial write means that the disk is full.
    if count >= 0, count < bytes.count { errno = ENOSPC }
    let isWritten = count == bytes.count && fsync(descriptor) == 0
    close(descriptor)
    if !isWritten || rename(draft, path) != 0 {
        let end = fault()
        unlink(draft)
        throw end
    }
    syncFolder(of: path)
}
