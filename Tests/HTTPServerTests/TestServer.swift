import Glibc
import HTTPServer
import Telemetry
import TestSupport
import Threading

/// Returns a server on a free port, with few threads and refusals that name their reason.
func makeServer(
    metrics: Metrics = Metrics(), _ change: (inout ServerSettings) -> Void = { _ in },
    handler: @escaping @Sendable (borrowing Request) -> Answer
) throws(ServerError) -> Server {
    var settings = ServerSettings()
    settings.listen = "127.0.0.1:0"
    settings.threads = 2
    settings.workers = 4
    change(&settings)
    return try Server(
        settings, metrics: metrics,
        bodyLimit: { method, path in
            if path == "/boundless" { return .max }
            return path == "/large" && method == "POST" ? 1 << 20 : 1000
        },
        refusal: { refusal, _ in
            let status =
                switch refusal {
                case .bodyTooLarge: 413
                case .unframed(let fault): fault.status
                default: 503
                }
            return Response(status: status, body: Array("\(refusal)".utf8))
        },
        handler: handler)
}

/// Answers with the content of the request.
@Sendable func echo(_ request: borrowing Request) -> Answer {
    .now(text("\(request.method) \(request.path) \(request.query ?? "-") \(request.body.count)"))
}

func text(_ text: String) -> Response {
    Response(status: 200, headers: [Header("Content-Type", "text/plain")], body: Array(text.utf8))
}

/// Holds every waiting thread until it is opened.
final class Gate: Sendable {
    private let state = Monitor((waiting: 0, isOpen: false))

    func pass() {
        state.change { $0.waiting += 1 }
        state.wait { $0.isOpen ? () : nil }
    }

    func open() { state.change { $0.isOpen = true } }

    /// Returns whether `count` threads reach the gate within two seconds.
    func hasGathered(_ count: Int) -> Bool {
        state.wait(milliseconds: patient(2000)) { $0.waiting >= count ? true : nil } ?? false
    }
}

/// Returns whether `condition` comes true within two seconds.
func eventually(_ condition: () -> Bool) -> Bool {
    eventually(within: 2000, condition)
}
