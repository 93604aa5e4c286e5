package import Core

/// A newly made key: the only time that its text is known.
package struct NewKey: Hashable, Sendable {
    package let text: String
    package let key: KeyID
    package let role: Role
    package let name: String
}

/// Projects and their keys.
package struct Projects: Sendable {
    let ledger: any EventLog
    let credentials: any CredentialKeeper
    let secrets: Secrets

    /// A request to create a project.
    package func creating(_ project: ProjectID, by sender: Sender) -> Wish<Void> {
        let cause = secrets.cause(of: sender, "create_project", [project.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.create(project)
        }
        return Wish(command) { _ in }
    }

    /// The text of a key to be made, for a caller who stores it before the key works.
    package func newKeyText(_ role: Role) -> String {
        "deed_\(role.rawValue)_\(secrets.randomText(bytes: 25))"
    }

    /// A request for a key to a project, with that text if one is given. Only its digest is stored.
    package func creatingKey(
        _ role: Role, text: String? = nil, name: String, of project: ProjectID, by sender: Sender
    ) -> Wish<NewKey> {
        let text = text ?? newKeyText(role)
        let created = KeyCreated(
            key: secrets.newID(prefix: "k_"), role: role, name: name, digest: digest(of: text))
        let cause = secrets.cause(of: sender, "create_key", [created.key.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.add(created, to: project)
        }
        return Wish(command) { _ in
            NewKey(text: text, key: created.key, role: role, name: name)
        }
    }

    /// A request to disable a key.
    package func revokingKey(
        _ key: KeyID, of project: ProjectID, by sender: Sender
    ) -> Wish<Key> {
        let cause = secrets.cause(of: sender, "revoke_key", [key.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, now throws(Refusal) in
            try state.revoke(key, now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            guard let revoked = outcome.state.project?.key(key) else {
                throw .fault(.broken("revoking a key left no key"))
            }
            return revoked
        }
    }

    /// Every key that the project has had, oldest first.
    package func keys(of project: ProjectID) throws(CommandError) -> [Key] {
        try ledger.existing(project).keys
    }

    /// The key with that text, revoked or not; `nil` if the project never had it.
    package func key(_ text: String, in project: ProjectState) -> Key? {
        let digest = digest(of: text)
        return project.keys.first { $0.created.digest == digest }
    }

    private func digest(of text: String) -> String {
        secrets.digest(Array(text.utf8)).hexDigits
    }
}

extension EventLog {
    /// The project now; throws if it does not exist.
    package func existing(_ project: ProjectID) throws(CommandError) -> ProjectState {
        let found = try obtain(self.project(project))
        guard found.exists else { throw .refused(.projectUnknown(project)) }
        return found
    }
}
