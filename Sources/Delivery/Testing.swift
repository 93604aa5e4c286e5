package import Core
internal import JSON
internal import Outbound
internal import Threading

/// The outcome of sending an example message.
package struct ExampleEnd: Sendable {
    package let message: String
    package let end: AttemptEnd
    package let milliseconds: Int64
}

/// A sender of documented example messages.
package struct ExampleSender: Sendable {
    private let vault: WebhookVault
    private let form: MessageForm
    private let gate: SafeGate
    private let machineClock: @Sendable () -> Instant

    package init(
        _ vault: WebhookVault, _ form: MessageForm, _ gate: SafeGate,
        machineClock: @escaping @Sendable () -> Instant
    ) {
        self.vault = vault
        self.form = form
        self.gate = gate
        self.machineClock = machineClock
    }

    /// Sends an example and waits for the receiver's answer.
    package func send(
        _ type: String, to webhook: Webhook, of project: ProjectID
    ) throws(CommandError) -> ExampleEnd {
        let now = machineClock()
        guard let secrets = try vault.secrets(of: WebhookName(project, webhook.id)) else {
            throw .refused(
                .webhook(.locked("they are missing; create new ones with: deed webhook rotate")))
        }
        let id = "test-\(String(UInt64.random(in: 0...UInt64.max), radix: 32))"
        var request = form.request(
            id: id, type: type, now, customer: ExampleSender.customer,
            exampleData(id, type, webhook.environment, now), to: webhook, of: project, secrets,
            at: now)
        request.headers.append(("deed-test", "1"))
        request.lane = "test \(webhook.id.text)"
        let started = monotonicMilliseconds()
        let answer = Monitor<SafeGate.Answer?>(nil)
        if let obstacle = gate.obstacle(to: webhook.url) {
            answer.change { $0 = .failure(obstacle) }
        } else {
            gate.send(request) { given in answer.change { $0 = given } }
        }
        let end = AttemptEnd(
            answer.wait { $0 }, hiding: secrets.headers.map(\.value), at: machineClock())
        return ExampleEnd(
            message: id, end: end, milliseconds: monotonicMilliseconds() - started)
    }

    private static let customer: CustomerID = Identifier(prefix: "player-", random: "1")
}

/// The `data` of each kind of customer event, as in `docs/events.md`.
let exampleEvents = (try? JSON.read(PackageResources.examples_json)) ?? .null

/// Returns the documented feed item with this data.
func exampleData(
    _ id: String, _ type: String, _ environment: Environment, _ now: Instant
) -> [UInt8] {
    let family = "entitlement."
    let kind = type.hasPrefix(family) ? String(type.dropFirst(family.count)) : nil
    let event = kind == nil ? type : kind == "ended" ? "grant.revoked" : "grant.given"
    var item: JSON = [
        "id": .string(id), "customer": "player-1", "environment": .string(environment.rawValue),
        "version": 1, "position": "0:1", "type": .string(event), "occurred_at": .string(now.text),
        "recorded_at": .string(now.text), "actor": "deed:test", "actor_name": .null,
        "cause": "command:test", "catalog_version": 1, "data": exampleEvents[event] ?? .null,
    ]
    let held: JSON = [
        "active": true, "since": .string(now.text), "until": .null, "state": "active",
        "code": "2.0", "will_renew": false, "product": .null, "kind": .null, "source": "grant",
        "purchase": .null, "grant": "g_k5thtmg3ez6zh5spata",
        "sandbox": .bool(environment == .sandbox), "next_product": .null,
        "expiration_reason": .null,
    ]
    var changes: [JSON] = []
    if let kind {
        changes.append([
            "entitlement": "pro", "change": .string(kind),
            "before": kind == "started" ? .null : held, "after": kind == "ended" ? .null : held,
        ])
    }
    item = item.with("access", .array(changes)).with("change", changes.first)
    return item.bytes
}
