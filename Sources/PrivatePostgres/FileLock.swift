import Glibc
import Threading

/// An advisory lock on a file. The system lets go of it when its process ends, however it ends.
package struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// Opens the file without locking it; `nil` when it cannot be opened.
    package init?(_ path: String) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Takes it if no other process holds it, and says whether it did.
    package borrowing func tryExclusive() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    package borrowing func tryShared() -> Bool {
        flock(descriptor, LOCK_SH | LOCK_NB) == 0
    }

    package borrowing func release() {
        flock(descriptor, LOCK_UN)
    }

    /// Waits for the lock; false when the time is up first.
    package borrowing func waitExclusive(milliseconds: Int64) -> Bool {
        let deadline = monotonicMilliseconds() + milliseconds
        while !tryExclusive() {
            if monotonicMilliseconds() > deadline { return false }
            pause(milliseconds: 20)
        }
        return true
    }

    /// What the file says, for those who find it locked.
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
