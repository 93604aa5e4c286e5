/// In which room something is done: each has a queue and workers of its own, so that no crowd
/// stands in another's way.
package enum Room: Sendable, CaseIterable {
    /// Of those who have a key.
    case known
    /// Of those who have none and whose signer was believed lately.
    case proven
    /// Of all callers.
    case strangers
}

/// What becomes of a body, decided when only the head of its request is there.
package enum Admission: Sendable {
    /// It is kept, up to that many bytes, in the memory of that room.
    case body(limit: Int, Room)
    /// Nothing of it is kept: this is the answer.
    case refused(Response)
    /// Deciding takes a while; a worker in the strangers' room decides.
    case asking(@Sendable () -> Admission)
}

/// What bodies of strangers may take, in all and for each address.
struct StrangersMemory {
    private var total = 0
    private var each: [ClientAddress: Int] = [:]

    /// One address has an eighth of it.
    mutating func reserve(_ bytes: Int, for client: ClientAddress, of limit: Int) -> Bool {
        let own = each[client, default: 0] + bytes
        guard total + bytes <= limit, own <= limit / 8 else { return false }
        total += bytes
        each[client] = own
        return true
    }

    mutating func release(_ bytes: Int, of client: ClientAddress) {
        total -= bytes
        let own = each[client, default: 0] - bytes
        each[client] = own > 0 ? own : nil
    }
}

/// How much of something each address has.
struct AddressShares {
    private var each: [ClientAddress: Int] = [:]

    mutating func take(_ client: ClientAddress, limit: Int) -> Bool {
        let count = each[client, default: 0] + 1
        guard count <= limit else { return false }
        each[client] = count
        return true
    }

    mutating func giveBack(_ client: ClientAddress) {
        let count = each[client, default: 0] - 1
        each[client] = count > 0 ? count : nil
    }

    func count(of client: ClientAddress) -> Int { each[client, default: 0] }
}

/// How many connections each address has, and each network.
struct ConnectionShares {
    enum Standing { case fine, closed }
    /// Connections beyond the limit of an address that get an answer; any further one is only closed.
    private static let headroom = 16
    private var each = AddressShares()
    private var networks: [ClientNetwork: Int] = [:]

    mutating func admit(_ client: ClientAddress, limit: Int) -> Standing {
        guard each.take(client, limit: limit + ConnectionShares.headroom) else { return .closed }
        networks[client.network, default: 0] += 1
        return .fine
    }

    /// A network may have twice what one of its addresses may.
    func isExcess(_ client: ClientAddress, limit: Int) -> Bool {
        each.count(of: client) > limit || networks[client.network, default: 0] > 2 * limit
    }

    mutating func dismiss(_ client: ClientAddress) {
        each.giveBack(client)
        let count = networks[client.network, default: 0] - 1
        networks[client.network] = count > 0 ? count : nil
    }
}
