import Glibc
import Synchronization
import TestSupport
import Testing
import Threading

/// A client that acts at random until it is stopped.
protocol RandomClient: Sendable {
    /// Results that other clients' acts do not explain.
    var findings: [String] { get }
    func run(key: String, until isOver: () -> Bool)
}

/// Two services over one database. The test kills one of them repeatedly.
final class ServicePair: Sendable {
    let steady: RunningService
    private let mortal: Mutex<RunningService>
    private let start: @Sendable () throws -> RunningService

    init(_ start: @escaping @Sendable () throws -> RunningService) throws {
        self.start = start
        steady = try start()
        mortal = Mutex(try start())
    }

    var urls: [String] { [steady.url, mortal.withLock { $0.url }] }

    /// Kills one of the services and restarts it on another port.
    func killOne() throws {
        let old = mortal.withLock { $0 }
        old.process.signal(SIGKILL)
        #expect(old.process.wait(milliseconds: 10_000) == 128 + SIGKILL)
        let new = try start()
        mortal.withLock { $0 = new }
    }

    /// Returns the answer of either service. Repeats the call under the same key until there is one.
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

    /// Lets all clients act. Kills a service `kills` times, each time after `step` more acts.
    func serve(
        _ clients: [some RandomClient], key: String, killing kills: Int, each step: Int,
        done: () -> Int
    ) throws {
        let isOver = Mutex(false)
        let running = Monitor(clients.count)
        for client in clients {
            startThread("client") {
                client.run(key: key) { isOver.withLock { $0 } }
                running.change { $0 -= 1 }
            }
        }
        for _ in 0..<kills {
            let before = done()
            #expect(eventually(within: 120_000) { done() >= before + step })
            try killOne()
        }
        isOver.withLock { $0 = true }
        let end: Void? = running.wait(milliseconds: 120_000) { $0 == 0 ? () : nil }
        try #require(end != nil, "clients hang")
        for client in clients { #expect(client.findings == []) }
    }
}

extension Installation {
    /// Returns two services with an app and a catalog, which trust the tests' stores.
    func pairThatSells(
        in folder: EvidenceFolder, _ options: [String] = []
    ) throws -> ServicePair {
        try sell(in: folder)
        return try ServicePair { [self] in
            try serve(["--extra-roots", "\(folder.path)/roots"] + options)
        }
    }
}
