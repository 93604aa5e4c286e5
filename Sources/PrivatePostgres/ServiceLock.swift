import Glibc

/// Keeps a second service out of the data folder, and tells that service which process uses the folder.
package struct ServiceLock: ~Copyable {
    private let lock: FileLock

    /// Takes the lock, which is held until this value is destroyed or the process ends.
    package init(folder path: String, listen: String) throws(PrivatePostgresError) {
        try DataFolder.open(path)
        guard let lock = FileLock("\(path)/service.lock") else {
            throw .folderUnusable(path, reason: "service.lock cannot be opened")
        }
        if !lock.tryExclusive() { throw .inUse(path, by: lock.note()) }
        lock.write(note: "the deed process \(getpid()), which serves on \(listen)")
        self.lock = lock
    }
}
