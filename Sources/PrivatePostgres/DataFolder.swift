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

    /// Makes the folder when it is not there.
    init(_ path: String) throws(PrivatePostgresError) {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        if absolute.utf8.count > DataFolder.lengthLimit {
            throw .folderTooLong(absolute, limit: DataFolder.lengthLimit)
        }
        // PostgreSQL takes its settings through a shell and its sockets as a list.
        if absolute.contains(where: { "',\\\"\n$`".contains($0) }) {
            throw .folderUnusable(
                absolute, reason: "its path holds a quote, comma, backslash, dollar or backtick")
        }
        self.path = absolute
        owner = getuid() == 0 ? "postgres" : nil
        try DataFolder.open(absolute)
        try DataFolder.make(sockets, mayBeLink: false)
        if let owner { try giveSockets(to: owner) }
    }

    /// Makes the data folder when it is not there, and refuses one that others may put things in.
    static func open(_ folder: String) throws(PrivatePostgresError) {
        try make(folder)
        var found = stat()
        if stat(folder, &found) != 0 {
            throw .folderUnusable(folder, reason: String(cString: strerror(errno)))
        }
        if getuid() == 0, found.st_uid != 0 {
            throw .folderUnusable(folder, reason: "it is not root's, and root runs this")
        }
        // Many systems give each user a group of its own, which may write by default.
        let others: mode_t = found.st_gid == getegid() ? 0o002 : 0o022
        if found.st_mode & others != 0 {
            throw .folderUnusable(folder, reason: "others may write there")
        }
    }

    /// Makes the folder, closed to others, when it is not there; its parents as is usual.
    static func make(
        _ folder: String, mayBeLink: Bool = true
    ) throws(PrivatePostgresError) {
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
        var found = stat()
        // Everything in a data folder is in it: a link there comes from someone else.
        if lstat(folder, &found) == 0, found.st_mode & S_IFMT == S_IFLNK, !mayBeLink {
            throw .folderUnusable(folder, reason: "it is a symbolic link")
        }
        if access(folder, W_OK | X_OK) != 0 {
            throw .folderUnusable(folder, reason: "this user may not write there")
        }
    }

    /// Lets the unprivileged user in, but not look around.
    private func giveSockets(to owner: String) throws(PrivatePostgresError) {
        guard let user = getpwnam(owner) else { throw .noUnprivilegedUser(name: owner) }
        if holdsNothingElse {
            var found = stat()
            if stat(path, &found) == 0 { chmod(path, found.st_mode & 0o7777 | 0o001) }
        }
        lchown(sockets, user.pointee.pw_uid, user.pointee.pw_gid)
        if run(asOwner(["/usr/bin/test", "-x", sockets])).status != 0 {
            throw .folderClosed(closedFolder, above: path, user: owner)
        }
    }

    /// The uppermost folder on the way that the owner may not enter.
    private var closedFolder: String {
        var way = URL(fileURLWithPath: "/")
        for name in path.split(separator: "/") {
            way.appendPathComponent(String(name))
            if run(asOwner(["/usr/bin/test", "-x", way.path])).status != 0 { return way.path }
        }
        return path
    }

    /// Whether the folder is Deed's alone, so that opening it a little exposes no other files.
    private var holdsNothingElse: Bool {
        let own: Set = ["postgres", "socket", "keys", "seen", "serve.log"]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.allSatisfy { name in
            own.contains(name) || name.hasPrefix("postgres.") || name == "service.lock"
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

    /// Makes an empty folder for a cluster that belongs to its owner. An initdb whose starter was
    /// killed may still be filling the folder of an earlier attempt: that one is never used again.
    func makeUnfinishedCluster() throws(PrivatePostgresError) -> String {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where name.hasPrefix(DataFolder.unfinishedPrefix) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        var template = nameTemplate("\(path)/\(DataFolder.unfinishedPrefix)")
        guard mkdtemp(&template) != nil else {
            throw .folderUnusable(path, reason: String(cString: strerror(errno)))
        }
        let made = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if let owner, let user = getpwnam(owner) {
            lchown(made, user.pointee.pw_uid, user.pointee.pw_gid)
        }
        return made
    }

    private func percentEncoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
