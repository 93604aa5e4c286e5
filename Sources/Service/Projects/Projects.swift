package import Core

/// A new key. Its text cannot be retrieved again.
package struct NewKey: Hashable, Sendable {
    package let text: String
    package let key: KeyID
    package let role: Role
    package let name: String
    package var limits = KeyLimits()
}

/// Manages projects and their keys.
package struct Projects: Sendable {
    let ledger: any EventLog
    let credentials: any CredentialKeeper
    let secrets: Secrets

    package func creating(_ project: ProjectID, by sender: Sender) -> Wish<Void> {
        let cause = secrets.cause(of: sender, "create_project", [project.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.create(project)
        }
        return Wish(command) { _ in }
    }

    /// Returns the text of a new key, for callers who store it before the key takes effect.
    package func newKeyText(_ role: Role) -> String {
        "deed_\(role.rawValue)_\(secrets.randomText(bytes: 25))"
    }

    /// Returns a request for a new key, with this text if given. Only the key's digest is stored.
    package func creatingKey(
        _ role: Role, text: String? = nil, name: String, ending end: KeyEnd? = nil,
        only environment: Environment? = nil, of project: ProjectID, by sender: Sender
    ) -> Wish<NewKey> {
        let text = text ?? newKeyText(role)
        let (key, digest): (KeyID, String) = (secrets.newID(prefix: "k_"), digest(of: text))
        let cause = secrets.cause(of: sender, "create_key", [key.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, now throws(Refusal) in
            try state.add(
                key, role, name: name, digest: digest, ending: end, only: environment, to: project,
                now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            NewKey(text, try outcome.key(key))
        }
    }

    /// Returns a request to replace a key. The old key keeps working during the overlap.
    package func rotatingKey(
        _ key: KeyID, overlap: KeyOverlap?, ending end: KeyEnd? = nil, of project: ProjectID,
        by sender: Sender
    ) -> Wish<RotatedKey> {
        .look { () throws(CommandError) in
            // The old key must be known, because the new key's text begins with its role.
            guard let old = try ledger.existing(project).key(key) else {
                throw .refused(.keyUnknown(key))
            }
            let text = newKeyText(old.created.role)
            let (new, digest): (KeyID, String) = (secrets.newID(prefix: "k_"), digest(of: text))
            let cause = secrets.cause(of: sender, "rotate_key", [key.text, new.text])
            let command = Command.project(project, actor: sender.actor, cause: cause) {
                state, now throws(Refusal) in
                try state.rotate(
                    key, to: new, digest: digest, overlap: overlap, ending: end, now: now)
            }
            return Wish(command) { outcome throws(CommandError) in
                RotatedKey(
                    new: NewKey(text, try outcome.key(new)), old: try outcome.key(key))
            }
        }
    }

    package func revokingKey(
        _ key: KeyID, _ why: AdminReason? = nil, of project: ProjectID, by sender: Sender
    ) -> Wish<Key> {
        let cause = secrets.cause(
            of: sender, "revoke_key",
            [key.text] + (why.map { [$0.reason.text, $0.ticket?.text] } ?? []))
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, now throws(Refusal) in
            try state.revoke(key, reason: why?.reason, ticket: why?.ticket, now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            try outcome.key(key)
        }
    }

    /// Returns the key with that text, even if it has been revoked; `nil` if no key has it.
    package func key(_ text: String, in project: ProjectState) -> Key? {
        let digest = digest(of: text)
        return project.keys.first { $0.created.digest == digest }
    }

    private func digest(of text: String) -> String {
        secrets.digest(Array(text.utf8)).hexDigits
    }
}

extension EventLog {
    /// Returns the current state of the project. Throws if the project does not exist.
    package func existing(_ project: ProjectID) throws(CommandError) -> ProjectState {
        let found = try obtain(self.project(project))
        guard found.exists else { throw .refused(.projectUnknown(project)) }
        return found
    }
}
