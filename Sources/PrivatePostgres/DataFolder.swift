import Foundation
import Glibc
import Machine

/// The data folder for a private PostgreSQL.
package struct DataFolder {
    /// The path of a socket can have at most 107 bytes, of which `/socket/.s.PGSQL.5432` takes 21.
    private static let lengthLimit = 86

    let path: String
    /// The user who runs PostgreSQL and owns the folder; `nil` for the user who started this process.
    let owner: ServiceUser?

    var cluster: String { "\(path)/postgres" }
    /// Each attempt creates its cluster in a new folder whose name starts with this prefix. The folder is renamed once
    /// the cluster is complete.
    private static let unfinishedPrefix = "postgres.new."
    var sockets: String { "\(path)/socket" }
    var startLock: String { "\(path)/postgres.lock" }
    var usersLock: String { "\(path)/postgres.users" }
    var log: String { "\(cluster)/deed.log" }

    var url: String { "postgresql:///postgres?host=\(percentEncoded(sockets))&user=deed" }

    /// The folder of the cluster, and the major version that created it.
    var existingCluster: (version: String, folder: String)? {
        guard let text = try? String(contentsOfFile: "\(cluster)/PG_VERSION", encoding: .utf8)
        else { return nil }
        return (text.trimmingCharacters(in: .whitespacesAndNewlines), path)
    }

    /// Creates a missing folder. If this process runs as root, the service user will own it.
    init(_ path: String) throws(PrivatePostgresError) {
        let absolute = try DataFolder.absolute(path)
        // PostgreSQL passes its settings through a shell and interprets its socket folders as a list.
        if absolute.contains(where: { "',\\\"\n$`".contains($0) }) {
            throw .folderUnusable(
                absolute, reason: "its path contains a quote, comma, backslash, dollar or backtick")
        }
        self.path = absolute
        owner = try DataFolder.give(absolute, wanting: nil)
        try DataFolder.open(absolute)
        try makeSockets()
    }

    private static func absolute(_ path: String) throws(PrivatePostgresError) -> String {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        if absolute.utf8.count > DataFolder.lengthLimit {
            throw .folderTooLong(absolute, limit: DataFolder.lengthLimit)
        }
        return absolute
    }

    /// Creates a missing data folder. Refuses a folder to which others can write.
    static func open(_ folder: String) throws(PrivatePostgresError) {
        try make(folder)
        var found = stat()
        if stat(folder, &found) != 0 {
            throw .folderUnusable(folder, reason: systemReason)
        }
        // On many systems, each user has a private group that has write access by default.
        let group = ServiceUser(id: found.st_uid)?.group
        let isOwnGroup = found.st_gid == getegid() || found.st_gid == group
        if found.st_mode & (isOwnGroup ? 0o002 : 0o022) != 0 {
            throw .folderUnusable(folder, reason: "other users may write there")
        }
    }

    /// Creates a missing folder that other users cannot enter. New parent folders get the usual permissions.
    static func make(_ folder: String) throws(PrivatePostgresError) {
        let parent = URL(fileURLWithPath: folder).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw .folderUnusable(folder, reason: error.localizedDescription)
        }
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw .folderUnusable(folder, reason: systemReason)
        }
        if access(folder, W_OK | X_OK) != 0 {
            throw .folderUnusable(folder, reason: "this user may not write there")
        }
    }

    /// Works as the owner, because links in another user's folder could redirect root's work to a different place.
    private func makeSockets() throws(PrivatePostgresError) {
        var found = stat()
        if lstat(sockets, &found) != 0 {
            let made = runProgram(asOwner(["/bin/mkdir", "-m", "700", sockets]))
            if made.status != 0 { throw .folderUnusable(path, reason: made.output) }
        } else if found.st_mode & S_IFMT == S_IFLNK {
            // A data folder should contain no links, so another user must have placed this one.
            throw .folderUnusable(sockets, reason: "it is a symbolic link")
        }
    }

    /// Returns the command in a form that runs it as the cluster's owner.
    func asOwner(_ command: [String]) -> [String] {
        owner.map { DataFolder.command(command, as: $0) } ?? command
    }

    static func command(_ command: [String], as user: ServiceUser) -> [String] {
        [
            "setpriv", "--reuid=\(user.id)", "--regid=\(user.group)",
            "--init-groups",
        ] + command
    }

    /// Creates an empty folder for a cluster. It belongs to the cluster's owner. The folder of an earlier attempt is
    /// never reused: its initdb may still be filling it even if the process that started initdb was killed.
    func makeUnfinishedCluster() throws(PrivatePostgresError) -> String {
        let unfinished = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in unfinished where name.hasPrefix(DataFolder.unfinishedPrefix) {
            _ = runProgram(asOwner(["/bin/rm", "-rf", "\(path)/\(name)"]))
        }
        let template = "\(path)/\(DataFolder.unfinishedPrefix)XXXXXX"
        let made = runProgram(asOwner(["/bin/mktemp", "-d", template]))
        if made.status != 0 { throw .folderUnusable(path, reason: made.output) }
        return made.output
    }

    /// Sets who may open a session and as which role: local users, each under their own name, and no one over a
    /// network. Returns `true` if this changed anything.
    func admitOwner() throws(PrivatePostgresError) -> Bool {
        let name = owner?.name ?? ServiceUser(id: getuid())?.name ?? "postgres"
        let names = Set(["root", name]).sorted()
        let rules = "local all all peer map=deed"
        let map = names.map { "deed \"\($0)\" deed" }.joined(separator: "\n")
        let isSaid = [("pg_hba.conf", rules), ("pg_ident.conf", map)].allSatisfy { file, text in
            (try? String(contentsOfFile: "\(cluster)/\(file)", encoding: .utf8)) == text + "\n"
        }
        if isSaid { return false }
        let script = """
            umask 077; cd "$1" && printf '%s\\n' "$2" >pg_ident.conf.new && mv pg_ident.conf.new pg_ident.conf &&
            printf '%s\\n' "$3" >pg_hba.conf.new && mv pg_hba.conf.new pg_hba.conf
            """
        let written = runProgram(asOwner(["/bin/sh", "-c", script, "sh", cluster, map, rules]))
        if written.status != 0 { throw .folderUnusable(path, reason: written.output) }
        return true
    }

    private func percentEncoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
