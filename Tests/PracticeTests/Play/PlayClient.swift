import Core
import JSON
import Minting
import Outbound
import Practice
import TestSupport

/// Calls a practice store in the same way as a back end calls Google.
final class PlayClient {
    let served: ServedStore
    static let base = "/androidpublisher/v3/applications/com.example.game"
    private var token: String?

    init(_ change: (inout Shop) -> Void = { _ in }) throws {
        served = try ServedStore(keptIn: nil, change)
        token = try give(assertion(at: served.url))["access_token"]?.string
    }

    /// Returns the answer to `POST /token`.
    func give(_ assertion: String, grant: String = PlayClient.grant) throws -> JSON {
        let form = "grant_type=\(grant)&assertion=\(assertion)"
        var client = try HTTPClient()
        let answer = try client.send(
            OutboundRequest(
                "POST", "\(served.url)/token",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(form.utf8)))
        return try JSON.read(answer.body)
    }

    static let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

    func ask(
        _ method: String, _ path: String, _ body: JSON? = nil
    ) throws -> (status: Int, json: JSON) {
        let answer = try served.send(method, PlayClient.base + path, body, token: token)
        return (answer.status, (try? JSON.read(answer.body)) ?? .null)
    }

    func get(_ path: String) throws -> JSON { try ask("GET", path).json }

    /// Takes a step of u1. Returns the purchase token.
    @discardableResult
    func take(
        _ act: Step.Act, _ product: String? = nil, _ change: (inout Step) -> Void = { _ in }
    ) throws -> String {
        var step = Step(act, customer: "u1", product: product)
        step.store = .google
        change(&step)
        return try served.store.performInPlay(step).token ?? ""
    }

    func subscription(_ token: String) throws -> JSON {
        try get("/purchases/subscriptionsv2/tokens/\(token)")
    }
}

/// Returns an assertion like those of Google's libraries. Tests change one part to make it invalid.
func assertion(
    at url: String, key: MintedKey = practiceAccount.key, head: [String: JSON] = [:],
    claims: [String: JSON] = [:]
) -> String {
    let now = machineInstant().milliseconds / 1000
    var header: [String: JSON] = [
        "alg": "RS256", "typ": "JWT", "kid": .string(practiceAccount.keyID),
    ]
    var payload: [String: JSON] = [
        "iss": .string(practiceAccount.email), "aud": .string("\(url)/token"),
        "scope": "https://www.googleapis.com/auth/androidpublisher", "iat": .integer(now),
        "exp": .integer(now + 3600),
    ]
    header.merge(head) { $1 }
    payload.merge(claims) { $1 }
    func part(_ members: [String: JSON]) -> String {
        var object = JSONObject()
        for (name, value) in members where !value.isNull { object.append(name, value) }
        return JSON.object(object).bytes.base64URL
    }
    let text = part(header) + "." + part(payload)
    return text + "." + key.sign(Array(text.utf8), .sha256).base64URL
}
