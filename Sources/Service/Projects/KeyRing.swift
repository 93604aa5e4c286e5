package import Core
import Synchronization

/// The keys that open projects, looked up by digest in memory.
///
/// A missing key may have been made a moment ago: the ring is read again, but only a few
/// times a second, so that unknown keys cannot be used to load the database.
package final class KeyRing: Sendable {
    private let keys = Mutex<[[UInt8]: LiveKey]>([:])
    private let reads = Atomic(0)
    private let refreshing = Refreshing()
    /// Held while the keys are read: of two reads the later one is kept.
    private let reading = Mutex(())
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
    }

    /// By what a key is known.
    package func digest(of text: String) -> [UInt8] { ports.secrets.digest(Array(text.utf8)) }

    /// The key with this digest, after a look into the database when it is not known in memory.
    package func find(_ digest: [UInt8]) throws(Fault) -> LiveKey? {
        try refreshing.find(at: ports.machineClock(), { known(digest)?.key }) { () throws(Fault) in
            try reload()
        }
    }

    /// How often the ring was read.
    package var edition: Int { reads.load(ordering: .acquiring) }

    /// The key with this digest as far as memory knows it, and the edition of that memory.
    package func known(_ digest: [UInt8]) -> (key: LiveKey, edition: Int)? {
        keys.withLock { keys in
            keys[digest].map { ($0, reads.load(ordering: .relaxed)) }
        }
    }

    /// Reads every live key.
    package func reload() throws(Fault) {
        try reading.withLock { _ throws(Fault) in
            let live = try ports.directory.liveKeys()
            let found = Dictionary(live.map { ($0.digest, $0) }) { first, _ in first }
            keys.withLock { keys in
                keys = found
                reads.add(1, ordering: .releasing)
            }
        }
    }
}
