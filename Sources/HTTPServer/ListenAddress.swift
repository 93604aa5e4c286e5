import Glibc

/// The address on which a server listens.
struct ListenAddress {
    let text: String
    private let storage: sockaddr_storage
    private let length: socklen_t

    init(_ text: String) throws(ServerError) {
        guard let colon = text.lastIndex(of: ":"),
            // Only digits are accepted, because a number with a sign would also parse.
            text[text.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw .addressMalformed(text) }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw .addressMalformed(text)
        }
        let names = ["": "0.0.0.0", "localhost": "127.0.0.1"]
        guard let found = Self.resolve(names[host] ?? host, port) else {
            throw .addressMalformed(text)
        }
        self.text = text
        (storage, length) = found
    }

    private static func resolve(_ host: String, _ port: UInt16) -> (sockaddr_storage, socklen_t)? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list?.pointee
        else { return nil }
        defer { freeaddrinfo(list) }
        var storage = sockaddr_storage()
        memcpy(&storage, first.ai_addr, Int(first.ai_addrlen))
        return (storage, first.ai_addrlen)
    }

    /// Whether the address is reachable only from this machine: 127.0.0.0/8 or ::1.
    var isOnLoopback: Bool {
        // The address has the same offset in both families as in `ClientAddress`.
        withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET: bytes[4] == 127
            case AF_INET6: bytes[8..<23].allSatisfy { $0 == 0 } && bytes[23] == 1
            default: false
            }
        }
    }

    func listen(on listener: Int32) throws(ServerError) {
        guard Glibc.listen(listener, SOMAXCONN) == 0 else {
            throw fault(closing: listener)
        }
    }

    /// Binds a socket to the address. Clients are still refused, because the socket does not listen yet.
    func bound() throws(ServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(Int32(storage.ss_family), type, 0)
        guard listener >= 0 else { throw .outOfResources }
        // Allows the server to restart before old connections have timed out.
        var on: Int32 = 1
        setsockopt(
            listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout.size(ofValue: on)))
        var address = storage
        let isBound = withSocketAddress(&address) { bind(listener, $0, length) } == 0
        if !isBound { throw fault(closing: listener) }
        return listener
    }

    /// Closes the socket and returns why the last call on it failed.
    private func fault(closing listener: Int32) -> ServerError {
        let code = errno
        close(listener)
        return code == EADDRINUSE ? .addressTaken(text) : .addressUnusable(text, code: code)
    }
}

func port(of listener: Int32) -> UInt16 {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout.size(ofValue: address))
    let result = withSocketAddress(&address) { getsockname(listener, $0, &length) }
    guard result == 0 else { return 0 }
    // The port has the same offset in both families' addresses.
    return withUnsafeBytes(of: address) {
        UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
    }
}

func withSocketAddress<Result>(
    _ storage: inout sockaddr_storage, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
) -> Result {
    withUnsafeMutablePointer(to: &storage) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
}
