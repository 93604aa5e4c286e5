import CCurl
import Glibc

/// An IPv4 or IPv6 address, stored in 4 or 16 bytes.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses a numeric address; `nil` for anything else.
    package init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A range of addresses that start with the same bits, such as `10.0.0.0/8`.
package struct NetworkRange: Hashable, Sendable {
    private let start: NetworkAddress
    private let bits: Int

    /// Parses a numeric address, with or without a prefix length; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = NetworkAddress(String(parts.first ?? "")) else { return nil }
        let longest = start.bytes.count * 8
        var bits = longest
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...longest).contains(given) else { return nil }
            bits = given
        }
        self.start = start
        self.bits = bits
    }

    func contains(_ address: NetworkAddress) -> Bool {
        if address.bytes.count != start.bytes.count { return false }
        for place in 0..<start.bytes.count where place * 8 < bits {
            let shift = max(0, 8 - (bits - place * 8))
            if address.bytes[place] >> UInt8(shift) != start.bytes[place] >> UInt8(shift) {
                return false
            }
        }
        return true
    }
}

/// The addresses that requests may reach: public ones, and any that the operator allowed.
package struct AddressRules: Sendable {
    package let opened: [NetworkRange]

    package init(opened: [NetworkRange] = []) {
        self.opened = opened
    }

    /// Parses a list such as `10.0.0.0/8,127.0.0.1`; `nil` if any entry is invalid.
    package init?(_ text: String) {
        var opened: [NetworkRange] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = NetworkRange(String(part.drop { $0 == " " })) else { return nil }
            opened.append(range)
        }
        self.init(opened: opened)
    }

    package func isOpened(_ address: NetworkAddress) -> Bool {
        opened.contains { $0.contains(address) }
            || address.embedded.contains { inner in opened.contains { $0.contains(inner) } }
    }

    package func allow(_ address: NetworkAddress) -> Bool {
        if isOpened(address) { return true }
        return !AddressRules.closed.contains { $0.contains(address) }
            && !address.embedded.contains { inner in
                AddressRules.closed.contains { $0.contains(inner) }
            }
    }

    /// Returns whether requests to this host name are allowed. Only a lookup shows the name's addresses.
    package func allow(host: String) -> Bool {
        let names = host.lowercased() == "localhost" ? ["127.0.0.1", "::1"] : [host]
        return names.contains { NetworkAddress($0).map(allow) ?? true }
    }

    /// Addresses that public servers never have, from IANA's special-purpose registries.
    private static let closed: [NetworkRange] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32",
        "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { NetworkRange($0) }
}

extension NetworkAddress {
    /// The IPv4 addresses embedded in an IPv6 address: mapped, compatible, NAT64 and 6to4.
    fileprivate var embedded: [NetworkAddress] {
        if bytes.count != 16 { return [] }
        let zeros = bytes.prefix(10).allSatisfy { $0 == 0 }
        let isMapped = zeros && bytes[10] == bytes[11] && [0, 0xFF].contains(bytes[10])
        let isTranslated =
            bytes.prefix(4).elementsEqual([0, 0x64, 0xFF, 0x9B])
            && bytes[4..<12].allSatisfy { $0 == 0 }
        let isTunnelled = bytes.prefix(2).elementsEqual([0x20, 0x02])
        var found: [NetworkAddress] = []
        if isMapped || isTranslated { found.append(NetworkAddress(Array(bytes[12...]))) }
        if isTunnelled { found.append(NetworkAddress(Array(bytes[2..<6]))) }
        return found
    }
}

/// A function that looks up a host's addresses.
package typealias Resolve = @Sendable (_ host: String) -> [NetworkAddress]

/// Returns the addresses that the system finds for a name, or none. The lookup may take some time.
package func systemAddresses(of host: String) -> [NetworkAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [NetworkAddress] = []
    var next = list
    while let entry = next?.pointee {
        if let address = entry.ai_addr.flatMap({ NetworkAddress(at: $0) }) { found.append(address) }
        next = entry.ai_next
    }
    return found
}

extension NetworkAddress {
    /// Reads the address; `nil` if it belongs to another family.
    init?(at address: UnsafePointer<sockaddr>) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = http_address(address, &bytes)
        if count == 0 { return nil }
        self.init(Array(bytes.prefix(Int(count))))
    }

    /// The address for which curl is about to open a socket.
    init?(at address: UnsafePointer<curl_sockaddr>) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = http_socket_address(address, &bytes)
        if count == 0 { return nil }
        self.init(Array(bytes.prefix(Int(count))))
    }
}
