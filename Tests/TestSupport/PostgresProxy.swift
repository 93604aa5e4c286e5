import Foundation
import Glibc
package import Postgres
import SQL
import Synchronization
import Threading

/// A proxy between clients and a PostgreSQL on a local socket. On request, it ends a connection
/// just before a statement reaches the server, or after the statement's commit and before the reply
/// passes.
package final class PostgresProxy: Sendable {
    /// What the proxy loses.
    package enum Loss: Sendable, CaseIterable {
        /// A statement before it reaches the server.
        case command
        /// The server's reply after a commit.
        case reply
    }

    /// The URL of the database through the proxy.
    package let url: String
    private let plan = Plan()
    private let folder: Mutex<String>
    private let listener: Int32

    /// `url` must name the server by the folder of its socket.
    package init(_ url: String) throws {
        let components = try PostgresProxy.components(of: url)
        folder = Mutex(try PostgresProxy.folder(in: components))
        let (listener, port) = try listenOnFreePort()
        self.listener = listener
        let user = components.queryItems?.first { $0.name == "user" }?.value ?? ""
        self.url =
            "postgresql:///\(components.path.dropFirst())?host=127.0.0.1&port=\(port)&user=\(user)"
            + "&sslmode=disable&gssencmode=disable"
        startThread("proxy") { [plan, weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                guard let self else { break }
                let server = connect(toSocketIn: self.folder.withLock { $0 })
                if server < 0 { close(client) } else { Line(client, server, plan).start() }
            }
            close(listener)
        }
    }

    /// Connects later clients to that server. Existing connections stay unchanged.
    package func lead(to url: String) throws {
        let other = try PostgresProxy.folder(in: PostgresProxy.components(of: url))
        folder.withLock { $0 = other }
    }

    private static func components(of url: String) throws -> URLComponents {
        guard let components = URLComponents(string: url) else { throw ScratchDatabase.NoServer() }
        return components
    }

    private static func folder(in components: URLComponents) throws -> String {
        guard let folder = components.queryItems?.first(where: { $0.name == "host" })?.value
        else { throw ScratchDatabase.NoServer() }
        return folder
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Loses the next uses of a prepared statement, `times` in total. With `other`, loses only uses
    /// in transactions that have already used that statement.
    package func lose(
        _ loss: Loss, of statement: Statement, after other: Statement? = nil, times: Int = 1
    ) {
        plan.state.withLock {
            $0 = Plan.State(
                statement: statement.name, other: other?.name, loss: loss, left: times)
        }
    }

    /// How many losses are left.
    package var left: Int { plan.state.withLock { $0.left } }
}

private final class Plan: Sendable {
    struct State {
        var statement = ""
        var other: String?
        var loss = PostgresProxy.Loss.command
        var left = 0
    }
    let state = Mutex(State())

    /// `others` are the statements that the transaction has used.
    func loss(of statement: String, after others: Set<String>) -> PostgresProxy.Loss? {
        state.withLock { state in
            guard state.left > 0, state.statement == statement,
                state.other.map(others.contains) ?? true
            else { return nil }
            state.left -= 1
            return state.loss
        }
    }
}

private func connect(toSocketIn folder: String) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let socket = socket(AF_UNIX, type, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("\(folder)/.s.PGSQL.5432".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.prefix($0.count - 1)) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) }
    }
    if result == 0 { return socket }
    close(socket)
    return -1
}

/// One client's connection through the proxy, and the proxy's connection to the server.
private final class Line: Sendable {
    private let client: Int32
    private let server: Int32
    private let plan: Plan
    /// Whether the proxy drops further replies. It ends the connection once the server is outside a transaction.
    private let isMute = Atomic(false)

    init(_ client: Int32, _ server: Int32, _ plan: Plan) {
        self.client = client
        self.server = server
        self.plan = plan
    }

    deinit {
        close(client)
        close(server)
    }

    func start() {
        startThread("to server") { [self] in
            passCommands()
            end()
        }
        startThread("to client") { [self] in
            passReplies()
            end()
        }
    }

    /// Ends both connections. Both threads then reach the end of their sockets.
    private func end() {
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    private func passCommands() {
        var messages = Messages(isTyped: false)
        var used: Set<String> = []
        while messages.receive(from: client) {
            while let message = messages.next() {
                let statement = message.boundStatement
                switch statement.flatMap({ plan.loss(of: $0, after: used) }) {
                case .command: return
                case .reply: isMute.store(true, ordering: .sequentiallyConsistent)
                case nil: break
                }
                if let statement {
                    if statement == Statement.begin.name { used = [] }
                    used.insert(statement)
                }
                if !send(message.bytes, to: server) { return }
            }
        }
    }

    private func passReplies() {
        var messages = Messages(isTyped: true)
        while messages.receive(from: server) {
            while let message = messages.next() {
                if !isMute.load(ordering: .sequentiallyConsistent) {
                    if !send(message.bytes, to: client) { return }
                } else if message.isReadyOutsideTransaction {
                    return
                }
            }
        }
    }
}

private func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
            send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Splits PostgreSQL's protocol into messages.
private struct Messages {
    struct Message {
        let bytes: ArraySlice<UInt8>
        let type: UInt8?

        /// The prepared statement that a Bind message names.
        var boundStatement: String? {
            guard type == UInt8(ascii: "B") else { return nil }
            let portal = bytes.dropFirst(5)
            let name = portal.drop { $0 != 0 }.dropFirst().prefix { $0 != 0 }
            return String(decoding: name, as: UTF8.self)
        }

        var isReadyOutsideTransaction: Bool {
            type == UInt8(ascii: "Z") && bytes.last == UInt8(ascii: "I")
        }
    }

    /// Whether the next message has a type byte. A client's first message has none.
    private var isTyped: Bool
    private var unread: ArraySlice<UInt8> = []

    init(isTyped: Bool) {
        self.isTyped = isTyped
    }

    mutating func receive(from socket: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        unread = ArraySlice(Array(unread) + chunk.prefix(count))
        return true
    }

    mutating func next() -> Message? {
        let head = isTyped ? 1 : 0
        guard unread.count >= head + 4 else { return nil }
        let length = unread.dropFirst(head).prefix(4).reduce(0) { $0 << 8 | Int($1) } + head
        guard unread.count >= length else { return nil }
        defer {
            unread = unread.dropFirst(length)
            isTyped = true
        }
        return Message(bytes: unread.prefix(length), type: isTyped ? unread.first : nil)
    }
}
