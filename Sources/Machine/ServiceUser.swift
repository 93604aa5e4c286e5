import CProcess
package import Glibc

/// The unprivileged user for services that root starts. An attacker who exploits such a service
/// does not gain root privileges.
package struct ServiceUser: Sendable, Equatable {
    /// The users to try, in this order, if no user is named.
    package static let usual = ["deed", "postgres"]

    package let name: String
    package let id: uid_t
    package let group: gid_t
    private let home: String

    package init?(named name: String) {
        guard let entry = getpwnam(name) else { return nil }
        self.init(entry.pointee)
    }

    package init?(id: uid_t) {
        guard let entry = getpwuid(id) else { return nil }
        self.init(entry.pointee)
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        id = entry.pw_uid
        group = entry.pw_gid
        home = String(cString: entry.pw_dir)
    }

    /// The first of the usual users that exists on this machine.
    package static var usualOne: ServiceUser? {
        usual.lazy.compactMap(ServiceUser.init(named:)).first { $0.id != 0 }
    }

    /// Permanently switches all threads of this process to this user. A result of `false` means
    /// that the system has refused the switch, and the process must exit.
    package func become() -> Bool {
        guard initgroups(name, group) == 0, setgid(group) == 0, setuid(id) == 0 else {
            return false
        }
        // If the process can still become root, the switch has not worked.
        guard setuid(0) != 0, getuid() == id, geteuid() == id, getegid() == group else {
            return false
        }
        setenv("HOME", home, 1)
        setenv("USER", name, 1)
        setenv("LOGNAME", name, 1)
        keepMemoryToOneself()
        return process_gain_nothing() == 0
    }
}
