import Core
import HTTPServer
import JSON
import Minting
import Outbound
import Practice
import Synchronization
import Telemetry
import TestSupport

/// A practice store on a free port, and a back end that receives its notifications.
final class ServedStore: Sendable {
    let store: PracticeStore
    let server: PracticeServer
    private let backend: Server
    private let received: Received

    final class Received: Sendable {
        let bodies = Mutex<[[UInt8]]>([])
        let status = Mutex(200)
    }

    init(
        keptIn folder: DataFolder? = nil, _ change: (inout Shop) -> Void = { _ in }
    ) throws {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let received = Received()
        self.received = received
        backend = try Server(
            settings, metrics: Metrics(), bodyLimit: { _, _ in 1 << 20 },
            refusal: { _, _ in Response(status: 503) },
            handler: { request in
                let body = request.body
                received.bodies.withLock { $0.append(body) }
                return .now(Response(status: received.status.withLock { $0 }))
            })
        var shop = Shop.example
        shop.app.notificationURL = "http://127.0.0.1:\(backend.port)/notifications"
        change(&shop)
        let postman = try Postman()
        store = PracticeStore(
            PracticeWorld(shop, from: opening, seed: 21), authority: practice,
            account: practiceAccount, folder: folder,
            port: PracticePort(now: machineInstant, send: { postman.send($0, $1) }))
        server = try PracticeServer(store, listen: "127.0.0.1:0", now: machineInstant)
    }

    deinit {
        server.stop()
        backend.drain(milliseconds: 1000)
    }

    var url: String { "http://127.0.0.1:\(server.port)" }
    var bodies: [[UInt8]] { received.bodies.withLock { $0 } }

    /// Sets the status that the back end answers from now on.
    func answer(_ status: Int) { received.status.withLock { $0 = status } }

    func buy(_ product: String, _ customer: String = "u1") throws -> HandOver {
        try store.perform(Step(.buy, customer: customer, product: product))
    }

    func send(
        _ method: String, _ target: String, _ body: JSON? = nil, token: String? = bearer(),
        timeout: Int = 10_000
    ) throws -> OutboundResponse {
        var headers = [("Content-Type", "application/json")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        var request = OutboundRequest(
            method, url + target, headers: headers, body: body?.bytes ?? [])
        request.timeoutMilliseconds = timeout
        request.replyLimit = 1 << 20
        var client = try HTTPClient()
        return try client.send(request)
    }

    /// Returns the status and the body of a call with a valid token.
    func ask(
        _ method: String, _ target: String, _ body: JSON? = nil
    ) throws -> (status: Int, json: JSON) {
        let answer = try send(method, target, body)
        return (answer.status, (try? JSON.read(answer.body)) ?? .null)
    }
}

/// Returns a token as App Store Connect's keys sign it. Tests change one part to make it invalid.
func bearer(
    key: MintedKey = practice.apiKey, head: [String: JSON] = [:], claims: [String: JSON] = [:]
) -> String {
    let now = machineInstant().milliseconds / 1000
    var header: [String: JSON] = ["alg": "ES256", "kid": .string(practice.keyID), "typ": "JWT"]
    var payload: [String: JSON] = [
        "iss": .string(practice.issuer), "aud": "appstoreconnect-v1", "iat": .integer(now),
        "exp": .integer(now + 300), "bid": .string(Shop.example.app.bundleID),
    ]
    header.merge(head) { $1 }
    payload.merge(claims) { $1 }
    func part(_ members: [String: JSON]) -> String {
        var object = JSONObject()
        for (name, value) in members where !value.isNull { object.append(name, value) }
        return JSON.object(object).bytes.base64URL
    }
    let text = part(header) + "." + part(payload)
    return text + "." + key.signRaw(Array(text.utf8)).base64URL
}
