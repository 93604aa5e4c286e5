import Glibc
import Machine

/// Runs a program to completion, with the root folder as its working folder, and returns its output.
///
/// The output goes to a file instead of a pipe: a server that the program leaves running would keep the pipe open, and
/// the read would never end.
package func runProgram(_ command: [String]) -> (status: Int32, output: String) {
    var template = nameTemplate("/tmp/deed-output.")
    let output = mkstemp(&template)
    if output < 0 { return (127, "cannot create a temporary file in /tmp") }
    defer { close(output) }
    unlink(template)
    _ = fcntl(output, F_SETFD, FD_CLOEXEC)
    // PostgreSQL's programs complain if they may not enter the current folder.
    guard let process = spawn(["/usr/bin/env", "-C", "/"] + command, output: output) else {
        return (127, "\(command[0]) could not be started: \(systemReason)")
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let hasExited = status & 0x7F == 0
    return (hasExited ? (status >> 8) & 0xFF : 128 + (status & 0x7F), text(of: output))
}

/// Returns a template for `mkstemp` and `mkdtemp`, which replace the last six characters.
package func nameTemplate(_ beginning: String) -> [CChar] {
    Array((beginning + String(repeating: "X", count: 6)).utf8CString)
}

private func spawn(_ command: [String], output: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
    let arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    errno = posix_spawn(&process, command[0], &actions, nil, arguments, environ)
    return errno == 0 ? process : nil
}

private func text(of file: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = pread(file, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return text.split(separator: "\n").joined(separator: "; ")
}
