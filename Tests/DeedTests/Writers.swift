import TestSupport
import Threading

/// Clients that make one write after another. Each write is repeated until there is an answer.
final class Writers<Answered: Sendable>: Sendable {
    /// A function that makes the client's write with that number and returns the answer.
    typealias Write =
        @Sendable (
            _ writers: Writers, _ client: inout APIClient, _ index: Int, _ number: Int
        ) throws -> Answered?

    private struct State {
        var service: String
        var isStopping = false
        var running: Int
        var answered: [Answered] = []
        var unexpected: [String] = []
    }
    private let state: Monitor<State>

    init(_ clients: Int, at service: String, key: String, write: @escaping Write) throws {
        state = Monitor(State(service: service, running: clients))
        for index in 0..<clients {
            startThread("writer-\(index)") { [self] in
                do {
                    var client = try APIClient(key: key)
                    var number = 0
                    while !isStopping {
                        number += 1
                        guard let answered = try write(self, &client, index, number) else {
                            continue
                        }
                        state.change { $0.answered.append(answered) }
                    }
                } catch {
                    complain("\(error)")
                }
                state.change { $0.running -= 1 }
            }
        }
    }

    /// Sends further writes to this address.
    func moveTo(_ service: String) { state.change { $0.service = service } }

    var count: Int { state.change(wake: .none) { $0.answered.count } }

    /// Answers that a killed service does not explain.
    var unexpected: [String] { state.change(wake: .none) { $0.unexpected } }

    func complain(_ text: String) { state.change { $0.unexpected.append(text) } }

    /// Stops. Returns the answers once every client has its last answer.
    func stop() -> [Answered] {
        state.change { $0.isStopping = true }
        let isDone: Void? = state.wait(milliseconds: 60_000) { $0.running == 0 ? () : nil }
        return state.change { state in
            if isDone == nil { state.unexpected.append("\(state.running) clients hang") }
            return state.answered
        }
    }

    private var isStopping: Bool { state.change(wake: .none) { $0.isStopping } }

    /// Returns the answer with that status, once there is one. Records any other status as unexpected.
    func send(
        _ client: inout APIClient, _ path: String, _ body: String, _ idempotencyKey: String?,
        expecting status: Int
    ) -> String? {
        for _ in 0..<2000 {
            let service = state.change(wake: .none) { $0.service }
            let answer = try? client.send(
                "POST", service + path, body: body, idempotencyKey: idempotencyKey,
                timeoutMilliseconds: 8000)
            switch answer?.status {
            case status: return answer?.text
            case nil, 503: pause(milliseconds: 20)
            default:
                complain(answer?.text ?? "")
                return nil
            }
        }
        complain("\(path) was never answered")
        return nil
    }
}
