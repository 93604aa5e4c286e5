import Glibc

/// Ensures that only one process runs a store from a folder, because two processes would give different purchases the
/// same name. The system releases the lock when the process ends, for whatever reason.
package struct FolderLock: ~Copyable {
    private let descriptor: Int32

    package init(_ folder: DataFolder) throws(PracticeError) {
        descriptor = open("\(folder.path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 {
            throw .broken(
                "\(folder.path)/lock cannot be opened; check the permissions of its folder")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            throw .refused(
                "another deed-practice serves \(folder.path); stop it, or use another folder")
        }
    }

    deinit { close(descriptor) }
}
