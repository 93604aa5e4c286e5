import Foundation
import Glibc

/// A live process that belongs to a PostgreSQL server.
struct PostgresProcess {
    private let id: pid_t

    /// Returns `nil` if the process does not exist or is a zombie.
    init?(_ id: pid_t) {
        // The format is "30687 (postgres) S 1 ...", in which the state follows the name.
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            text.contains("(postgres"),
            let state = text.split(separator: ")").last?.split(separator: " ").first, state != "Z"
        else { return nil }
        self.id = id
    }

    static var all: [PostgresProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.compactMap(PostgresProcess.init)
    }

    /// Returns whether the process may belong to the server that works in this folder.
    func mayWork(in folder: String) -> Bool {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/cwd")
        if let own { return own == URL(fileURLWithPath: folder).resolvingSymlinksInPath().path }
        // If the working folder cannot be read, the owners are compared instead.
        return owner(of: "/proc/\(id)") == owner(of: folder)
    }

    private func owner(of path: String) -> uid_t? {
        var found = stat()
        return stat(path, &found) == 0 ? found.st_uid : nil
    }
}
