package import Core

/// The keys of all projects, kept in memory and looked up by digest. Some of them may have expired.
///
/// A missing key may be brand-new, so the ring is read again. This happens only a few times a second, so that unknown
/// keys cannot overload the database.
package final class KeyRing: Sendable {
    private let keys: Refreshing<[[UInt8]: LiveKey]>
    private let secrets: Secrets
    private let clock: @Sendable () -> Instant
    private let machineClock: @Sendable () -> Instant
    /// When the keys were used.
    package let uses: KeyUses
    /// The refused calls that were made with people's keys.
    package let refusals: RefusedCalls

    package init(_ ports: Ports) {
        (secrets, clock, machineClock) = (ports.secrets, ports.now, ports.machineClock)
        uses = KeyUses(ports.keyUsing)
        refusals = RefusedCalls(ports)
        keys = Refreshing([:]) { [directory = ports.directory] () throws(Fault) in
            Dictionary(try directory.liveKeys().map { ($0.digest, $0) }) { first, _ in first }
        }
    }

    /// Returns the digest that identifies a key.
    package func digest(of text: String) -> [UInt8] { secrets.digest(Array(text.utf8)) }

    /// Returns the key with this digest. If it is not in memory, reads the database.
    package func find(_ digest: [UInt8]) throws(Fault) -> LiveKey? {
        try keys.find(at: machineClock()) { $0[digest] }
    }

    /// How many times the ring has been read.
    package var edition: Int { keys.edition }

    /// Returns the key with this digest, if it is in memory, and the edition of the keys in memory.
    package func known(_ digest: [UInt8]) -> (key: LiveKey, edition: Int)? {
        keys.known { $0[digest] }.map { ($0.found, $0.edition) }
    }

    /// The instant at which the ring checks whether keys have expired.
    package var now: Instant { clock() }

    /// Reads all live keys.
    package func reload() throws(Fault) { try keys.reload() }
}
