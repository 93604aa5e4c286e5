import Glibc

/// A client's network address. Only the first 56 bits of an IPv6 address count, because a client on an ordinary
/// internet line can choose the other bits freely.
package struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    /// The bytes in network order. An IPv4 address is stored as an IPv6 one.
    fileprivate let bytes: [UInt8]

    fileprivate static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Parses a header's value, with or without a port; `nil` if the value is not an address.
    package init?(_ text: some StringProtocol) {
        var host = String(text.filter { $0 != " " && $0 != "\t" && $0 != "\"" })
        if host.hasPrefix("["), let end = host.lastIndex(of: "]") {
            host = String(host[host.index(after: host.startIndex)..<end])
        } else if host.filter({ $0 == ":" }).count == 1, let colon = host.firstIndex(of: ":") {
            host = String(host[..<colon])
        }
        guard let whole = ClientAddress.whole(host) else { return nil }
        self.init(whole: whole)
    }

    static let unknown = ClientAddress(whole: [UInt8](repeating: 0, count: 16))

    init(_ address: UnsafePointer<sockaddr>) {
        // The address has the same offset in both families.
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let bytes = UnsafeRawBufferPointer(start: raw + 4, count: 4)
            self.init(whole: ClientAddress.mapped + bytes)
        case AF_INET6:
            let bytes = UnsafeRawBufferPointer(start: raw + 8, count: 16)
            self.init(whole: Array(bytes))
        default: self = .unknown
        }
    }

    private init(whole: [UInt8]) { bytes = whole }

    private static let counted = 7

    package static func == (one: ClientAddress, other: ClientAddress) -> Bool {
        one.bytes.prefix(counted) == other.bytes.prefix(counted)
            && one.isOld == other.isOld && (!one.isOld || one.bytes == other.bytes)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in isOld ? bytes[...] : bytes.prefix(ClientAddress.counted) {
            hasher.combine(byte)
        }
    }

    /// The network to which the address belongs. A single subscriber could control all of its addresses.
    var network: ClientNetwork {
        ClientNetwork(bytes: isOld ? bytes : Array(bytes.prefix(6)))
    }

    fileprivate static func whole(_ host: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, host, &four) == 1 { return mapped + four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, host, &sixteen) == 1 ? sixteen : nil
    }

    /// Whether the client is on this machine.
    var isOnLoopback: Bool {
        isOld ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// Whether this is an IPv4 address.
    fileprivate var isOld: Bool { bytes.starts(with: ClientAddress.mapped) }

    package var description: String {
        if isOld {
            return bytes.suffix(4).map(String.init).joined(separator: ".")
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let start = bytes.prefix(ClientAddress.counted) + [UInt8](repeating: 0, count: 9)
        guard inet_ntop(AF_INET6, Array(start), &text, socklen_t(text.count)) != nil else {
            return "::"
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self) + "/56"
    }
}

/// The first 48 bits of an IPv6 address, or an IPv4 address.
struct ClientNetwork: Hashable, Sendable {
    fileprivate let bytes: [UInt8]
}

/// Proxies that are trusted to name their clients.
package struct TrustedProxies: Sendable {
    private struct Network {
        let bytes: [UInt8]
        let bits: Int

        /// Whether this is an IPv4 network.
        var isOld: Bool { bits >= 96 && bytes.starts(with: ClientAddress.mapped) }
    }
    private let networks: [Network]
    /// The headers in which proxies name their clients. A proxy must not pass on either header as its client wrote it.
    package static let headers: (forwardedFor: StaticString, forwarded: StaticString) = (
        "X-Forwarded-For", "Forwarded"
    )

    package static let none = TrustedProxies(networks: [])
    package var isEmpty: Bool { networks.isEmpty }

    private init(networks: [Network]) { self.networks = networks }

    /// Parses addresses and networks such as `10.0.0.0/8,127.0.0.1`; `nil` if an entry is neither.
    package init?(_ list: String) {
        var networks: [Network] = []
        for entry in list.split(separator: ",", omittingEmptySubsequences: false) {
            let text = entry.filter { $0 != " " }
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let host = parts.first, let bytes = ClientAddress.whole(String(host)) else {
                return nil
            }
            let most = host.contains(":") ? 128 : 32
            var bits = most
            if parts.count == 2 {
                guard let stated = Int(parts[1]), (0...most).contains(stated) else { return nil }
                bits = stated
            }
            networks.append(Network(bytes: bytes, bits: bits + 128 - most))
        }
        self.networks = networks
    }

    package func contains(_ address: ClientAddress) -> Bool {
        networks.contains { network in
            guard address.isOld == network.isOld else { return false }
            return (0..<network.bits).allSatisfy { bit in
                (address.bytes[bit / 8] ^ network.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }
}

/// How a request reached the server, regardless of the server's own TLS.
package enum RequestWay: Hashable, Sendable {
    /// Through a trusted proxy.
    case proxy
    /// From a program on this machine.
    case thisMachine
    /// From another machine.
    case network
}

/// The origin of the requests on one connection.
struct Origin: Sendable {
    let peer: ClientAddress
    let proxies: TrustedProxies
    let isProxy: Bool

    init(_ peer: ClientAddress, _ proxies: TrustedProxies) {
        self.peer = peer
        self.proxies = proxies
        isProxy = proxies.contains(peer)
    }

    /// Returns how a request arrived. A proxy names its client. A request from this machine without a named client came
    /// from another program, even if a proxy runs on this machine.
    func way(isForwarded: Bool) -> RequestWay {
        if isProxy, isForwarded || !peer.isOnLoopback { return .proxy }
        return peer.isOnLoopback ? .thisMachine : .network
    }

    /// Returns the client behind the proxy, according to both headers. A proxy sets one of them and may pass on the
    /// other as written by the client. If they disagree, neither is used.
    func client(forwardedFor: [String], forwarded: [String]) -> ClientAddress {
        guard isProxy else { return peer }
        let stated = [Origin.entries(of: forwardedFor), Origin.hosts(in: forwarded)]
            .filter { !$0.isEmpty }.map(client)
        guard let first = stated.first, stated.allSatisfy({ $0 == first }) else { return peer }
        return first
    }

    /// Returns the client in the last entry, which the proxy itself added. In a chain of proxies, each one names the
    /// one before it.
    private func client(last entries: [String]) -> ClientAddress {
        var client = peer
        for text in entries.reversed() {
            guard let address = ClientAddress(text) else { break }
            client = address
            if !proxies.contains(address) { break }
        }
        return client
    }

    /// Joins the lines of a header into a single list.
    private static func entries(of values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map(String.init)
            .filter { !$0.allSatisfy(\.isWhitespace) }
    }

    /// Returns the `for` values of all elements in `Forwarded`; empty if an element has none.
    private static func hosts(in forwarded: [String]) -> [String] {
        entries(of: forwarded).map { element in
            element.split(separator: ";").lazy.map { $0.drop(while: \.isWhitespace) }
                .first { $0.lowercased().hasPrefix("for=") }.map { String($0.dropFirst(4)) } ?? ""
        }
    }
}
