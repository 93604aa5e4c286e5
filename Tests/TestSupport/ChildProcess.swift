import Foundation
package import Glibc
import Synchronization
import Threading

/// A program started by a test. It is killed at the latest when its last reference is gone.
package final class ChildProcess: Sendable {
    package struct NotStarted: Error {
        let program: String
        let code: Int32
    }

    package let id: pid_t
    /// The exit code, or 128 plus the signal that ended the process; `nil` while it runs.
    private let end = Mutex<Int32?>(nil)

    package init(
        _ program: String, _ arguments: [String], environment: [String: String],
        output: String, errors: String
    ) throws(NotStarted) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Test threads may block signals, and child processes would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o600)
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, words, variables)
        if code != 0 { throw NotStarted(program: program, code: code) }
        id = process
    }

    deinit {
        signal(SIGKILL)
        _ = wait(milliseconds: 5000)
    }

    /// Sends the signal, unless the process has ended.
    package func signal(_ number: Int32) {
        end.withLock { end in
            if end == nil { kill(id, number) }
        }
    }

    /// Returns the exit code, or `nil` if the process did not end in time.
    package func wait(milliseconds: Int64) -> Int32? {
        let started = monotonicMilliseconds()
        while true {
            if let end = look() { return end }
            if monotonicMilliseconds() > started + patient(milliseconds) { return nil }
            pause(milliseconds: 2)
        }
    }

    private func look() -> Int32? {
        end.withLock { end in
            if let end { return end }
            var status: Int32 = 0
            if waitpid(id, &status, WNOHANG) != id { return nil }
            let signal = status & 0x7F
            end = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
            return end
        }
    }
}
