import Foundation
import Glibc
import Threading

/// Runs `body` on so many threads of their own at the same time, and returns when all are done.
package func inParallel(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            body(index)
            group.leave()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }
    group.wait()
}

/// Runs what takes long on a thread of its own: tests share few.
package func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        startThread("aside") { done.resume(with: Result { try body() }) }
    }
}

package struct NoPort: Error {}

/// A socket that listens on a free port of this machine.
package func listenOnFreePort() throws(NoPort) -> (listener: Int32, port: UInt16) {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let listener = socket(AF_INET, type, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(listener, address, length) == 0 && listen(listener, SOMAXCONN) == 0
                && getsockname(listener, address, &length) == 0
        }
    }
    if !result { throw NoPort() }
    return (listener, UInt16(bigEndian: address.sin_port))
}

/// Whether `condition` comes true in time.
package func eventually(within milliseconds: Int64, _ condition: () throws -> Bool) rethrows -> Bool
{
    let deadline = monotonicMilliseconds() + milliseconds
    while try !condition() {
        if monotonicMilliseconds() > deadline { return false }
        pause(milliseconds: 5)
    }
    return true
}
