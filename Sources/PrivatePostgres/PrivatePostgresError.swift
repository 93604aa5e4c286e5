/// Why the private PostgreSQL is unavailable, and what to do about it.
package enum PrivatePostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    case notInstalled
    case noClient(needed: Int, found: Int?)
    case otherVersion(needed: String, found: [String], folder: String)
    case noUnprivilegedUser(names: [String])
    case noUser(String)
    case notRoot(String)
    case otherOwner(String, owner: String, wanted: String)
    case holdsOther(String, name: String, user: String)
    case folderUnusable(String, reason: String)
    case folderTooLong(String, limit: Int)
    case folderClosed(String, above: String, user: String)
    case programFailed(program: String, output: String)
    case databaseGone(String)
    case silent(String)
    case lockBusy(String)
    case inUse(String, by: String)

    package var description: String {
        switch self {
        case .notInstalled:
            "The PostgreSQL server is not installed; install the package postgresql, or set "
                + "DEED_DATABASE_URL to a database elsewhere."
        case .noClient(let needed, let found):
            "pg_dump, pg_restore and psql of PostgreSQL \(needed) or newer are needed, but "
                + (found.map { "those of \($0) are installed" } ?? "none are installed")
                + "; install the package postgresql-client-\(needed)."
        case .otherVersion(let needed, let found, let folder):
            "The database in \(folder) was created by PostgreSQL \(needed), but this machine has "
                + "\(found.joined(separator: ", ")); install the package postgresql-\(needed)."
        case .noUnprivilegedUser(let names):
            "A service may not keep running as root, and there is no user \(names.joined(separator: " or ")) to run it; "
                + "create one (useradd --system deed), or name another user with --user."
        case .noUser(let name):
            "--user names \"\(name)\", but no ordinary user on this machine has that name; "
                + "create the user, or name another user."
        case .notRoot(let name):
            "Only root can switch to another user, but --user names \(name); leave --user out, or start deed as root."
        case .otherOwner(let folder, let owner, let wanted):
            "The database in \(folder) belongs to \(owner), but --user names \(wanted); name \(owner). Or stop what "
                + "uses the folder, and change its owner: chown -R \(wanted) \(folder)"
        case .holdsOther(let folder, let name, let user):
            "Deed would give the data folder \(folder) to the user \(user), but it contains \"\(name)\", which is not Deed's; "
                + "move that elsewhere, or choose another folder with DEED_DATA_DIR."
        case .folderUnusable(let folder, let reason):
            "The data folder \(folder) cannot be used (\(reason)); choose another with "
                + "DEED_DATA_DIR."
        case .folderTooLong(let folder, let limit):
            "The path of the data folder \(folder) is longer than the \(limit) bytes that a "
                + "socket in it allows; choose a shorter one with DEED_DATA_DIR."
        case .folderClosed(let closed, let folder, let user):
            "Deed works as the user \(user), who may not enter \(closed), but the data folder is "
                + "\(folder); allow it (chmod o+x \(closed)), or choose another data folder with "
                + "DEED_DATA_DIR."
        case .programFailed(let program, let output):
            "\(program) failed: \(output)"
        case .databaseGone(let folder):
            "The database in \(folder) disappeared while it was in use; bring it back (is its disk "
                + "mounted?), and the service continues."
        case .silent(let folder):
            "PostgreSQL is running in \(folder) but does not answer; check \(folder)/deed.log, the disk, "
                + "and whether the process was stopped."
        case .lockBusy(let path):
            "Another process has been starting or stopping the private PostgreSQL for a minute "
                + "(it holds \(path)); try again when it is done."
        case .inUse(let folder, let holder):
            "The data folder \(folder) is in use by \(holder); stop that process, or choose another "
                + "folder with DEED_DATA_DIR."
        }
    }
}
