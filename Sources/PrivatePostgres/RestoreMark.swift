import Glibc
import Machine

/// A file that marks a data folder while a restore fills its database. The database must not be
/// served before the restore ends.
package struct RestoreMark: Sendable {
    private let folder: String
    private var path: String { "\(folder)/postgres.restoring" }

    package init(in folder: String) { self.folder = folder }

    package var isThere: Bool { access(path, F_OK) == 0 }

    func put() throws(PrivatePostgresError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 {
            throw .folderUnusable(folder, reason: systemReason)
        }
        giveToOwner(of: path, descriptor)
        fsync(descriptor)
        close(descriptor)
        syncFolder()
    }

    package func remove() {
        unlink(path)
        syncFolder()
    }

    private func syncFolder() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return }
        fsync(descriptor)
        close(descriptor)
    }
}
