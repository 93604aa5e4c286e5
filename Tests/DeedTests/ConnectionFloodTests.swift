import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Ten thousand connections", .timeLimit(.minutes(20)))
    struct ConnectionFlood {
        private static let path = "/v1/customers/u1/entitlements"
        /// The number of connections that `serve` allows. A few more get an error.
        private static let limit: Int64 = 4096
        private static let headroom: Int64 = 64
        /// The maximum cost of one connection in KiB.
        private static let cost: Int64 = 32

        @Test("They cost what is stated, and others lose no answer")
        func flood() throws {
            try #require(
                raiseDescriptorLimit(to: 12_000),
                "this test needs 12,000 descriptors; raise the hard limit: ulimit -Hn")
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let key = try installation.makeKey()
            let service = try installation.serve("--connections-per-address", "5000")
            let ordinary = try OrdinaryClient(service.url + ConnectionFlood.path, key: key)
            var client = try APIClient(key: key)
            _ = try client.metrics(of: service)
            #expect(eventually(within: 20_000) { ordinary.count > 100 })
            let before = try Footprint(of: service.process)

            let flood = Flood(service.port, key: key)
            var full: Int64 = 0
            let isFull = try eventually(within: 5000) {
                full = try client.metrics(of: service)["deed_http_connections"] ?? 0
                return full >= ConnectionFlood.limit
            }
            #expect(isFull, "\(full) connections")
            #expect(full <= ConnectionFlood.limit + ConnectionFlood.headroom)
            // One more connection gets an error. If too many connections are getting errors, it is closed.
            let late = try RawClient(port: service.port, milliseconds: 5000)
            late.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            if let reply = late.reply() { #expect(reply.status == 503) }
            #expect(late.isClosed())
            // Deed cuts off connections that send nothing or too little. After that, others can connect again.
            #expect(
                eventually(within: 30_000) {
                    flood.sendByte()
                    return isAnswered(at: service.port)
                })
            let peak = try Footprint(of: service.process)
            let connections = ConnectionFlood.limit + ConnectionFlood.headroom
            #expect(peak.mostMemory - before.memory <= connections * ConnectionFlood.cost)
            // Bodies that were announced but never arrive take no memory. They take no address
            // space either, because a system without overcommitment would refuse it.
            #expect(peak.mostAddresses - before.addresses <= 1 << 20, "KiB of address space")
            print("\(peak.mostMemory - before.memory) KiB for \(full) connections")

            flood.end()
            // Deed may have opened further connections to the database.
            #expect(
                try eventually(within: 20_000) {
                    try Footprint(of: service.process).descriptors <= before.descriptors + 16
                })
            #expect(isAnswered(at: service.port))
            let (count, slowest) = ordinary.stop()
            #expect(ordinary.faults == [])
            #expect(count > 200)
            // A client that had to wait for the flood would wait until it is cut off.
            #expect(slowest < 5000)
            print("\(count) answers meanwhile, the slowest after \(slowest) ms")
        }

        @Test("If the system allows few descriptors, fewer clients are served, and the rest works")
        func fewDescriptors() throws {
            let database = try ScratchDatabase()
            let key = try Installation(database).makeKey()
            let installation = try Installation(database, descriptors: "-n 400")
            let service = try installation.serve()
            #expect(service.log.contains(#""event":"few_descriptors""#))
            var client = try APIClient(key: key)
            _ = try client.metrics(of: service)
            let idle = try (0..<500).map { _ in try RawClient(port: service.port) }
            #expect(
                try eventually(within: 5000) {
                    try client.metrics(of: service)["deed_http_connections"] ?? 0 > 100
                })
            // Deed can still open a new session, because it reserves descriptors for that.
            let sessions = """
                select count(pg_terminate_backend(pid)) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid()
                """
            _ = try database.number(sessions)
            let given = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"pro","reason":"r"}"#)
            #expect(given.status == 201, "\(given.text)")
            let listed = try client.events(of: "u1", at: service.url)
            #expect(listed.count == 1)
            #expect(idle.count == 500)
        }

        private func isAnswered(at port: UInt16) -> Bool {
            guard let client = try? RawClient(port: port, milliseconds: 1000) else {
                return false
            }
            client.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            return client.reply()?.status == 200
        }
    }
}

/// Raises this process's limit to this many descriptors.
private func raiseDescriptorLimit(to count: rlim_t) -> Bool {
    var limit = rlimit()
    let resource = Int32(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return false }
    if limit.rlim_cur >= count { return true }
    limit.rlim_cur = count
    return setrlimit(resource, &limit) == 0
}

/// Clients that hold connections and never finish.
private final class Flood: Sendable {
    private static let connections = 10_000
    private static let lanes = 4

    /// What a client sends first. It then sends one byte at a time.
    private enum Manner: Int, CaseIterable {
        case silence, line, header, body

        func opening(_ key: String) -> String {
            switch self {
            case .silence: ""
            case .line: "GET /"
            case .header: "GET /healthz HTTP/1.1\r\nX-A: "
            case .body:
                "POST /v1/customers/u1/receipts HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                    + "\(key)\r\nContent-Length: 4000000\r\n\r\n{"
            }
        }
    }
    private let clients = Mutex<[(manner: Manner, client: Slot)]>([])

    private final class Slot: Sendable {
        nonisolated(unsafe) let client: RawClient
        init(_ client: RawClient) { self.client = client }
    }

    init(_ port: UInt16, key: String) {
        inParallel(Flood.lanes) { [self] _ in
            for number in 0..<(Flood.connections / Flood.lanes) {
                guard let client = try? RawClient(port: port) else { continue }
                let manner = Manner.allCases[number % Manner.allCases.count]
                client.send(manner.opening(key))
                let slot = Slot(client)
                clients.withLock { $0.append((manner, slot)) }
            }
        }
        #expect(clients.withLock { $0.count } == Flood.connections)
    }

    /// Sends one more byte on each connection that is not silent.
    func sendByte() {
        for (manner, slot) in clients.withLock({ $0 }) where manner != .silence {
            slot.client.send("x")
        }
    }

    func end() { clients.withLock { $0 = [] } }
}

/// A client that reads over a connection that it opened before the flood.
private final class OrdinaryClient: Sendable {
    private struct State {
        var isStopping = false
        var isDone = false
        var count = 0
        var slowest: Int64 = 0
        var faults: [String] = []
    }
    private let state = Monitor(State())

    init(_ url: String, key: String) throws {
        startThread("ordinary") { [self] in
            do {
                var client = try APIClient(key: key)
                while !state.change(wake: .none, { $0.isStopping }) {
                    let started = monotonicMilliseconds()
                    let answer = try client.send("GET", url)
                    let taken = monotonicMilliseconds() - started
                    state.change { state in
                        state.count += 1
                        state.slowest = max(state.slowest, taken)
                        if answer.status != 200 { state.faults.append(answer.text) }
                    }
                    pause(milliseconds: 2)
                }
            } catch {
                state.change { $0.faults.append("\(error)") }
            }
            state.change { $0.isDone = true }
        }
    }

    var count: Int { state.change(wake: .none) { $0.count } }
    var faults: [String] { state.change(wake: .none) { $0.faults } }

    func stop() -> (count: Int, slowest: Int64) {
        state.change { $0.isStopping = true }
        return state.wait { $0.isDone ? ($0.count, $0.slowest) : nil }
    }
}
