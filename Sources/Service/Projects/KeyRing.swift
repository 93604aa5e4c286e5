package import Core

/// The keys that open projects, looked up by digest in memory.
///
/// A missing key may have been made a moment ago: the ring is read again, but only a few
/// times a second, so that unknown keys cannot be used to load the database.
package final class KeyRing: Sendable {
    private let keys: Refreshing<[[UInt8]: LiveKey]>
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
        keys = Refreshing([:]) { () throws(Fault) in
            Dictionary(try ports.directory.liveKeys().map { ($0.digest, $0) }) { first, _ in first }
        }
    }

    /// By what a key is known.
    package func digest(of text: String) -> [UInt8] { ports.secrets.digest(Array(text.utf8)) }

    /// The key with this digest, after a look into the database when it is not known in memory.
    package func find(_ digest: [UInt8]) throws(Fault) -> LiveKey? {
        try keys.find(at: ports.machineClock()) { $0[digest] }
    }

    /// How often the ring was read.
    package var edition: Int { keys.edition }

    /// The key with this digest as far as memory knows it, and the edition of that memory.
    package func known(_ digest: [UInt8]) -> (key: LiveKey, edition: Int)? {
        keys.known { $0[digest] }.map { ($0.found, $0.edition) }
    }

    /// Reads every live key.
    package func reload() throws(Fault) { try keys.reload() }
}
