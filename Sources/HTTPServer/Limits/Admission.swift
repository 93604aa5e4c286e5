/// A group of callers with separate workers and a separate queue, so that many callers in one room do not block the
/// other rooms.
package enum Room: Sendable, CaseIterable {
    /// The room for callers with a key.
    case known
    /// The room for callers without a key whose evidence has a recently trusted signer.
    case proven
    /// The room for all other callers.
    case strangers
}

/// The decision about a body, made when the request's head has arrived.
package enum Admission: Sendable {
    /// The body is kept in the room's memory, up to the limit.
    case body(limit: Int, Room)
    /// The body is discarded, and this is the answer.
    case refused(Response)
    /// The decision takes a while, so a worker in the strangers' room makes it.
    case asking(@Sendable () -> Admission)
}

/// The amount that each holder has, and the total of all holders.
struct Shares<Holder: Hashable> {
    private var each: [Holder: Int] = [:]
    private var total = 0

    func held(by holder: Holder) -> Int { each[holder, default: 0] }

    /// Takes an amount for the holder, unless that would exceed the holder's limit or the limit on the total.
    mutating func take(_ amount: Int = 1, for holder: Holder, limit: Int, of most: Int = .max)
        -> Bool
    {
        let own = held(by: holder) + amount
        guard own <= limit, total + amount <= most else { return false }
        each[holder] = own
        total += amount
        return true
    }

    mutating func giveBack(_ amount: Int = 1, of holder: Holder) {
        let own = held(by: holder) - amount
        each[holder] = own > 0 ? own : nil
        total -= amount
    }
}

/// The number of connections from each address and each network.
struct ConnectionShares {
    enum Standing { case fine, closed }
    /// The number of connections above an address's limit that get an answer. Further connections are closed without
    /// one.
    private static let headroom = 16
    private var addresses = Shares<ClientAddress>()
    private var networks = Shares<ClientNetwork>()

    mutating func admit(_ client: ClientAddress, limit: Int) -> Standing {
        guard addresses.take(for: client, limit: limit + ConnectionShares.headroom) else {
            return .closed
        }
        _ = networks.take(for: client.network, limit: .max)
        return .fine
    }

    /// Returns whether the client has too many connections. A network may have twice as many as one address.
    func isExcess(_ client: ClientAddress, limit: Int) -> Bool {
        addresses.held(by: client) > limit || networks.held(by: client.network) > 2 * limit
    }

    mutating func dismiss(_ client: ClientAddress) {
        addresses.giveBack(of: client)
        networks.giveBack(of: client.network)
    }
}
