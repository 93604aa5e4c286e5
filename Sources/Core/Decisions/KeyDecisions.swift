extension ProjectState {
    package static let keyLimit = 1000

    /// Adds a key, which may have an expiration time, to the project.
    package func add(
        _ key: KeyID, _ role: Role, name: String, digest: String, ending end: KeyEnd? = nil,
        only environment: Environment? = nil, to project: ProjectID, now: Instant
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        try requireRoomForKey(now)
        let limits = KeyLimits(
            expires: try end.map { end throws(Refusal) in try end.ahead(of: now) },
            environment: environment)
        return [
            .keyCreated(
                KeyCreated(key: key, role: role, name: name, digest: digest, limits: limits))
        ]
    }

    /// Revokes the key. Does nothing if the key is already revoked.
    package func revoke(
        _ id: KeyID, reason: Reason? = nil, ticket: Ticket? = nil, now: Instant
    ) throws(Refusal) -> [Event] {
        guard let key = key(id) else { throw .keyUnknown(id) }
        if key.revokedAt != nil { return [] }
        return [
            .keyRevoked(
                KeyRevoked(
                    key: id, digest: key.created.digest, at: now, reason: reason, ticket: ticket))
        ]
    }

    /// Replaces a key. The old key keeps working during the overlap; `nil` means the default overlap.
    /// If the caller gives no end for the new key, it expires when the old key would have expired.
    package func rotate(
        _ id: KeyID, to new: KeyID, digest: String, overlap: KeyOverlap?, ending end: KeyEnd? = nil,
        now: Instant
    ) throws(Refusal) -> [Event] {
        guard let key = key(id) else { throw .keyUnknown(id) }
        if let end = key.end(by: now) { throw .key(.over(id, at: end)) }
        if let rotated = key.rotated { throw .key(.rotatedAlready(id, to: rotated.successor)) }
        try requireRoomForKey(now)
        let old = key.created
        var limits = old.limits
        if let end {
            limits.expires = try end.ahead(of: now)
        } else if let expires = old.limits.expires {
            limits.expires = now.advanced(
                byMilliseconds: expires.milliseconds - key.createdAt.milliseconds)
        }
        let last = try (overlap ?? .usual).end(from: now, of: key, isUsual: overlap == nil)
        return [
            .keyCreated(
                KeyCreated(
                    key: new, role: old.role, name: old.name, digest: digest, limits: limits,
                    replacing: id)),
            .keyRotated(
                KeyRotated(key: id, digest: old.digest, successor: new, expires: last)),
        ]
    }

    private func requireRoomForKey(_ now: Instant) throws(Refusal) {
        let live = keys.count { $0.end(by: now) == nil }
        if live >= ProjectState.keyLimit { throw .tooManyKeys(limit: ProjectState.keyLimit) }
    }
}

/// How long a replaced key keeps working.
package enum KeyOverlap: Hashable, Sendable {
    case none
    case lasting(CalendarDuration)

    static let usual = KeyOverlap.lasting(.days(7))

    /// Returns the end of the overlap. A default overlap is cut off at the key's end. Any other overlap must not
    /// exceed that end.
    fileprivate func end(
        from now: Instant, of key: Key, isUsual: Bool
    ) throws(Refusal) -> Instant {
        guard case .lasting(let duration) = self else { return now }
        let end = duration.end(after: now)
        guard let own = key.limits.expires, own < end else {
            if end > Instant.writable.upperBound { throw .key(.endsTooLate) }
            return end
        }
        if !isUsual { throw .key(.overlapBeyondEnd(key.id, end: own)) }
        return own
    }
}

extension KeyEnd {
    fileprivate func ahead(of now: Instant) throws(Refusal) -> Instant {
        let end = instant(from: now)
        if end <= now { throw .key(.endsInThePast(end)) }
        if end > Instant.writable.upperBound { throw .key(.endsTooLate) }
        return end
    }
}
