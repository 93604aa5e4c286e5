import Foundation
import TestSupport
import Threading

/// A PostgreSQL server and its standby, each reachable through a socket in its own folder.
final class PostgresPair: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    enum Server: String { case primary, standby }

    private let folder: ScratchFolder
    private let programs: String

    init() throws {
        folder = try ScratchFolder()
        programs = try PostgresPair.newestPrograms()
        let owner = "if [ $(id -u) = 0 ]; then chown postgres '\(folder.path)'; fi"
        try PostgresPair.shell(owner, in: folder)
        try run(
            "initdb -D '\(data(.primary))' -U deed --auth=trust --encoding=UTF8 --locale=C")
        try start(.primary)
        try run("createdb -h '\(socket(.primary))' -U deed deed")
        try run(
            "pg_basebackup -h '\(socket(.primary))' -U deed -D '\(data(.standby))' -R -X stream"
                + " -c fast")
        try start(.standby)
    }

    deinit {
        for server in [Server.primary, .standby] {
            try? signal(server, "CONT")
            try? stop(server)
        }
    }

    /// The URL of both servers, of which a client uses the one that accepts writes.
    var url: String {
        "postgresql:///deed?host=\(socket(.primary)),\(socket(.standby))&user=deed"
    }

    /// The folders in the form that libpq reads from the environment.
    var folders: String { "\(socket(.primary)),\(socket(.standby))" }

    func url(of server: Server) -> String {
        "postgresql:///deed?host=\(socket(server))&user=deed&target_session_attrs=any"
    }

    func start(_ server: Server) throws {
        try run("mkdir -p '\(socket(server))'")
        try run(
            "pg_ctl -D '\(data(server))' -l '\(data(server)).log' -w -t 30 start -o "
                + "\"-k '\(socket(server))' -c listen_addresses='' -c fsync=off\"")
    }

    func stop(_ server: Server) throws {
        try run("pg_ctl -D '\(data(server))' -m immediate stop")
    }

    /// Sends a signal to all processes of the server.
    func signal(_ server: Server, _ name: String) throws {
        let first = "first=$(head -n 1 '\(data(server))/postmaster.pid')"
        let script = "\(first) && kill -\(name) $first $(ps -o pid= --ppid $first)"
        try PostgresPair.shell(script, in: folder)
    }

    /// Makes each commit wait for the standby.
    func makeSynchronous() throws {
        for change in [
            "alter system set synchronous_standby_names = '*'", "select pg_reload_conf()",
        ] { try administer(change) }
    }

    /// Runs a statement as the primary's superuser.
    func administer(_ statement: String) throws {
        let quoted = statement.replacingOccurrences(of: "\"", with: "\\\"")
        try run("psql -q -h '\(socket(.primary))' -U deed -d deed -c \"\(quoted)\"")
    }

    func promote() throws {
        try run("pg_ctl -D '\(data(.standby))' -w -t 30 promote")
    }

    private func data(_ server: Server) -> String { folder.file("\(server.rawValue)-data") }
    private func socket(_ server: Server) -> String { folder.file(server.rawValue) }

    /// Runs one of PostgreSQL's programs, which refuse to run as root.
    private func run(_ command: String) throws {
        try PostgresPair.shell(
            "cd '\(folder.path)'; PATH='\(programs)':$PATH; as=; "
                + "if [ $(id -u) = 0 ]; then "
                + "as='setpriv --reuid=postgres --regid=postgres --init-groups'; fi; $as \(command)",
            in: folder)
    }

    private static func shell(_ script: String, in folder: borrowing ScratchFolder) throws {
        let output = folder.file("output")
        let process = try ChildProcess(
            "/bin/sh", ["-c", script], environment: ProcessInfo.processInfo.environment,
            output: output, errors: output)
        guard process.wait(milliseconds: 60_000) == 0 else {
            let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
            throw Failed(description: "\(script): \(text)")
        }
    }

    private static func newestPrograms() throws -> String {
        let base = "/usr/lib/postgresql"
        let versions = try FileManager.default.contentsOfDirectory(atPath: base)
        guard let newest = versions.compactMap({ Int($0) }).max() else {
            throw Failed(description: "no PostgreSQL server is installed in \(base)")
        }
        return "\(base)/\(newest)/bin"
    }
}
