import Foundation
import Glibc
import Machine

/// Where a private PostgreSQL lives.
package struct DataFolder {
    /// A socket's path may have 107 bytes; `/socket/.s.PGSQL.5432` takes 21 of them.
    private static let lengthLimit = 86

    let path: String
    /// As whom PostgreSQL runs, and to whom the folder belongs: `nil` when it is the user who started this process.
    let owner: ServiceUser?

    var cluster: String { "\(path)/postgres" }
    /// Where clusters are made before they get their name: each attempt in a folder of its own.
    private static let unfinishedPrefix = "postgres.new."
    var sockets: String { "\(path)/socket" }
    var startLock: String { "\(path)/postgres.lock" }
    var usersLock: String { "\(path)/postgres.users" }
    var log: String { "\(cluster)/deed.log" }

    var url: String { "postgresql:///postgres?host=\(percentEncoded(sockets))&user=deed" }

    /// The cluster, by the major version that made it; `nil` when there is none.
    var existingCluster: (version: String, folder: String)? {
        guard let text = try? String(contentsOfFile: "\(cluster)/PG_VERSION", encoding: .utf8)
        else { return nil }
        return (text.trimmingCharacters(in: .whitespacesAndNewlines), path)
    }

    /// Makes the folder when it is not there. Where root asks, it belongs to the user who works for root.
    init(_ path: String) throws(PrivatePostgresError) {
        let absolute = try DataFolder.absolute(path)
        // PostgreSQL takes its settings through a shell and its sockets as a list.
        if absolute.contains(where: { "',\\\"\n$`".contains($0) }) {
            throw .folderUnusable(
                absolute, reason: "its path holds a quote, comma, backslash, dollar or backtick")
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

    /// Makes the data folder when it is not there, and refuses one that others may put things in.
    static func open(_ folder: String) throws(PrivatePostgresError) {
        try make(folder)
        var found = stat()
        if stat(folder, &found) != 0 {
            throw .folderUnusable(folder, reason: String(cString: strerror(errno)))
        }
        // Many systems give each user a group of its own, which may write by default.
        let group = ServiceUser(id: found.st_uid)?.group
        let isOwnGroup = found.st_gid == getegid() || found.st_gid == group
        if found.st_mode & (isOwnGroup ? 0o002 : 0o022) != 0 {
            throw .folderUnusable(folder, reason: "others may write there")
        }
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

    /// As the owner: what root makes in a folder of somebody else may be led elsewhere by links.
    private func makeSockets() throws(PrivatePostgresError) {
        var found = stat()
        if lstat(sockets, &found) != 0 {
            let made = run(asOwner(["/bin/mkdir", "-m", "700", sockets]))
            if made.status != 0 { throw .folderUnusable(path, reason: made.output) }
        } else if found.st_mode & S_IFMT == S_IFLNK {
            // Everything in a data folder is in it: a link there comes from someone else.
            throw .folderUnusable(sockets, reason: "it is a symbolic link")
        }
    }

    /// The command, run as the owner of the cluster.
    func asOwner(_ command: [String]) -> [String] {
        owner.map { DataFolder.command(command, as: $0) } ?? command
    }

    static func command(_ command: [String], as user: ServiceUser) -> [String] {
        // That user may not be allowed where this process is, hence the change of folder.
        [
            "/usr/bin/env", "-C", "/", "setpriv", "--reuid=\(user.id)", "--regid=\(user.group)",
            "--init-groups",
        ] + command
    }

    /// Makes an empty folder for a cluster that belongs to its owner. An initdb whose starter was
    /// killed may still be filling the folder of an earlier attempt: that one is never used again.
    func makeUnfinishedCluster() throws(PrivatePostgresError) -> String {
        let unfinished = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in unfinished where name.hasPrefix(DataFolder.unfinishedPrefix) {
            _ = run(asOwner(["/bin/rm", "-rf", "\(path)/\(name)"]))
        }
        let template = "\(path)/\(DataFolder.unfinishedPrefix)XXXXXX"
        let made = run(asOwner(["/bin/mktemp", "-d", template]))
        if made.status != 0 { throw .folderUnusable(path, reason: made.output) }
        return made.output
    }

    /// Says who may open a session, and as which role: the users who may reach the socket, each by being that user, and
    /// none over a network. `true` when that was not said before.
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
        let written = run(asOwner(["/bin/sh", "-c", script, "sh", cluster, map, rules]))
        if written.status != 0 { throw .folderUnusable(path, reason: written.output) }
        return true
    }

    private func percentEncoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
