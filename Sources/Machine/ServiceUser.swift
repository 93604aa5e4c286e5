import CProcess
package import Glibc

/// The ordinary user who works for root, so that a fault in a service gives an attacker no rights of root.
package struct ServiceUser: Sendable, Equatable {
    /// The users who serve unless another one is named: the first that exists.
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

    /// The first of the usual ones that this machine has.
    package static var usualOne: ServiceUser? {
        usual.lazy.compactMap(ServiceUser.init(named:)).first { $0.id != 0 }
    }

    /// Every thread of this process is that user's from now on, and has no way back; `false` where the system
    /// does not allow it. Then the process must end.
    package func become() -> Bool {
        guard initgroups(name, group) == 0, setgid(group) == 0, setuid(id) == 0 else {
            return false
        }
        // A system that let it back would not have let go of it.
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
