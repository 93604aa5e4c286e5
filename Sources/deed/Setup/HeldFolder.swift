import Commands
import Glibc
import Machine
import PrivatePostgres

/// A folder that stays open while files in it are read and written. It stays the same folder even if its owner changes
/// the path, which matters when root works in an ordinary user's folder.
struct HeldFolder: ~Copyable {
    private let path: String
    private let descriptor: Int32

    /// Opens the folder. Creates a missing folder with its parent's owner, and closes it to other users.
    init(making path: String) throws(CommandEnd) {
        let isMade = mkdir(path, 0o700) == 0
        if !isMade, errno != EEXIST { throw HeldFolder.fault(path) }
        try self.init(path)
        if isMade { giveToOwner(of: path, descriptor) }
    }

    init(_ path: String) throws(CommandEnd) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0 { throw HeldFolder.fault(path) }
    }

    deinit { close(descriptor) }

    /// Writes a file completely or not at all. An existing file keeps its owner and mode. A new file gets the folder's
    /// owner, as does a file that replaces a link: the link's owner and mode say nothing.
    borrowing func replace(_ name: String, with text: String) throws(CommandEnd) {
        var (folder, found) = (stat(), stat())
        fstat(descriptor, &folder)
        let isThere =
            fstatat(descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0
            && found.st_mode & S_IFMT == S_IFREG
        let draft = "\(name).new"
        unlinkat(descriptor, draft, 0)
        let file = openat(
            descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if file < 0 { throw HeldFolder.fault("\(path)/\(name)") }
        let bytes = Array(text.utf8)
        let count = write(file, bytes, bytes.count)
        if count >= 0, count < bytes.count { errno = ENOSPC }
        if getuid() == 0 {
            let owner = isThere ? found : folder
            fchown(file, owner.st_uid, owner.st_gid)
        }
        if isThere { fchmod(file, found.st_mode & 0o640) }
        let isWritten = count == bytes.count && fsync(file) == 0
        close(file)
        if !isWritten || renameat(descriptor, draft, descriptor, name) != 0 {
            let end = HeldFolder.fault("\(path)/\(name)")
            unlinkat(descriptor, draft, 0)
            throw end
        }
        fsync(descriptor)
    }

    borrowing func rename(_ name: String, to other: String) throws(CommandEnd) {
        if renameat(descriptor, name, descriptor, other) != 0 {
            throw HeldFolder.fault("\(path)/\(other)")
        }
        fsync(descriptor)
    }

    /// Returns a file's text, or `nil` if the file does not exist.
    borrowing func text(of name: String) throws(CommandEnd) -> String? {
        guard let file = try opened(name) else { return nil }
        defer { close(file) }
        return try readText(of: file, "\(path)/\(name)")
    }

    /// Opens a file for reading; `nil` if it does not exist. Refuses links, because the folder's owner could have made
    /// them to have root read and copy another file. For the same reason, root's file must not have another name.
    private borrowing func opened(_ name: String) throws(CommandEnd) -> Int32? {
        let place = "\(path)/\(name)"
        // Does not wait for anyone to write if a pipe is in the file's place.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = openat(descriptor, name, flags)
        if file < 0, errno == ENOENT { return nil }
        if file < 0, errno == ELOOP {
            throw .fault(
                "\(place) cannot be used: it is a symbolic link; put the file itself in its place.")
        }
        if file < 0 { throw HeldFolder.fault(place) }
        var found = stat()
        let isUsable =
            fstat(file, &found) == 0 && found.st_mode & S_IFMT == S_IFREG
            && (found.st_nlink == 1 || getuid() != 0)
        if isUsable { return file }
        close(file)
        throw .fault("\(place) cannot be used: it is not a regular file with a single name.")
    }

    /// Returns the first line of a small file, or `nil` if the file does not exist.
    borrowing func line(of name: String) throws(CommandEnd) -> String? {
        guard let file = try opened(name) else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        if count < 0 { throw HeldFolder.fault("\(path)/\(name)") }
        let line = bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self)
    }

    private static func fault(_ path: String) -> CommandEnd {
        .fault("\(path) cannot be used: \(systemReason).")
    }
}
