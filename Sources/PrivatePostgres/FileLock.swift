import Glibc
import Threading

/// An advisory lock on a file. The system releases it when the process ends, for whatever reason.
package struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// Opens the file without locking it; `nil` if that fails. A file that root creates is given to the folder's owner,
    /// who must also be able to open it. Links are not followed, because the owner could have created them.
    package init?(_ path: String) {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW
        let made = open(path, flags | O_CREAT | O_EXCL, 0o600)
        if made >= 0 { giveToOwner(of: path, made) }
        descriptor = made >= 0 ? made : open(path, flags)
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Takes the lock if no other process holds it. Returns whether it was taken.
    package borrowing func tryExclusive() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    package borrowing func tryShared() -> Bool {
        flock(descriptor, LOCK_SH | LOCK_NB) == 0
    }

    package borrowing func release() {
        flock(descriptor, LOCK_UN)
    }

    /// Waits for the lock. Returns false if the time runs out first.
    package borrowing func waitExclusive(milliseconds: Int64) -> Bool {
        let deadline = monotonicMilliseconds() + milliseconds
        while !tryExclusive() {
            if monotonicMilliseconds() > deadline { return false }
            pause(milliseconds: 20)
        }
        return true
    }

    /// Returns the text that the lock's holder has written to the file.
    package borrowing func note() -> String {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    package borrowing func write(note: String) {
        ftruncate(descriptor, 0)
        let bytes = Array(note.utf8)
        _ = pwrite(descriptor, bytes, bytes.count, 0)
    }
}

/// Makes the folder's owner the owner of a file that root has just created.
package func giveToOwner(of path: String, _ descriptor: Int32) {
    if getuid() != 0 { return }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var found = stat()
    if stat(folder, &found) == 0, found.st_uid != 0 {
        fchown(descriptor, found.st_uid, found.st_gid)
    }
}
