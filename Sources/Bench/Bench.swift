import Glibc

/// Runs the subcommand that the arguments name; gives the exit code.
func runBench(_ arguments: [String]) -> Int32 {
    let options = BenchOptions(arguments.dropFirst())
    switch arguments.first {
    case "bare-http": return serveBare(options)
    case "server-http": return serve(options)
    case "verify": return benchVerify(json: arguments.contains("--json"))
    default:
        complain(
            """
            usage: deed-bench bare-http --listen 127.0.0.1:PORT --bytes FILE
                   deed-bench server-http --listen 127.0.0.1:PORT --bytes FILE [--later yes]
                   deed-bench verify [--json]
            """)
        return 2
    }
}

/// `--name value` pairs.
struct BenchOptions {
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let name = rest.popFirst(), let value = rest.popFirst() {
            values[name] = value
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The content of the file that `--bytes` names.
    var bytes: [UInt8]? {
        guard let file = fopen(values["--bytes"] ?? "", "r") else { return nil }
        defer { fclose(file) }
        var content = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&content, 1, content.count, file)
        return Array(content.prefix(count))
    }
}

func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    write(STDERR_FILENO, line, line.count)
}

/// Keeps the signals that end the process for `waitForEnd`; before any thread is started.
func holdEndSignals() {
    var signals = endSignals()
    pthread_sigmask(Int32(SIG_BLOCK), &signals, nil)
}

/// Blocks until the process is told to stop.
func waitForEnd() {
    var signals = endSignals()
    var received: Int32 = 0
    sigwait(&signals, &received)
}

private func endSignals() -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    return signals
}
