/// Where work is done: each room has its own queue and workers, so that no crowd blocks another.
package enum Room: Sendable, CaseIterable {
    /// For callers with a key.
    case known
    /// For callers without a key whose signer was recently believed.
    case proven
    /// For all others.
    case strangers
}

/// The fate of a body, decided when only the head of its request has arrived.
package enum Admission: Sendable {
    /// It is kept, up to that many bytes, in the memory of that room.
    case body(limit: Int, Room)
    /// It is discarded: this is the answer.
    case refused(Response)
    /// Deciding takes a while; a worker in the strangers' room decides.
    case asking(@Sendable () -> Admission)
}

/// How much each of many holders has at a time, and all together.
struct Shares<Holder: Hashable> {
    private var each: [Holder: Int] = [:]
    private var total = 0

    func held(by holder: Holder) -> Int { each[holder, default: 0] }

    /// Takes some, unless that exceeds the limit of one holder or of all.
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

/// How many connections each address has, and each network.
struct ConnectionShares {
    enum Standing { case fine, closed }
    /// How many connections above an address's limit get an answer; any further one is only closed.
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

    /// A network may have twice as many as one of its addresses.
    func isExcess(_ client: ClientAddress, limit: Int) -> Bool {
        addresses.held(by: client) > limit || networks.held(by: client.network) > 2 * limit
    }

    mutating func dismiss(_ client: ClientAddress) {
        addresses.giveBack(of: client)
        networks.giveBack(of: client.network)
    }
}
