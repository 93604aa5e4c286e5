import Core
import HTTPServer
import Service
import Synchronization

/// The reader of keys in calls to one surface. It remembers recent keys.
final class KeyDoor: Sendable {
    /// The maximum number of remembered header values.
    private static let limit = 10_000

    private struct Shown {
        var keys: [String: ShownKey] = [:]
        /// The key ring's edition when these keys were read.
        var edition = 0
    }
    /// The minimum number of microseconds between two records of a key's use.
    private static let pause: Int64 = 1_000_000

    private let place: KeyPlace
    let ring: KeyRing
    /// Keys by header value, so that a known key need not be hashed each time.
    private let shown = Mutex(Shown())

    init(_ place: KeyPlace, _ ring: KeyRing) {
        self.place = place
        self.ring = ring
    }

    /// Returns the key in a request. Throws if the request has no key or the key cannot be read.
    func key(of request: borrowing Request) throws(Problem) -> PresentedKey {
        guard try place.counts(in: request) else { throw place.missing() }
        // A connection usually sends the same key as in its previous request, which needs no new
        // lookup.
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

    /// Records the use of a known key, at most once a second. Recording every use would cost more
    /// than the rest of a call answered from memory. Only the hour of the last use is stored.
    func note(_ key: PresentedKey, at microseconds: Int64) {
        guard case .known(let shown) = key else { return }
        if shown.key.limits.expires != nil, shown.key.limits.hasExpired(at: ring.now) { return }
        let noted = shown.noted.load(ordering: .relaxed)
        if microseconds < noted &+ KeyDoor.pause { return }
        shown.noted.store(microseconds, ordering: .relaxed)
        ring.uses.note(shown.key, at: ring.now)
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

    /// Returns the key's current state, read from the database if the key has left memory. The key may have been
    /// revoked while the call waited for a worker.
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

extension KeyDoor {
    func find(
        _ key: PresentedKey, _ failed: FailedKeys, from client: ClientAddress?
    ) throws(Problem) -> LiveKey {
        let found = try ask(find(key))
        guard let found else {
            failed.note(from: client)
            throw .unknownKey
        }
        return found
    }
}

/// A key that was in memory when the request arrived. It is a class, because passing it on costs only one reference
/// count.
final class ShownKey: Sendable {
    fileprivate let value: [UInt8]
    let key: LiveKey
    /// When a use was last recorded, in microseconds on the monotonic clock.
    fileprivate let noted = Atomic<Int64>(.min / 2)
    fileprivate let edition: Int
    fileprivate let door: ObjectIdentifier

    fileprivate init(value: [UInt8], key: LiveKey, edition: Int, door: ObjectIdentifier) {
        self.value = value
        self.key = key
        self.edition = edition
        self.door = door
    }
}

enum PresentedKey: Sendable {
    case known(ShownKey)
    /// The digest of a key that the database may know.
    case other([UInt8])

    var known: LiveKey? { if case .known(let shown) = self { shown.key } else { nil } }
    /// The room in which the caller waits. A caller with an unknown key waits like one without a
    /// key.
    var room: Room { known == nil ? .strangers : .known }
}
