package import Core

/// A new key, together with the key that it replaces.
package struct RotatedKey: Sendable {
    package let new: NewKey
    package let old: Key
}

/// A key as shown in lists.
package struct ListedKey: Sendable {
    package let key: Key
    /// `nil` if the key has never been used.
    package let lastUsed: Instant?
    package var successor: KeyID? { key.rotated?.successor }
}

/// Some keys of a project, oldest first.
package struct KeyListAnswer: Sendable {
    package let project: ProjectID
    /// The instant at which keys count as valid or expired.
    package let at: Instant
    package let keys: [ListedKey]
    /// The last key of the page; `nil` if this is the last page.
    package let next: KeyID?
}

/// Stores when keys were used.
package protocol KeyUsing: Sendable {
    /// Records each use, unless a later one is already known.
    func note(_ uses: [KeyUse]) throws(Fault)
    func uses(ofKeysOf project: ProjectID) throws(Fault) -> [KeyUse]
}

/// Lists the keys of a project, without their secrets.
package struct KeyLists: Sendable {
    let ledger: any EventLog
    let using: any KeyUsing
    let now: @Sendable () -> Instant

    /// Returns one key of the project, revoked or not.
    package func key(
        _ id: KeyID, of project: ProjectID
    ) throws(CommandError) -> (key: ListedKey, at: Instant) {
        guard let key = try ledger.existing(project).key(id) else {
            throw .refused(.keyUnknown(id))
        }
        let uses = try obtain(using.uses(ofKeysOf: project))
        return (ListedKey(key: key, lastUsed: uses.filter { $0.key == id }.map(\.at).max()), now())
    }

    /// Returns up to `limit` of the keys that the project has ever had, starting after `last`.
    package func list(
        of project: ProjectID, after last: KeyID? = nil, limit: Int = .max
    ) throws(CommandError) -> KeyListAnswer {
        let keys = try ledger.existing(project).keys
        var rest = keys[...]
        if let last {
            guard let place = keys.firstIndex(where: { $0.id == last }) else {
                throw .refused(.keyUnknown(last))
            }
            rest = keys[(place + 1)...]
        }
        let page = rest.prefix(limit)
        let uses = try obtain(using.uses(ofKeysOf: project))
        let used = Dictionary(uses.map { ($0.key, $0.at) }, uniquingKeysWith: max)
        return KeyListAnswer(
            project: project, at: now(),
            keys: page.map { ListedKey(key: $0, lastUsed: used[$0.id]) },
            next: page.count < rest.count ? page.last?.id : nil)
    }
}

extension NewKey {
    init(_ text: String, _ key: Key) {
        self.init(
            text: text, key: key.id, role: key.created.role, name: key.created.name,
            limits: key.limits)
    }
}

extension Outcome {
    /// Returns the current state of a key that this call has just changed.
    func key(_ id: KeyID) throws(CommandError) -> Key {
        guard let key = state.project?.key(id) else {
            throw .fault(.broken("changing a key returned no key"))
        }
        return key
    }
}
