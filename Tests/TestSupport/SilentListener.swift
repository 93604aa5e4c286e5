import Glibc

/// A socket that accepts connections on this machine and never answers.
package final class SilentListener: Sendable {
    package let port: UInt16
    private let socket: Int32

    package init() throws {
        (socket, port) = try listenOnFreePort()
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    }

    deinit { close(socket) }

    /// The number of connections since the last call.
    package var connections: Int {
        var count = 0
        while case let peer = accept(socket, nil, nil), peer >= 0 {
            close(peer)
            count += 1
        }
        return count
    }
}
