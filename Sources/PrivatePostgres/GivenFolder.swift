import Foundation
import Glibc
package import Machine

extension DataFolder {
    /// Gives the folder to the service user and returns that user: the specified user if there is one, otherwise the
    /// owner of the folder or its database, otherwise the usual user. `nil` unless this process runs as root.
    package static func give(
        _ path: String, wanting name: String?
    ) throws(PrivatePostgresError) -> ServiceUser? {
        if getuid() != 0 {
            if let name, ServiceUser(id: getuid())?.name != name { throw .notRoot(name) }
            return nil
        }
        let folder = URL(fileURLWithPath: path).standardizedFileURL.path
        let user = try worker(for: folder, wanting: name)
        if owner(of: folder) == nil { try make(folder) }
        if owner(of: folder) == 0 { try give(folder, to: user) }
        guard owner(of: folder) == user.id else {
            throw .folderUnusable(folder, reason: "it is neither root's nor \(user.name)'s")
        }
        if !mayEnter(folder, user) {
            throw .folderClosed(closedFolder(on: folder, user), above: folder, user: user.name)
        }
        return user
    }

    /// Returns the service user for the folder, or `nil` unless this process runs as root.
    package static func user(of path: String) -> ServiceUser? {
        if getuid() != 0 { return nil }
        let folder = URL(fileURLWithPath: path).standardizedFileURL.path
        let owners = ["\(folder)/postgres/PG_VERSION", folder].compactMap { owner(of: $0) }
        return owners.first { $0 != 0 }.flatMap(ServiceUser.init(id:)) ?? ServiceUser.usualOne
    }

    private static func worker(
        for folder: String, wanting name: String?
    ) throws(PrivatePostgresError) -> ServiceUser {
        let cluster = owner(of: "\(folder)/postgres/PG_VERSION").flatMap(ServiceUser.init(id:))
        if let name {
            guard let user = ServiceUser(named: name), user.id != 0 else { throw .noUser(name) }
            if let cluster, cluster.id != user.id {
                throw .otherOwner(folder, owner: cluster.name, wanted: name)
            }
            return user
        }
        if let cluster, cluster.id != 0 { return cluster }
        let users = ServiceUser.usual.compactMap(ServiceUser.init(named:))
        let found = users.first { $0.id == owner(of: folder) } ?? ServiceUser.usualOne
        guard let found else { throw .noUnprivilegedUser(names: ServiceUser.usual) }
        return found
    }

    /// Makes the user the owner of a folder that belongs to root, and of all of root's files in it. The folder must
    /// contain only Deed's own files, because its owner can replace the content.
    private static func give(
        _ folder: String, to user: ServiceUser
    ) throws(PrivatePostgresError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if let other = names.first(where: { !isOwn($0) }) {
            throw .holdsOther(folder, name: other, user: user.name)
        }
        // The folder itself comes last, so that until then only root can change it.
        for name in names { give(tree: "\(folder)/\(name)", to: user) }
        if lchown(folder, user.id, user.group) != 0 {
            throw .folderUnusable(folder, reason: systemReason)
        }
    }

    private static func give(tree path: String, to user: ServiceUser) {
        var found = stat()
        guard lstat(path, &found) == 0, found.st_uid == 0 else { return }
        if found.st_mode & S_IFMT == S_IFDIR {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                give(tree: "\(path)/\(name)", to: user)
            }
        }
        // A file with a second hard link may also belong to something else.
        if found.st_mode & S_IFMT != S_IFREG || found.st_nlink == 1 {
            lchown(path, user.id, user.group)
        }
    }

    private static func isOwn(_ name: String) -> Bool {
        let whole: Set = [
            "postgres", "socket", "keys", "seen", "serve.log", "service.lock", "lost+found",
            "environment",
        ]
        return whole.contains(name)
            || ["postgres.", "secret.key", "audit.mark"].contains { name.hasPrefix($0) }
    }

    private static func owner(of path: String) -> uid_t? {
        var found = stat()
        return stat(path, &found) == 0 ? found.st_uid : nil
    }

    private static func mayEnter(_ folder: String, _ user: ServiceUser) -> Bool {
        runProgram(command(["/usr/bin/test", "-x", folder], as: user)).status == 0
    }

    /// Returns the topmost folder on the path that the user may not enter.
    private static func closedFolder(on path: String, _ user: ServiceUser) -> String {
        var way = URL(fileURLWithPath: "/")
        for name in path.split(separator: "/") {
            way.appendPathComponent(String(name))
            if !mayEnter(way.path, user) { return way.path }
        }
        return path
    }
}
