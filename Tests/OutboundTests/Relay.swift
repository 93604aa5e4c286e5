import Glibc
import Synchronization
import TestSupport
import Threading

/// A relay between a client and a server. On request, it swallows the traffic of existing
/// connections, like a network that has lost them. Later connections work.
final class Relay: Sendable {
    private final class Line: Sendable {
        let isMute = Atomic(false)
        private let client: Int32
        private let server: Int32

        init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

        deinit {
            close(client)
            close(server)
        }

        func start() {
            startThread("relay-out") { [self] in pass(from: client, to: server) }
            startThread("relay-in") { [self] in pass(from: server, to: client) }
        }

        private func pass(from source: Int32, to target: Int32) {
            var bytes = [UInt8](repeating: 0, count: 16 << 10)
            while case let count = read(source, &bytes, bytes.count), count > 0 {
                if !isMute.load(ordering: .relaxed) { _ = write(target, bytes, count) }
            }
            shutdown(source, Int32(SHUT_RDWR))
            shutdown(target, Int32(SHUT_RDWR))
        }
    }

    let port: UInt16
    private let listener: Int32
    private let lines = Mutex<[Line]>([])

    init(to server: UInt16) throws {
        (listener, port) = try listenOnFreePort()
        startThread("relay") { [weak self, listener] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                let line = Line(client, connect(to: server))
                self?.lines.withLock { $0.append(line) }
                line.start()
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    func loseConnections() {
        lines.withLock { $0.forEach { $0.isMute.store(true, ordering: .relaxed) } }
    }

    /// The number of connections so far.
    var count: Int { lines.withLock { $0.count } }
}

private func connect(to port: UInt16) -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.connect(socket, $0, length)
        }
    }
    return socket
}
