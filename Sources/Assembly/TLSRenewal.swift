import Core
import Foundation
import Glibc
import HTTPServer
import JSON
import Jobs
import Telemetry
import Threading

/// A watcher that reads the TLS files again when they change or when an operator requests it, because certificates are
/// renewed more often than services restart.
final class TLSRenewal: Sendable {
    /// The properties that each check compares: the files' identities, times and sizes.
    private struct Stamp: Equatable {
        var parts: [Int]

        init(_ files: TLSFiles) {
            parts = [files.certificate, files.key].flatMap { path -> [Int] in
                var found = stat()
                guard stat(path, &found) == 0 else { return [] }
                let times = [found.st_mtim, found.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
                return times + [Int(found.st_size), Int(bitPattern: UInt(found.st_ino))]
            }
        }
    }
    private struct State {
        /// The files in use.
        var used: Stamp
        var seen: Stamp
        var hangups = 0
        /// The files that could not be used. They are remembered so that each is logged only once.
        var refused: Stamp?
    }

    private let files: TLSFiles
    private let hangups: @Sendable () -> Int
    private let log: Log
    private let state: Monitor<State>
    private let servers = Monitor<Servers?>(nil)

    /// Creates the watcher; `nil` without TLS.
    init?(_ settings: ServiceSettings, log: Log) {
        guard let files = settings.server.tls else { return nil }
        self.files = files
        self.log = log
        hangups = settings.hangups
        let stamp = Stamp(files)
        state = Monitor(State(used: stamp, seen: stamp, hangups: settings.hangups()))
    }

    var job: Job {
        Job("tls_files", .everywhere(milliseconds: 1000)) { [self] _ in
            look()
            return .asScheduled
        }
    }

    func begin(_ servers: Servers) { self.servers.change { $0 = servers } }

    /// Checks the files. Changed files may be incomplete, so they are used only once two checks in a row find them the
    /// same.
    private func look() {
        guard let servers = servers.change(wake: .none, { $0 }) else { return }
        let (stamp, asked) = (Stamp(files), hangups())
        let isDue = state.change(wake: .none) { state in
            let isAsked = asked != state.hangups
            let isAtRest = stamp == state.seen
            state.seen = stamp
            if isAsked { state.refused = nil }
            state.hangups = asked
            return isAsked || isAtRest && stamp != state.used && stamp != state.refused
        }
        if isDue { renew(servers, stamp) }
    }

    private func renew(_ servers: Servers, _ stamp: Stamp) {
        do throws(ServerError) {
            try servers.renewIdentity()
            state.change(wake: .none) { state in
                (state.used, state.refused) = (stamp, nil)
            }
            log.info(
                "tls_renewed",
                [
                    "certificate": .string(files.certificate),
                    "ends_in_days": .integer(
                        Int(servers.certificateEnds ?? 0) / 86_400
                            - Int(systemClock().milliseconds / 86_400_000)),
                ])
        } catch {
            state.change(wake: .none) { $0.refused = stamp }
            log.error(
                "tls_not_renewed",
                [
                    "reason": .string(error.description),
                    "remedy":
                        "let the user that runs Deed read both files, then send SIGHUP; until then clients get the previous certificate",
                ])
        }
    }
}
