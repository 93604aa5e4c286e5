import Core
import HTTPServer
import Service
import Synchronization

/// Where the calls of one surface carry their keys, and which keys came recently.
final class KeyDoor: Sendable {
    /// How many header values are remembered.
    private static let limit = 10_000

    private struct Shown {
        var keys: [String: ShownKey] = [:]
        /// The ring's edition when they were remembered.
        var edition = 0
    }
    private let place: KeyPlace
    private let ring: KeyRing
    /// Keys by the header's value, so that a known key is not hashed each time.
    private let shown = Mutex(Shown())

    init(_ place: KeyPlace, _ ring: KeyRing) {
        self.place = place
        self.ring = ring
    }

    /// The key of a request. Throws if it has none, or none that can be read.
    func key(of request: borrowing Request) throws(Problem) -> PresentedKey {
        guard try place.counts(in: request) else { throw place.missing() }
        // A connection most likely sends the same key as before.
        if let shown = request.memo?.content as? ShownKey, isCurrent(shown),
            request.hasOne(place.header, shown.value)
        {
            return .known(shown)
        }
        guard let value = try request.single(place.header) else { throw place.missing() }
        guard let text = place.key(in: value) else { throw place.missing(in: value) }
        if let shown = shown.withLock({ $0.keys[value] }), isCurrent(shown) {
            request.memo?.content = shown
            return .known(shown)
        }
        let digest = ring.digest(of: text)
        guard let known = ring.known(digest) else { return .other(digest) }
        let shown = remember(known.key, known.edition, as: value)
        request.memo?.content = shown
        return .known(shown)
    }

    private func remember(_ key: LiveKey, _ edition: Int, as value: String) -> ShownKey {
        let new = ShownKey(
            value: Array(value.utf8), key: key, edition: edition, door: ObjectIdentifier(self))
        shown.withLock { shown in
            if shown.edition != edition || shown.keys.count >= KeyDoor.limit { shown.keys = [:] }
            shown.edition = edition
            shown.keys[value] = new
        }
        return new
    }

    /// The key's current state, looked up in the database if memory has dropped it: the key may have
    /// been revoked while the call waited for a worker.
    func find(_ key: PresentedKey) throws(Fault) -> LiveKey? {
        switch key {
        case .known(let shown):
            return isCurrent(shown) ? shown.key : try ring.find(shown.key.digest)
        case .other(let digest): return try ring.find(digest)
        }
    }

    private func isCurrent(_ key: ShownKey) -> Bool {
        key.door == ObjectIdentifier(self) && key.edition == ring.edition
    }
}

/// A key that was in memory when it came. A class, so that passing it on costs one reference count.
final class ShownKey: Sendable {
    /// The header's value.
    fileprivate let value: [UInt8]
    let key: LiveKey
    fileprivate let edition: Int
    fileprivate let door: ObjectIdentifier

    fileprivate init(value: [UInt8], key: LiveKey, edition: Int, door: ObjectIdentifier) {
        self.value = value
        self.key = key
        self.edition = edition
        self.door = door
    }
}

/// The key of a request.
enum PresentedKey: Sendable {
    case known(ShownKey)
    /// The digest of a key that the database may know.
    case other([UInt8])

    var known: LiveKey? { if case .known(let shown) = self { shown.key } else { nil } }
    /// A caller whose key is still unknown waits with callers who have none.
    var room: Room { known == nil ? .strangers : .known }
}
