package import Core
internal import HTTPServer
internal import JSON
internal import Telemetry
internal import Threading

/// Serves a practice store over HTTP, from its creation until it is stopped.
package final class PracticeServer: Sendable {
    package let port: UInt16
    private let server: Server
    private let door: Door
    private let store: PracticeStore

    private static let bodyLimit = 4 << 20

    /// `listen` must be an address that other machines cannot reach, such as `127.0.0.1:9090`, because only the server
    /// API requires a key.
    package init(_ store: PracticeStore, listen: String, now: @escaping @Sendable () -> Instant)
        throws(PracticeError)
    {
        let routes = Routes(
            api: ServerAPI(store, now: now), receipts: try VerifyReceipt(store),
            control: ControlAPI(store: store), play: PlayAPI(store, now: now))
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        settings.workers = 8
        do throws(ServerError) {
            server = try Server(
                settings, metrics: Metrics(), bodyLimit: { _, _ in Self.bodyLimit },
                refusal: { refusal, _ in
                    let body: JSON = ["error": .string("\(refusal)")]
                    return Response(json: body, status: 503)
                },
                handler: { routes.answer($0) })
        } catch {
            throw .broken("\(error)")
        }
        door = try Door(listen, to: server.port) {
            store.read { world in world.nextSocketStroke() }
        }
        port = door.port
        self.store = store
        store.run()
    }

    /// Finishes the requests in progress, saves the state, and stops.
    package func stop() {
        door.close()
        server.drain(milliseconds: 2000)
        store.stop()
    }
}

/// Maps paths to handlers.
private struct Routes: Sendable {
    let api: ServerAPI
    let receipts: VerifyReceipt
    let control: ControlAPI
    /// `nil` if the store sells nothing in Google Play.
    let play: PlayAPI?

    func answer(_ request: borrowing Request) -> Answer {
        let call = Call(request)
        switch call.parts.first {
        case "practice"?:
            if let stranger = Routes.stranger(request) { return .now(stranger) }
            return .eventually { $0(control.answer(call)) }
        case "inApps"?:
            return troubled(APIError(5_000_000).response, spoil: api.spoil) { api.answer(call) }
        case "verifyReceipt"? where call.parts.count == 1:
            return troubled(Response(json: ["status": 21_005])) {
                receipts.answer(call, isProduction: false)
            }
        case "production"? where call.parts == ["production", "verifyReceipt"]:
            return troubled(Response(json: ["status": 21_005])) {
                receipts.answer(call, isProduction: true)
            }
        case "androidpublisher"?: return google { $0.answer(call) }
        case "token"? where call.parts.count == 1 && call.method == "POST":
            return google { $0.tokens.give(call) }
        case "oauth2"? where call.parts == ["oauth2", "v3", "certs"]:
            guard let play else { return .now(Response(status: 404)) }
            return .now(Response(json: play.tokens.account.pushKeys))
        default: return .now(Response(status: 404))
        }
    }

    private func google(_ answer: @escaping @Sendable (PlayAPI) -> Response) -> Answer {
        guard let play else { return .now(Response(status: 404)) }
        return troubled(
            PlayError.broken.response, limited: { _ in PlayError.exhausted.response }
        ) { answer(play) }
    }

    /// Returns the refusal for a request from a web page. Such a request carries the page's origin
    /// or the name of another host.
    private static func stranger(_ request: borrowing Request) -> Response? {
        let host = ((try? request.header("Host")) ?? nil) ?? ""
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let isHere = ["127.0.0.1", "localhost", "[::1]"].contains(String(name))
        if isHere, ((try? request.header("Origin")) ?? nil) == nil { return nil }
        let body: JSON = [
            "code": "refused",
            "detail": "Only programs on this machine may do that, not web pages: use 127.0.0.1.",
        ]
        return Response(json: body, status: 403)
    }

    /// Answers the request, or causes trouble as configured.
    private func troubled(
        _ broken: Response,
        limited: @escaping @Sendable (Instant) -> Response = {
            APIError(4_290_000, retryAt: $0).response
        },
        spoil: @escaping @Sendable (Response, UInt64) -> Response = { answer, _ in answer },
        _ answer: @escaping @Sendable () -> Response
    ) -> Answer {
        let (stroke, pause) = api.store.read { ($0.nextStroke(), $0.trouble.limitPause) }
        let retryAt = api.now().advanced(byMilliseconds: pause)
        return .eventually { reply in
            switch stroke {
            case .internalError?: reply(broken)
            case .limit?: reply(limited(retryAt))
            case .wrongSignature(let which)?: reply(spoil(answer(), which))
            case nil: reply(answer())
            }
        }
    }
}
