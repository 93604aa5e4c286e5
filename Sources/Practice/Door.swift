import Foundation
internal import Glibc
internal import Threading

/// The store's public address. It passes connections on to the server behind it, and breaks some of them according to
/// the trouble settings. A correct HTTP server could not do that.
final class Door: Sendable {
    typealias Strike = @Sendable () -> (stroke: Trouble.SocketStroke?, waits: Int64)

    let port: UInt16
    private let listener: Int32
    private let inner: UInt16
    private let strike: Strike
    private let isClosed = Monitor(false)

    init(
        _ listen: String, to inner: UInt16, strike: @escaping Strike
    ) throws(PracticeError) {
        let parts = listen.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "127.0.0.1" || parts[0] == "localhost",
            let wanted = UInt16(parts[1])
        else {
            throw .invalid(
                "--listen must be 127.0.0.1:PORT, because most calls to the practice store need no key"
            )
        }
        let socket = makeSocket()
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = loopback(wanted)
        let isBound = withAddress(&address) { bind(socket, $0, $1) } == 0
        guard isBound, Glibc.listen(socket, 128) == 0 else {
            Glibc.close(socket)
            throw .broken("cannot listen on \(listen); another program may already be using it")
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(socket, $0, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        listener = socket
        self.inner = inner
        self.strike = strike
        startThread("practice door") { [self] in accept() }
    }

    func close() {
        isClosed.change { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if isClosed.change(wake: .none, { $0 }) {
                if client >= 0 { Glibc.close(client) }
                return
            }
            guard client >= 0 else {
                pause(milliseconds: 10)
                continue
            }
            let passage = Passage(client: client, inner: inner, strike: strike)
            startThread("practice passage") { passage.run() }
        }
    }
}

/// A client's connection, which is passed on to the server behind the door.
private final class Passage: Sendable {
    private let client: Int32
    private let inner: UInt16
    private let strike: Door.Strike
    /// Whether the current request is for the control API, which is exempt from trouble, and whether the answer has yet
    /// to start.
    private let request = Monitor((isControl: false, isFresh: false))

    init(
        client: Int32, inner: UInt16, strike: @escaping Door.Strike
    ) {
        self.client = client
        self.inner = inner
        self.strike = strike
    }

    func run() {
        let server = makeSocket()
        var address = loopback(inner)
        let isConnected = withAddress(&address) { connect(server, $0, $1) } == 0
        defer {
            close(server)
            close(client)
        }
        guard isConnected else { return }
        let isDone = Monitor(false)
        startThread("practice request") { [self] in
            forward(to: server)
            isDone.change { $0 = true }
        }
        answer(from: server)
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
        isDone.wait { $0 ? () : nil }
    }

    private func forward(to server: Int32) {
        while let bytes = receive(from: client) {
            let head = String(decoding: bytes.prefix(60), as: UTF8.self)
            let words = head.split(separator: " ")
            if words.count > 1, words[1].hasPrefix("/") {
                let isControl = words[1].hasPrefix("/practice")
                request.change { $0 = (isControl, true) }
            }
            guard sendAll(bytes, to: server) else { break }
        }
        shutdown(server, Int32(SHUT_WR))
    }

    private func answer(from server: Int32) {
        while let bytes = receive(from: server) {
            let isStruck = request.change(wake: .none) { request in
                defer { request.isFresh = false }
                return request.isFresh && !request.isControl
            }
            let (stroke, waits) = isStruck ? strike() : (nil, 0)
            // Each connection has a separate thread here, so a late answer does not delay others.
            if waits > 0 { pause(milliseconds: waits) }
            switch stroke {
            case nil:
                guard sendAll(bytes, to: client) else { return }
            case .reset?:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    client, SOL_SOCKET, SO_LINGER, &linger,
                    socklen_t(MemoryLayout.size(ofValue: linger)))
                return
            case .truncate?:
                _ = sendAll(Array(bytes.prefix(max(1, bytes.count * 3 / 4))), to: client)
                return
            case .endless?:
                sendForEver(bytes)
                return
            }
        }
    }

    /// Sends the answer as the start of a response that never ends, until the client disconnects.
    private func sendForEver(_ bytes: [UInt8]) {
        var text = String(decoding: bytes, as: UTF8.self)
        if let start = text.range(of: "Content-Length: "),
            let end = text.range(of: "\r\n", range: start.upperBound..<text.endIndex)
        {
            text.replaceSubrange(start.upperBound..<end.lowerBound, with: "1099511627776")
        }
        guard sendAll(Array(text.utf8), to: client) else { return }
        let blanks = [UInt8](repeating: 0x20, count: 4096)
        while sendAll(blanks, to: client) { pause(milliseconds: 20) }
    }
}

private func makeSocket() -> Int32 {
    let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    _ = fcntl(made, F_SETFD, FD_CLOEXEC)
    return made
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    address.sin_port = port.bigEndian
    return address
}

private func withAddress(
    _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// Receives some bytes; `nil` at the end.
private func receive(from socket: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var count = -1
    repeat { count = recv(socket, &buffer, buffer.count, 0) } while count < 0 && errno == EINTR
    return count > 0 ? Array(buffer[..<count]) : nil
}

private func sendAll(_ bytes: [UInt8], to socket: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
            send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
    }
    return true
}
