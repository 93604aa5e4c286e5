import Foundation
import Glibc
import JSON
import Machine
import Postgres
package import Telemetry
import Threading

/// Deed's own PostgreSQL. It is stored in a data folder and listens on a Unix socket that no other user can reach.
///
/// All processes that use it hold a shared lock. The first process starts the server and the last one stops it. If a
/// process is killed, the server continues to run for the next one.
package final class PrivatePostgres: Sendable {
    private static let patience: Int64 = 60_000
    /// How many milliseconds a running server may take to answer.
    private static let silence: Int64 = 10_000

    private let folder: DataFolder
    private let log: Log
    private let membership: Monitor<Membership>

    /// Registers this process as a user of the database.
    private struct Membership: ~Copyable {
        let lock: FileLock
        var isOver = false
    }

    /// Starts the database in the folder, or joins the processes that are using it. If allowed,
    /// creates a missing database, and marks it if a restore will fill it.
    package init(
        folder path: String, mayCreate: Bool, isRestoring: Bool = false, log: Log
    ) throws(PrivatePostgresError) {
        folder = try DataFolder(path)
        if isRestoring { try RestoreMark(in: folder.path).put() }
        self.log = log
        guard let lock = FileLock(folder.usersLock) else {
            throw .folderUnusable(path, reason: "postgres.users cannot be opened")
        }
        membership = Monitor(Membership(lock: lock))
        try ensureRunning(isJoining: true, mayCreate: mayCreate)
    }

    /// Returns whether the folder holds a database.
    package static func exists(in folder: String) -> Bool {
        access("\(folder)/postgres/PG_VERSION", F_OK) == 0
    }

    package var url: String { folder.url }

    /// Restarts the database if it has died, unless this process has stopped using it.
    package func ensureRunning() throws(PrivatePostgresError) {
        if !isRunning { try ensureRunning(isJoining: false, mayCreate: false) }
    }

    private func ensureRunning(
        isJoining: Bool, mayCreate: Bool
    ) throws(PrivatePostgresError) {
        // No lock is needed here, because a running server need not be started.
        try outwaitSilence()
        let start = try lockForStarting()
        // If others were using a database that has disappeared, an empty new one must not take its place.
        var isAlone = false
        if isJoining {
            isAlone = membership.change(wake: .none) { $0.lock.tryExclusive() }
            if !membership.change(wake: .none, { $0.lock.tryShared() }) {
                throw .lockBusy(folder.usersLock)
            }
        }
        if !isOver, isRunning {
            // A server that an earlier build left running may have weaker access rules.
            if try folder.admitOwner() { _ = control(["reload"]) }
        } else if !isOver {
            try startUp(mayCreate: mayCreate && isAlone)
        }
        extendLifetime(start)
    }

    /// Keeps PostgreSQL's own log from growing without limit. Only one of several processes does this.
    package func tidy() {
        guard let start = FileLock(folder.startLock), start.tryExclusive() else { return }
        ServerLog(path: folder.log).shorten(asOwner: folder.asOwner)
        extendLifetime(start)
    }

    private var isOver: Bool { membership.change(wake: .none) { $0.isOver } }

    /// Stops using the database. Stops the server unless another process is using it.
    package func leave() {
        membership.change(wake: .none) { $0.isOver = true }
        guard let start = try? lockForStarting() else { return }
        if membership.change(wake: .none, { $0.lock.tryExclusive() }) {
            let answer = control(["stop", "-m", "fast", "-w", "-t", "60"])
            if answer.status != 0 {
                log.warning("postgres_not_stopped", ["says": .string(answer.output)])
            }
        }
        membership.change(wake: .none) { $0.lock.release() }
        extendLifetime(start)
    }

    private func lockForStarting() throws(PrivatePostgresError) -> FileLock {
        guard let lock = FileLock(folder.startLock) else {
            throw .folderUnusable(folder.path, reason: "postgres.lock cannot be opened")
        }
        if !lock.waitExclusive(milliseconds: PrivatePostgres.patience) {
            throw .lockBusy(folder.startLock)
        }
        return lock
    }

    private func startUp(mayCreate: Bool) throws(PrivatePostgresError) {
        let programs = try Programs.find(forCluster: folder.existingCluster)
        if folder.existingCluster == nil {
            if !mayCreate { throw .databaseGone(folder.cluster) }
            try makeCluster(programs)
        }
        _ = try folder.admitOwner()
        let options =
            "-k '\(folder.sockets)' -c listen_addresses='' -c unix_socket_permissions=0700 "
            + "-c max_connections=100 -c log_min_messages=warning"
        ServerLog(path: folder.log).shorten(asOwner: folder.asOwner)
        let deadline = monotonicMilliseconds() + PrivatePostgres.patience
        while true {
            forgetDeadPostmaster()
            let answer = control(
                ["start", "-w", "-t", "60", "-l", folder.log, "-o", options], programs)
            if answer.status == 0 { break }
            // The processes of a killed server take a moment to end.
            if monotonicMilliseconds() > deadline || !hasLeftovers {
                throw .programFailed(
                    program: "pg_ctl start", output: "\(answer.output) See \(folder.log)")
            }
            pause(milliseconds: 200)
        }
        log.info("postgres_started", ["folder": .string(folder.cluster)])
    }

    /// Waits for a running server that cannot be reached. The server may report that it is starting
    /// or stopping. It may also hang, and then every attempt to start another one would be refused.
    private func outwaitSilence() throws(PrivatePostgresError) {
        let started = monotonicMilliseconds()
        while !isOver, isPostmasterThere, let refusal {
            let isAtWork = refusal.contains("the database system is")
            let patience = isAtWork ? PrivatePostgres.patience : PrivatePostgres.silence
            if monotonicMilliseconds() - started > patience { throw .silent(folder.cluster) }
            pause(milliseconds: 100)
        }
    }

    private func makeCluster(_ programs: Programs) throws(PrivatePostgresError) {
        log.info("postgres_created", ["folder": .string(folder.cluster)])
        let unfinished = try folder.makeUnfinishedCluster()
        let answer = runProgram(
            folder.asOwner([
                "\(programs.folder)/initdb", "-D", unfinished, "-U", "deed",
                "--auth-local=peer", "--auth-host=reject", "--encoding=UTF8", "--locale=C",
                "--data-checksums",
            ]))
        if answer.status != 0 { throw .programFailed(program: "initdb", output: answer.output) }
        // Only a complete cluster gets this name. If the process is killed before that, the folder holds no cluster.
        if rename(unfinished, folder.cluster) != 0 {
            throw .folderUnusable(folder.path, reason: systemReason)
        }
    }

    private func control(
        _ arguments: [String], _ programs: Programs? = nil
    ) -> (status: Int32, output: String) {
        guard let programs = programs ?? (try? Programs.find(forCluster: folder.existingCluster))
        else { return (127, PrivatePostgresError.notInstalled.description) }
        return runProgram(
            folder.asOwner(["\(programs.folder)/pg_ctl", "-D", folder.cluster] + arguments))
    }

    /// The process named in the cluster's lock file.
    private var postmaster: pid_t? {
        guard
            let text = try? String(
                contentsOfFile: "\(folder.cluster)/postmaster.pid", encoding: .utf8),
            let line = text.split(separator: "\n").first
        else { return nil }
        return pid_t(line)
    }

    private var isPostmasterThere: Bool {
        postmaster.flatMap(PostgresProcess.init)?.mayWork(in: folder.cluster) ?? false
    }

    private var isRunning: Bool { isPostmasterThere && refusal == nil }

    /// Why the server refuses sessions; `nil` if it accepts them.
    private var refusal: String? {
        let settings = ConnectionSettings(url: url, role: nil, applicationName: "deed watch")
        do throws(PostgresError) {
            _ = try Connection.open(settings)
            return nil
        } catch {
            return error.serverMessage
        }
    }

    /// Whether PostgreSQL has reported remains of an earlier server.
    private var hasLeftovers: Bool {
        let tail = ServerLog(path: folder.log).tail
        return ["shared memory block", "lock file"].contains { tail.contains($0) }
    }

    /// Removes a killed server's lock files if their process ID belongs to a dead process or to an unrelated
    /// one. As long as any process of that server still writes, PostgreSQL must be able to see the files.
    private func forgetDeadPostmaster() {
        guard let postmaster, kill(postmaster, 0) == 0, !isPostmasterThere,
            !PostgresProcess.all.contains(where: { $0.mayWork(in: folder.cluster) })
        else { return }
        unlink("\(folder.cluster)/postmaster.pid")
        unlink("\(folder.sockets)/.s.PGSQL.5432.lock")
    }
}
