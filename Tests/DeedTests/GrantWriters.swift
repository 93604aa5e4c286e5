import JSON
import Synchronization
import TestSupport
import Threading

/// Clients that give one grant after the other, each again under its key until it is answered.
final class GrantWriters: Sendable {
    struct Answered: Sendable {
        let customer: String
        let grant: String
    }
    private struct State {
        var service: String
        var isStopping = false
        var running = GrantWriters.clients
        /// By cause.
        var answered: [String: Answered] = [:]
        var unexpected: [String] = []
    }
    private static let clients = 32
    private static let customers = 48
    private let state: Monitor<State>

    init(_ service: String, key: String) throws {
        state = Monitor(State(service: service))
        for index in 0..<GrantWriters.clients {
            startThread("writer-\(index)") { [self] in
                do {
                    var client = try APIClient(key: key)
                    var number = 0
                    while !isStopping {
                        number += 1
                        try give(&client, index, number)
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
    func stop() -> [String: Answered] {
        state.change { $0.isStopping = true }
        let isDone: Void? = state.wait(milliseconds: 60_000) { $0.running == 0 ? () : nil }
        return state.change { state in
            if isDone == nil { state.unexpected.append("\(state.running) clients hang") }
            return state.answered
        }
    }

    private var isStopping: Bool { state.change(wake: .nobody) { $0.isStopping } }

    private func give(_ client: inout APIClient, _ index: Int, _ number: Int) throws {
        let idempotencyKey = "\(index)-\(number)"
        let customer = "c\((index + number) % GrantWriters.customers)"
        for _ in 0..<2000 {
            let service = state.change(wake: .nobody) { $0.service }
            let answer = try? client.send(
                "POST", "\(service)/v1/customers/\(customer)/grants",
                body: #"{"entitlement":"pro","reason":"r"}"#, idempotencyKey: idempotencyKey,
                timeoutMilliseconds: 8000)
            switch answer?.status {
            case 201:
                let grant = try JSON.read(answer?.text ?? "")["grant"]?["id"]?.string ?? ""
                let answered = Answered(customer: customer, grant: grant)
                state.change { $0.answered["key:\(idempotencyKey)"] = answered }
                return
            case nil, 503: pause(milliseconds: 20)
            default:
                state.change { $0.unexpected.append(answer?.text ?? "") }
                return
            }
        }
        state.change { $0.unexpected.append("\(idempotencyKey) was never answered") }
    }
}
