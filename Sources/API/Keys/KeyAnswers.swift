package import Core
package import JSON
package import Service

extension KeyListAnswer {
    /// The answer to `GET /v1/keys`.
    package var json: JSON {
        [
            "project": .string(project.text), "at": .instant(at),
            "keys": .array(keys.map { $0.json(at: at) }), "next": .optional(next?.text),
        ]
    }
}

extension ListedKey {
    func json(at now: Instant) -> JSON {
        key.json(at: now).with("last_used_at", .instant(lastUsed))
    }
}

extension Key {
    package func json(at now: Instant) -> JSON {
        [
            "id": .string(id.text), "role": .string(created.role.rawValue),
            "name": .string(created.name), "state": .string(state(at: now)),
            "environment": .optional(limits.environment?.rawValue),
            "created_at": .instant(createdAt), "expires_at": .instant(limits.expires),
            "revoked_at": .instant(revokedAt), "replaces": .optional(created.replaced?.text),
            "replaced_by": .optional(rotated?.successor.text),
        ]
    }

    private func state(at now: Instant) -> String {
        if revokedAt != nil { return "revoked" }
        return limits.hasExpired(at: now) ? "expired" : "live"
    }
}
