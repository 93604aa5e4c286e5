import Glibc
import Synchronization
import TestSupport
import Testing
import Threading

/// Two services over one database, of which one is killed again and again.
final class ServicePair: Sendable {
    let steady: RunningService
    private let mortal: Mutex<RunningService>
    private let serve: @Sendable () throws -> RunningService

    init(_ serve: @escaping @Sendable () throws -> RunningService) throws {
        self.serve = serve
        steady = try serve()
        mortal = Mutex(try serve())
    }

    var urls: [String] { [steady.url, mortal.withLock { $0.url }] }

    /// Kills one of them, and starts it anew at another port.
    func killOne() throws {
        let old = mortal.withLock { $0 }
        old.process.signal(SIGKILL)
        #expect(old.process.wait(milliseconds: 10_000) == 128 + SIGKILL)
        let new = try serve()
        mortal.withLock { $0 = new }
    }

    /// The answer of either service, asked again under the same key until there is one.
    func send(
        _ client: inout APIClient, first: Int, _ method: String, _ path: String,
        _ body: String = "", key: String? = nil, after position: String? = nil
    ) -> (status: Int, text: String)? {
        for attempt in 0..<2000 {
            let url = urls[(first + attempt) % 2] + path
            let answer = try? client.send(
                method, url, body: body, idempotencyKey: key, after: position,
                timeoutMilliseconds: 8000)
            if let answer, answer.status != 503 { return answer }
            pause(milliseconds: 10)
        }
        return nil
    }
}
