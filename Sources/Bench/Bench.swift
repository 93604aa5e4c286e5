import Glibc

/// A benchmark. Each one is a function in a separate file and returns the exit code.
private struct Bench: Sendable {
    let name: String
    let usage: String
    let run: @Sendable (ArraySlice<String>) -> Int32

    static let all = [
        Bench(name: "bare-http", usage: "--listen 127.0.0.1:PORT --bytes FILE --head FILE") {
            serveBare(BenchOptions($0))
        },
        Bench(name: "server-http", usage: "--listen 127.0.0.1:PORT --bytes FILE [--later yes]") {
            serve(BenchOptions($0))
        },
        Bench(
            name: "hold", usage: "--port PORT --connections COUNT --seconds SECONDS [--body slow]"
        ) { holdConnections(BenchOptions($0)) },
        Bench(name: "core", usage: "[--json]") { benchCore(json: $0.contains("--json")) },
        Bench(name: "mint", usage: "--folder FOLDER --count COUNT [--apart yes]") {
            mintEvidence(BenchOptions($0))
        },
        Bench(
            name: "load",
            usage: "--customers COUNT --due COUNT --later COUNT --ends MILLISECONDS "
                + "[--tickets COUNT] [--people COUNT] --events FILE --rows FILE --grants FILE"
        ) { loadCustomers(BenchOptions($0)) },
        Bench(name: "verify", usage: "[--json]") { benchVerify(json: $0.contains("--json")) },
    ]
}

/// Runs the subcommand given by the arguments. Returns the exit code.
func runBench(_ arguments: [String]) -> Int32 {
    guard let bench = Bench.all.first(where: { $0.name == arguments.first }) else {
        complain("usage:")
        for bench in Bench.all { complain("  deed-bench \(bench.name) \(bench.usage)") }
        return 2
    }
    return bench.run(arguments.dropFirst())
}

/// Options of the form `--name value`.
struct BenchOptions {
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let name = rest.popFirst(), let value = rest.popFirst() {
            values[name] = value
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// Returns the content of the file given by the named option.
    func content(of name: String) -> [UInt8]? {
        guard let file = fopen(values[name] ?? "", "r") else { return nil }
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

/// Blocks the signals that would end the process, so that `waitForEnd` receives them. A server
/// calls this before it starts any threads.
func holdEndSignals() {
    var signals = endSignals()
    pthread_sigmask(Int32(SIG_BLOCK), &signals, nil)
}

/// Blocks until the process receives a signal to stop.
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
