import Glibc
import Threading

package struct NoPort: Error, CustomStringConvertible {
    package let description: String
}

/// Returns a socket that listens on a free port of this machine.
package func listenOnFreePort() throws(NoPort) -> (listener: Int32, port: UInt16) {
    let (listener, port) = try boundSocket()
    guard listen(listener, SOMAXCONN) == 0 else {
        throw NoPort(description: "port \(port) does not listen: error \(errno)")
    }
    return (listener, port)
}

/// Returns a socket bound to that port, or to a free one. The socket does not listen yet.
package func boundSocket(to port: UInt16 = 0) throws(NoPort) -> (
    descriptor: Int32, port: UInt16
) {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_INET, type, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard isBound else {
        close(descriptor)
        throw NoPort(description: "port \(port) cannot be had: error \(errno)")
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Returns the first of several consecutive free ports, for a program that will listen there a moment later.
///
/// The kernel assigns only higher ports by itself, so other tests do not take these in the
/// meantime. A test process uses each port only once.
package func freePort(inARow count: UInt16 = 1) throws(NoPort) -> UInt16 {
    for _ in 0..<1000 {
        let first = UInt16.random(in: 10_000..<32_000)
        let row = first..<first + count
        let isNew = handedOut.change { ports in
            guard ports.isDisjoint(with: row) else { return false }
            ports.formUnion(row)
            return true
        }
        if isNew, row.allSatisfy(isFree) { return first }
    }
    throw NoPort(description: "there are no \(count) free ports in a row")
}

private let handedOut = Monitor<Set<UInt16>>([])

private func isFree(_ port: UInt16) -> Bool {
    guard let (descriptor, _) = try? boundSocket(to: port) else { return false }
    close(descriptor)
    return true
}
