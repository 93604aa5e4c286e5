import Foundation
import Glibc

/// PostgreSQL's dump and restore programs. They must be at least as new as the server.
package struct ClientPrograms: Sendable {
    package let folder: String
    package let version: Int

    /// Returns the oldest programs that are new enough for a server of the given major version.
    /// Older programs are preferred, because their dumps suit the most servers.
    package static func find(
        forServer version: Int, in folders: [String] = Programs.usualFolders
    ) throws(PrivatePostgresError) -> ClientPrograms {
        var seen = Set<String>()
        let all = folders.filter { seen.insert($0).inserted }.compactMap(ClientPrograms.init(in:))
            .sorted { $0.version < $1.version }
        if let found = all.first(where: { $0.version >= version }) { return found }
        throw .noClient(needed: version, found: all.last?.version)
    }

    private init?(in folder: String) {
        for program in ["pg_dump", "pg_restore", "psql"]
        where access("\(folder)/\(program)", X_OK) != 0 { return nil }
        guard let major = majorVersion(of: "\(folder)/pg_dump") else { return nil }
        self.folder = folder
        version = major
    }

    /// Runs one of the programs to completion. Passwords are passed in `PGPASSWORD`, because every user can see
    /// arguments.
    package func run(_ program: String, _ arguments: [String]) -> (status: Int32, output: String) {
        runProgram(["\(folder)/\(program)"] + arguments)
    }
}
