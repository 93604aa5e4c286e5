import Core
import JSON
import Minting
import TestSupport
import Threading

/// Clients that submit one purchase after the other, each again until it is answered. Every third
/// is told by the store, too, before or after.
final class SubmissionWriters: Sendable {
    struct Answered: Sendable {
        let customer: String
        let transaction: String
        /// Whether the last answer was the first one that committed.
        let isNew: Bool
    }
    private struct State {
        var service: String
        var isStopping = false
        var running = SubmissionWriters.clients
        var answered: [Answered] = []
        var unexpected: [String] = []
    }
    private static let clients = 24
    private static let customers = 40
    private static let store = MintedStore(environment: "Sandbox")
    private let state: Monitor<State>

    init(_ service: String, key: String) throws {
        state = Monitor(State(service: service))
        for index in 0..<SubmissionWriters.clients {
            startThread("writer-\(index)") { [self] in
                do {
                    var client = try APIClient(key: key)
                    var number = 0
                    while !isStopping {
                        number += 1
                        try submit(&client, index, number)
                    }
                } catch {
                    state.change { $0.unexpected.append("\(error)") }
                }
                state.change { $0.running -= 1 }
            }
        }
    }

    /// From now on the service answers there.
    func moveTo(_ service: String) { state.change { $0.service = service } }

    var count: Int { state.change(wake: .nobody) { $0.answered.count } }

    /// Answers that no crash explains.
    var unexpected: [String] { state.change(wake: .nobody) { $0.unexpected } }

    /// What was answered when every client has its last answer.
    func stop() -> [Answered] {
        state.change { $0.isStopping = true }
        let isDone: Void? = state.wait(milliseconds: 60_000) { $0.running == 0 ? () : nil }
        return state.change { state in
            if isDone == nil { state.unexpected.append("\(state.running) clients hang") }
            return state.answered
        }
    }

    private var isStopping: Bool { state.change(wake: .nobody) { $0.isStopping } }

    private func submit(_ client: inout APIClient, _ index: Int, _ number: Int) throws {
        let name = "\(index)-\(number)"
        let customer = "c\((index + number) % SubmissionWriters.customers)"
        let sale = Sale(name, "coins.100", .consumable, at: Payload.signedAt)
        let signed = SubmissionWriters.store.transaction(sale)
        if number % 3 == 0 { try tell(&client, name, signed) }
        let body: JSON = [
            "environment": "sandbox", "signed_transactions": [.string(signed)],
        ]
        let key = number % 2 == 0 ? name : nil
        let text = try send(&client, "/v1/customers/\(customer)/receipts", body.text, key)
        if number % 3 == 1 { try tell(&client, name, signed) }
        let outcome = try text.flatMap {
            try JSON.read($0)["items"]?.array?.first?["outcome"]?.string
        }
        guard outcome == "recorded" || outcome == "already_known" else {
            if let text { state.change { $0.unexpected.append(text) } }
            return
        }
        let answered = Answered(
            customer: customer, transaction: name, isNew: outcome == "recorded")
        state.change { $0.answered.append(answered) }
    }

    private func tell(_ client: inout APIClient, _ name: String, _ signed: String) throws {
        let body = SubmissionWriters.store.notification(
            "ONE_TIME_CHARGE", id: name, at: Payload.signedAt, transaction: signed)
        _ = try send(&client, "/v1/stores/apple/notifications", body, nil)
    }

    /// The answer, once there is one.
    private func send(
        _ client: inout APIClient, _ path: String, _ body: String, _ key: String?
    ) throws -> String? {
        for _ in 0..<2000 {
            let service = state.change(wake: .nobody) { $0.service }
            let answer = try? client.send(
                "POST", service + path, body: body, idempotencyKey: key,
                timeoutMilliseconds: 8000)
            switch answer?.status {
            case 200: return answer?.text
            case nil, 503: pause(milliseconds: 20)
            default:
                state.change { $0.unexpected.append(answer?.text ?? "") }
                return nil
            }
        }
        state.change { $0.unexpected.append("\(path) was never answered") }
        return nil
    }
}
