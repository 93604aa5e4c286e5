import API
import Commands
import Core
import JSON
import Service

let keyCommands = [createKeyCommand, listKeysCommand, rotateKeyCommand, revokeKeyCommand]

private let expires = Option.value(
    "expires", "INSTANT|DURATION", "when the key expires: 2027-01-01T00:00:00Z, P90D")
private let keyPositional = Positional(
    name: "ID", help: "the key's id, as deed key list shows it")

private let createKeyCommand = CommandSpec(
    path: ["key", "create"], summary: "Creates a key for a project and prints it once.",
    options: [
        .value(
            "role", "ROLE", "reader, support, backend (reads and submits) or admin",
            isRequired: true),
        .value("name", "NAME", "a name for the key, shown next to its id"), expires,
        .value(
            "environment", "NAME",
            "the only environment that the key may use: production or sandbox"),
        .project,
    ] + Option.database,
    example: "deed key create --role backend --name \"lobby servers\" --expires P90D --json"
) { invocation throws(CommandEnd) in
    guard let role = invocation["role"].flatMap(Role.init(rawValue:)) else {
        throw invocation.usage("--role must be reader, support, backend or admin")
    }
    let name = invocation["name"] ?? ""
    if !name.isEmpty { let _: Reason = try invocation.id(name, named: "--name") }
    let end = try invocation.keyEnd()
    let environment: Environment? = try invocation.word("environment")
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let key = try useCases.fulfil(
            useCases.projects.creatingKey(
                role, name: name, ending: end, only: environment, of: project, by: sender))
        invocation.show(key, of: project)
    }
}

private let listKeysCommand = CommandSpec(
    path: ["key", "list"],
    summary: "Lists a project's keys, without their secrets, and when each key was last used.",
    options: [.project] + Option.database, onlyReads: true,
    example: "deed key list"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let answer = try obey(useCases.keyLists.list(of: project))
        invocation.show(
            answer.json,
            text: answer.keys.isEmpty
                ? "There is no key yet; create one with: deed key create --role backend"
                : answer.keys.map { $0.line(at: answer.at) }.joined(separator: "\n"))
    }
}

private let rotateKeyCommand = CommandSpec(
    path: ["key", "rotate"],
    summary: "Replaces a key: creates a new one, prints it once, and sets an end for the old one.",
    positionals: [keyPositional],
    options: [
        .value("overlap", "DURATION", "how long the old key still works: P7D (the default), none"),
        expires, .project,
    ] + Option.database,
    example: "deed key rotate k_7m2c0qv3 --overlap P7D"
) { invocation throws(CommandEnd) in
    let id = try invocation.keyID()
    let overlap = try invocation.keyOverlap()
    let end = try invocation.keyEnd()
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let rotated = try useCases.fulfil(
            useCases.projects.rotatingKey(
                id, overlap: overlap, ending: end, of: project, by: sender))
        invocation.show(rotated.new, of: project, inPlaceOf: rotated.old)
    }
}

private let revokeKeyCommand = CommandSpec(
    path: ["key", "revoke"], summary: "Revokes a key, on every instance within a second.",
    positionals: [keyPositional],
    options: [.project] + Option.database, example: "deed key revoke k_7m2c0qv3"
) { invocation throws(CommandEnd) in
    let id = try invocation.keyID()
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let key = try useCases.fulfil(useCases.projects.revokingKey(id, of: project, by: sender))
        let now = useCases.ports.now()
        invocation.show(key.json(at: now), text: key.line(at: now))
    }
}

extension Invocation {
    fileprivate func keyID() throws(CommandEnd) -> KeyID {
        let text = positional(0) ?? ""
        // The error does not repeat the key, because other people may see the error.
        if text.hasPrefix("deed_") {
            throw usage("that is a key, not its id; deed key list shows the ids")
        }
        return try id(text, named: "the key's id")
    }

    fileprivate func keyEnd() throws(CommandEnd) -> KeyEnd? {
        guard let text = self["expires"] else { return nil }
        if let duration = CalendarDuration(text) { return .after(duration) }
        if let instant = Instant(text: text) { return .at(instant) }
        throw usage("--expires takes an instant like 2027-01-01T00:00:00Z, or a duration like P90D")
    }

    fileprivate func keyOverlap() throws(CommandEnd) -> KeyOverlap? {
        guard let text = self["overlap"] else { return nil }
        if text == "none" { return KeyOverlap.none }
        guard let duration = CalendarDuration(text) else {
            throw usage("--overlap takes a duration longer than zero, like P7D, or none")
        }
        return .lasting(duration)
    }

    /// Prints a new key. Deed never shows it again.
    fileprivate func show(_ new: NewKey, of project: ProjectID, inPlaceOf old: Key? = nil) {
        let json: JSON = [
            "key": .string(new.text), "id": .string(new.key.text),
            "role": .string(new.role.rawValue), "name": .string(new.name),
            "project": .string(project.text),
        ]
        let limits = new.limits
        let limited = json.with("environment", limits.environment.map { .string($0.rawValue) })
            .with("expires_at", limits.expires.map { .string($0.text) })
        show(
            limited.with("replaces", old.map { .string($0.id.text) })
                .with("overlap_until", old.flatMap(\.limits.expires).map { .string($0.text) }),
            text: new.text)
        if isJSON { return }
        // Uses standard error, so that standard output contains only the key: DEED_KEY=$(deed key create --role reader)
        let end = limits.expires.map { " The key expires at \($0.text)." } ?? ""
        printError("The key is shown only this once. Its id is \(new.key).\(end)")
        if let old, let last = old.limits.expires {
            printError("The key \(old.id), which it replaces, expires at \(last.text).")
        }
    }
}

extension ListedKey {
    fileprivate func line(at now: Instant) -> String {
        let use = lastUsed.map { "last used in the hour from \($0.text)" } ?? "never used"
        return "\(key.line(at: now))   \(use)"
    }
}

extension Key {
    fileprivate func line(at now: Instant) -> String {
        let place = limits.environment.map { ", for \($0.rawValue) alone" } ?? ""
        let expiry = limits.expires.map {
            limits.hasExpired(at: now) ? ", ended \($0.text)" : ", ends \($0.text)"
        }
        let end = revokedAt.map { ", revoked \($0.text)" } ?? expiry ?? ""
        let successor = rotated.map { ", replaced by \($0.successor)" } ?? ""
        return "\(id)   \(created.role.rawValue.padded(to: 7))   \(created.name)   "
            + "made \(createdAt.text)\(place)\(end)\(successor)"
    }
}
