import Glibc

/// A plain TCP connection to a local port. Unlike a well-behaved client, it can send anything.
package final class RawClient {
    private let socket: Int32
    private var unread: [UInt8] = []
    /// The requests that wait for answers, if the answers are documented.
    private var asked: [(method: String, target: String)] = []
    private let isDeed: Bool

    package struct Refused: Error {
        package let code: Int32
    }

    /// An answer as received.
    package struct Reply: Equatable {
        package var status = 0
        package var head = ""
        package var body = ""
    }

    /// Waits up to `milliseconds` for the other side. A narrow client has tiny buffers, so that
    /// unread answers stay with the sender. It connects from 127.0.0.`host`. Answers are compared
    /// with Deed's API document.
    package convenience init(
        port: UInt16, milliseconds: Int = 3000, isNarrow: Bool = false, from host: UInt8 = 1
    ) throws(Refused) {
        try self.init(port, milliseconds, isNarrow, host, isDeed: true)
    }

    /// Creates a client for answers that the API's document does not describe.
    package convenience init(
        undocumented port: UInt16, milliseconds: Int = 3000, isNarrow: Bool = false,
        from host: UInt8 = 1
    ) throws(Refused) {
        try self.init(port, milliseconds, isNarrow, host, isDeed: false)
    }

    private init(
        _ port: UInt16, _ milliseconds: Int, _ isNarrow: Bool, _ host: UInt8, isDeed: Bool
    ) throws(Refused) {
        self.isDeed = isDeed
        // Other tests' child processes must not inherit the socket.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socket = Glibc.socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let milliseconds = Int(patient(Int64(milliseconds)))
        var limit = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if isNarrow {
            // The sender's buffer would grow with the segment size.
            var (buffer, segment): (Int32, Int32) = (4096, 1000)
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, size)
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, size)
        }
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = (UInt32(INADDR_LOOPBACK) & ~0xFF | UInt32(host)).bigEndian
        withUnsafePointer(to: &own) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
        }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) }
        }
        // From here on, `deinit` closes the socket even if the connection fails.
        guard result == 0 else { throw Refused(code: errno) }
    }

    deinit { close(socket) }

    /// Returns the descriptor of the connection's other end, if this process has it.
    package func otherEnd() -> Int32? {
        func name(
            of descriptor: Int32,
            _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
        ) -> [UInt8]? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    ask(descriptor, $0, &length)
                }
            }
            guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
            return withUnsafeBytes(of: address) { Array($0.prefix(8)) }
        }
        let own = name(of: socket) { getsockname($0, $1, $2) }
        return (0..<4096).first { $0 != socket && name(of: $0) { getpeername($0, $1, $2) } == own }
    }

    /// Sends `text`; `false` if the other side has closed.
    @discardableResult
    package func send(_ text: String) -> Bool {
        if isDeed {
            let line = String(
                decoding: text.utf8.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            let words = line.split(separator: " ")
            if words.count == 3, words[2] == "HTTP/1.1" {
                asked.append((String(words[0]), String(words[1])))
            }
        }
        return send(Array(text.utf8))
    }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Stops sending, but still reads.
    package func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Returns the next answer, or `nil` if the connection or the time ends before it is complete.
    package func reply(withBody: Bool = true) -> Reply? {
        let mark = Array("\r\n\r\n".utf8)
        var end = find(mark)
        while end == nil {
            guard receive() else { return nil }
            end = find(mark)
        }
        var reply = Reply()
        reply.head = String(decoding: take(end ?? 0), as: UTF8.self)
        reply.status = Int(reply.head.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
        let lengthLine = reply.head.split(separator: "\r\n").first {
            $0.lowercased().hasPrefix("content-length:")
        }
        let length = lengthLine?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        guard withBody else { return reply }
        while unread.count < length {
            guard receive() else { return nil }
        }
        reply.body = String(decoding: take(length), as: UTF8.self)
        if !asked.isEmpty, reply.status != 100 {
            expectAsDocumented(reply, to: asked.removeFirst())
        }
        return reply
    }

    private func expectAsDocumented(_ reply: Reply, to asked: (method: String, target: String)) {
        let lines = reply.head.split(separator: "\r\n").dropFirst()
        let headers = lines.map { line in
            let parts = line.split(separator: ": ", maxSplits: 1)
            return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        ReceivedAnswer(
            asked.method, asked.target, status: reply.status, headers: headers, body: reply.body
        ).expectAsDocumented()
    }

    /// Receives `count` bytes and drops them. Returns how many came before the connection or the
    /// time ended.
    package func drop(_ count: Int) -> Int {
        let known = min(count, unread.count)
        unread.removeFirst(known)
        var rest = count - known
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while rest > 0 {
            let received = recv(socket, &chunk, min(rest, 64 << 10), 0)
            guard received > 0 else { break }
            rest -= received
        }
        return count - rest
    }

    /// Returns whether the other side closes in time without sending more.
    package func isClosed() -> Bool {
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, 0)
        return unread.isEmpty && (count == 0 || (count < 0 && errno == ECONNRESET))
    }

    private func receive() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        unread += chunk.prefix(count)
        return true
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { unread.removeFirst(count) }
        return Array(unread.prefix(count))
    }

    private func find(_ mark: [UInt8]) -> Int? {
        guard unread.count >= mark.count else { return nil }
        return (mark.count...unread.count).first {
            unread[($0 - mark.count)..<$0].elementsEqual(mark)
        }
    }
}
