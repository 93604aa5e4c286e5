import Foundation
import Glibc

/// The programs of an installed PostgreSQL server, wherever the distribution installs them.
package struct Programs {
    package let folder: String
    /// The major version, such as `15`.
    package let version: String

    /// Returns the newest server in these folders, or the one that matches an existing cluster.
    package static func find(
        forCluster cluster: (version: String, folder: String)?,
        in folders: [String] = usualFolders
    ) throws(PrivatePostgresError) -> Programs {
        let all = installed(in: folders)
        if all.isEmpty { throw .notInstalled }
        guard let (version, folder) = cluster else { return all[0] }
        guard let same = all.first(where: { $0.version == version }) else {
            throw .otherVersion(
                needed: version, found: all.map(\.version), folder: folder)
        }
        return same
    }

    /// The folders in which distributions install servers, and the absolute folders in `PATH`.
    package static var usualFolders: [String] {
        let patterns = [
            "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*",
            "/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin",
        ]
        let onPath = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return patterns.flatMap(matches) + onPath.filter { $0.hasPrefix("/") }.map(String.init)
    }

    /// Returns all installed servers, newest first.
    private static func installed(in folders: [String]) -> [Programs] {
        var seen = Set<String>()
        return folders.filter { seen.insert($0).inserted }.compactMap(Programs.init(in:))
            .sorted { (Int($0.version) ?? 0) > (Int($1.version) ?? 0) }
    }

    private init?(in folder: String) {
        for program in ["initdb", "pg_ctl", "postgres"]
        where access("\(folder)/\(program)", X_OK) != 0 { return nil }
        guard let major = majorVersion(of: "\(folder)/postgres") else { return nil }
        self.folder = folder
        version = String(major)
    }

    private static func matches(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { index in
            found.gl_pathv[index].map { String(cString: $0) }
        }
    }
}

/// Runs a PostgreSQL program to find its major version, from output such as "postgres (PostgreSQL) 15.18 (Debian ...)".
func majorVersion(of program: String) -> Int? {
    let answer = runProgram([program, "--version"])
    let words = answer.output.split(separator: " ")
    guard answer.status == 0, let name = words.firstIndex(of: "(PostgreSQL)"),
        let number = words[(name + 1)...].first
    else { return nil }
    // The number is, for example, "15.18", or "17beta1" before a release.
    return Int(number.prefix(while: \.isNumber))
}
