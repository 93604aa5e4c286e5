/// A key to a project.
package struct Key: Hashable, Sendable {
    /// How long an expired key is reported as expired, in milliseconds. After that it counts as unknown.
    package static let expiredFor: Int64 = 90 * CivilDate.millisecondsPerDay

    package let created: KeyCreated
    package let createdAt: Instant
    package internal(set) var revokedAt: Instant?
    package internal(set) var rotated: KeyRotated?

    package var id: KeyID { created.key }

    /// The limits in effect. A rotation may have set an earlier end.
    package var limits: KeyLimits {
        var limits = created.limits
        if let rotated { limits.expires = min(rotated.expires, limits.expires ?? rotated.expires) }
        return limits
    }

    /// Returns when the key stopped giving access to the project; `nil` if it still does.
    package func end(by now: Instant) -> Instant? {
        let limits = limits
        let expired = limits.hasExpired(at: now) ? limits.expires : nil
        guard let revokedAt else { return expired }
        return min(revokedAt, expired ?? revokedAt)
    }
}

/// When a new key stops giving access to the project.
package enum KeyEnd: Hashable, Sendable {
    case at(Instant)
    case after(CalendarDuration)

    func instant(from now: Instant) -> Instant {
        switch self {
        case .at(let instant): instant
        case .after(let duration): duration.end(after: now)
        }
    }
}

extension ProjectState {
    private static let keyPrefix = "key:"

    /// Returns the name of an actor's key; `nil` for unnamed keys and other actors.
    package func name(of actor: Actor) -> String? {
        guard actor.text.utf8.starts(with: ProjectState.keyPrefix.utf8),
            let id = try? KeyID(String(actor.text.dropFirst(ProjectState.keyPrefix.count))),
            let name = key(id)?.created.name
        else { return nil }
        return name.isEmpty ? nil : name
    }

    /// Returns the names of these actors. Actors without a name are left out.
    package func names(of actors: some Sequence<Actor>) -> [Actor: String] {
        var names: [Actor: String] = [:]
        for actor in Set(actors) { names[actor] = name(of: actor) }
        return names
    }
}

/// The hour in which a key was used.
package struct KeyUse: Hashable, Sendable {
    /// The length of an hour in milliseconds.
    package static let grain: Int64 = 3_600_000

    package let project: ProjectID
    package let key: KeyID
    package let at: Instant

    /// Creates a use from values read from the database.
    package init(project: ProjectID, key: KeyID, at: Instant) {
        self.project = project
        self.key = key
        self.at = at
    }

    package init(of key: LiveKey, at now: Instant) {
        let hour = now.milliseconds.flooredQuotient(by: KeyUse.grain)
        self.init(
            project: key.project, key: key.key, at: Instant(milliseconds: hour * KeyUse.grain))
    }
}
