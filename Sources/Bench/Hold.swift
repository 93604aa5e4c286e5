import Glibc

/// Holds connections open to simulate clients that never finish: some stay silent, others send a
/// body at one byte per second. Closed connections are replaced.
func holdConnections(_ options: BenchOptions) -> Int32 {
    guard let port = options["--port"].flatMap(UInt16.init),
        let count = options["--connections"].flatMap(Int.init),
        let seconds = options["--seconds"].flatMap(Int.init)
    else {
        complain("hold needs --port, --connections and --seconds")
        return 2
    }
    let head =
        options["--body"] == nil
        ? ""
        : "POST /v1/stores/apple/notifications HTTP/1.1\r\nHost: h\r\n"
            + "X-Forwarded-For: 192.0.2.1\r\nContent-Length: 200000\r\n\r\n{"
            + String(repeating: " ", count: 60_000)
    signal(SIGPIPE, SIG_IGN)
    var sockets = (0..<count).map { _ in connection(to: port, saying: head) }
    let end = time(nil) + seconds
    while time(nil) < end {
        sleep(1)
        if head.isEmpty { continue }
        for place in sockets.indices where send(sockets[place], " ", 1, Int32(MSG_DONTWAIT)) != 1 {
            close(sockets[place])
            sockets[place] = connection(to: port, saying: head)
        }
    }
    return 0
}

private func connection(to port: UInt16, saying head: String) -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) }
    }
    let bytes = Array(head.utf8)
    _ = send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT))
    return socket
}
