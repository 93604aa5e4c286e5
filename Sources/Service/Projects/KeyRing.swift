package import Core

/// The keys to projects, looked up by digest in memory.
///
/// A missing key may be brand-new: the ring is read again, but only a few times a second, so that
/// unknown keys cannot be used to load the database.
package final class KeyRing: Sendable {
    private let keys: Refreshing<[[UInt8]: LiveKey]>
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
        keys = Refreshing([:]) { () throws(Fault) in
            Dictionary(try ports.directory.liveKeys().map { ($0.digest, $0) }) { first, _ in first }
        }
    }

    /// The digest that identifies a key.
    package func digest(of text: String) -> [UInt8] { ports.secrets.digest(Array(text.utf8)) }

    /// The key with this digest; looks in the database if memory does not know it.
    package func find(_ digest: [UInt8]) throws(Fault) -> LiveKey? {
        try keys.find(at: ports.machineClock()) { $0[digest] }
    }

    /// How often the ring was read.
    package var edition: Int { keys.edition }

    /// The key with this digest if memory knows it, and the edition of that memory.
    package func known(_ digest: [UInt8]) -> (key: LiveKey, edition: Int)? {
        keys.known { $0[digest] }.map { ($0.found, $0.edition) }
    }

    /// Reads every live key.
    package func reload() throws(Fault) { try keys.reload() }
}
