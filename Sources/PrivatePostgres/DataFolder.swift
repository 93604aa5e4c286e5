import Foundation
import Glibc

/// Where a private PostgreSQL lives.
struct DataFolder {
    /// A socket's path may have 107 bytes; `/socket/.s.PGSQL.5432` takes 21 of them.
    private static let lengthLimit = 86

    let path: String
    /// As whom PostgreSQL runs: `nil` when it is the user who started this process.
    let owner: String?

    var cluster: String { "\(path)/postgres" }
    /// Where a cluster is made, before it gets its name.
    var unfinishedCluster: String { "\(path)/postgres.new" }
    var sockets: String { "\(path)/socket" }
    var startLock: String { "\(path)/postgres.lock" }
    var usersLock: String { "\(path)/postgres.users" }
    var log: String { "\(cluster)/deed.log" }

    var url: String { "postgresql:///postgres?host=\(percentEncoded(sockets))&user=deed" }

    /// The major version that made the cluster; `nil` when there is none.
    var clusterVersion: String? {
        guard let text = try? String(contentsOfFile: "\(cluster)/PG_VERSION", encoding: .utf8)
        else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Makes the folder when it is not there.
    init(_ path: String) throws(PrivatePostgresError) {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        if absolute.utf8.count > DataFolder.lengthLimit {
            throw .folderTooLong(absolute, limit: DataFolder.lengthLimit)
        }
        // PostgreSQL takes its settings through a shell and its sockets as a list.
        if absolute.contains(where: { "',\\\"\n".contains($0) }) {
            throw .folderUnusable(absolute, reason: "its path holds a quote, comma or backslash")
        }
        self.path = absolute
        owner = getuid() == 0 ? "postgres" : nil
        try DataFolder.make(absolute)
        try DataFolder.make(sockets)
        if let owner { try giveSockets(to: owner) }
    }

    /// Makes the folder, closed to others, when it is not there; its parents as is usual.
    static func make(_ folder: String) throws(PrivatePostgresError) {
        let parent = URL(fileURLWithPath: folder).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw .folderUnusable(folder, reason: error.localizedDescription)
        }
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw .folderUnusable(folder, reason: String(cString: strerror(errno)))
        }
        if access(folder, W_OK | X_OK) != 0 {
            throw .folderUnusable(folder, reason: "this user may not write there")
        }
    }

    /// Lets the unprivileged user in, but not look around.
    private func giveSockets(to owner: String) throws(PrivatePostgresError) {
        guard let user = getpwnam(owner) else { throw .noUnprivilegedUser(name: owner) }
        chmod(path, 0o711)
        chown(sockets, user.pointee.pw_uid, user.pointee.pw_gid)
        if run(asOwner(["/usr/bin/test", "-x", sockets])).status != 0 {
            throw .folderClosed(path, user: owner)
        }
    }

    /// The command, run as the owner of the cluster.
    func asOwner(_ command: [String]) -> [String] {
        guard let owner else { return command }
        // That user may not be allowed where this process is, hence the change of folder.
        return [
            "/usr/bin/env", "-C", "/", "setpriv", "--reuid=\(owner)", "--regid=\(owner)",
            "--init-groups",
        ]
            + command
    }

    /// Makes an empty folder for a cluster that belongs to its owner.
    func makeClusterFolder() throws(PrivatePostgresError) {
        try? FileManager.default.removeItem(atPath: unfinishedCluster)
        try DataFolder.make(unfinishedCluster)
        if let owner, let user = getpwnam(owner) {
            chown(unfinishedCluster, user.pointee.pw_uid, user.pointee.pw_gid)
        }
    }

    private func percentEncoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
