import HTTPServer
import Telemetry

/// Serves the same bytes to every request using Deed's server, either inline or through the server's workers.
func serve(_ options: BenchOptions) -> Int32 {
    guard let listen = options["--listen"], let bytes = options.content(of: "--bytes")
    else {
        complain("server-http needs --listen 127.0.0.1:PORT and a readable --bytes FILE")
        return 2
    }
    var settings = ServerSettings()
    settings.listen = listen
    let response = Response(
        status: 200, headers: [Header("Content-Type", "application/json")], body: bytes)
    let isLater = options["--later"] != nil
    holdEndSignals()
    do {
        let server = try Server(
            settings, metrics: Metrics(), bodyLimit: { _, _ in 65_536 },
            refusal: { _, _ in Response(status: 503) },
            handler: { _ in isLater ? .eventually { $0(response) } : .now(response) })
        waitForEnd()
        return server.drain(milliseconds: 1000) ? 0 : 3
    } catch {
        complain(error.description)
        return 3
    }
}
