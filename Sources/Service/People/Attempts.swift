import Core
import Synchronization

/// Limits how often passwords and codes are tried.
struct Attempts: Sendable {
    /// The number of attempts from one address is small, so that passwords cannot be guessed. The
    /// total number is larger, so that an attacker can hardly lock a person out.
    private static let ofPersonFromAddress: Int64 = 10
    private static let ofPerson: Int64 = 100
    private static let ofAddress: Int64 = 50
    /// The limit for codes is low, because a code is short. Only people who know the password get to try one.
    private static let ofCode: Int64 = 10
    private static let life: Int64 = 15 * 60_000

    let passwords: any PasswordKeeping
    let secrets: Secrets
    private let exceeded = ExceededPlaces()

    /// Whether an address is known to have made too many attempts. Neither counts an attempt nor
    /// asks the database.
    func isExceeded(_ address: String, at now: Instant) -> Bool {
        exceeded.contains(address, at: now)
    }

    /// Counts an attempt to sign in with a name from an address. Returns false if there were too
    /// many.
    func permit(_ name: [UInt8], from address: String, at now: Instant) throws(Fault) -> Bool {
        // Stops at the first limit that is exceeded, so that the later counters stay the same.
        let here = try count(Tried(digest: digest("address \(address)")), now)
        if here.count > Attempts.ofAddress {
            let end = here.since.advanced(byMilliseconds: Attempts.life)
            exceeded.add(address, until: end, at: now)
            return false
        }
        guard try isWithin(Attempts.ofPersonFromAddress, fromHere(name, address), now) else {
            return false
        }
        return try isWithin(Attempts.ofPerson, Tried(digest: name), now)
    }

    /// Counts an attempt to enter a code for the person with this name. Returns false if there were
    /// too many.
    func permitCode(_ name: [UInt8], at now: Instant) throws(Fault) -> Bool {
        try isWithin(Attempts.ofCode, code(name), now)
    }

    /// Forgets the attempts of a person who has signed in.
    func forget(_ name: [UInt8], from address: String) throws(Fault) {
        try passwords.forgetTries(of: fromHere(name, address).digest)
        try passwords.forgetTries(of: code(name).digest)
    }

    private func fromHere(_ name: [UInt8], _ address: String) -> Tried {
        Tried(digest: digest("\(name.hexDigits) from \(address)"), name: name)
    }

    private func code(_ name: [UInt8]) -> Tried {
        Tried(digest: digest("code \(name.hexDigits)"), name: name)
    }

    private func digest(_ text: String) -> [UInt8] { secrets.digest(Array(text.utf8)) }

    private func isWithin(_ limit: Int64, _ tried: Tried, _ now: Instant) throws(Fault) -> Bool {
        try count(tried, now).count <= limit
    }

    private func count(_ tried: Tried, _ now: Instant) throws(Fault) -> Tries {
        try passwords.countTries(
            of: tried, at: now, since: now.advanced(byMilliseconds: -Attempts.life))
    }
}

/// Addresses that have made too many attempts, until their attempts no longer count.
private final class ExceededPlaces: Sendable {
    /// The maximum number of addresses. The database refuses any others.
    private static let limit = 10_000

    private let ends = Mutex<[String: Instant]>([:])

    func contains(_ address: String, at now: Instant) -> Bool {
        ends.withLock { ends in ends[address].map { now <= $0 } ?? false }
    }

    func add(_ address: String, until end: Instant, at now: Instant) {
        ends.withLock { ends in
            if ends.count >= ExceededPlaces.limit { ends = ends.filter { now <= $0.value } }
            if ends.count < ExceededPlaces.limit { ends[address] = end }
        }
    }
}

extension Secrets {
    /// Returns the digest under which attempts to sign in with a name are counted.
    func triedName(_ email: String) -> [UInt8] {
        digest(Array("person \(email.lowercased())".utf8))
    }
}

/// Compares two digests or codes in constant time: only their lengths influence how long it takes.
func fits(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    if one.count != other.count { return false }
    var difference: UInt8 = 0
    for place in one.indices { difference |= one[place] ^ other[place] }
    return difference == 0
}
