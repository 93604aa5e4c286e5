import Commands
import Core
import JSON
import Service

let keyCommands = [createKeyCommand, listKeysCommand, revokeKeyCommand]

private let createKeyCommand = CommandSpec(
    path: ["key", "create"], summary: "Makes a key to a project and prints it, once.",
    options: [
        .value("role", "ROLE", "reader, backend (reads and submits) or admin", isRequired: true),
        .value("name", "NAME", "a name for the key"), .project,
    ] + Option.database,
    example: "deed key create --role backend --name \"lobby servers\" --json"
) { invocation throws(CommandEnd) in
    guard let role = invocation["role"].flatMap(Role.init(rawValue:)) else {
        throw invocation.usage("--role must be reader, backend or admin")
    }
    let name = invocation["name"] ?? ""
    if !name.isEmpty { let _: Reason = try invocation.id(name, named: "--name") }
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let key = try useCases.fulfil(
            useCases.projects.creatingKey(role, name: name, of: project, by: sender))
        invocation.show(
            [
                "key": .string(key.text), "id": .string(key.key.text),
                "role": .string(key.role.rawValue), "name": .string(key.name),
                "project": .string(project.text),
            ],
            text: key.text)
        // Apart, so that a shell takes the key alone: DEED_KEY=$(deed key create --role reader).
        if !invocation.isJSON {
            printError("The key is shown only this once. Its id is \(key.key).")
        }
    }
}

private let listKeysCommand = CommandSpec(
    path: ["key", "list"], summary: "Lists the keys to a project, without their secrets.",
    options: [.project] + Option.database, onlyReads: true,
    example: "deed key list"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let keys = try obey(useCases.projects.keys(of: project))
        invocation.show(
            ["keys": .array(keys.map(\.json))],
            text: keys.isEmpty
                ? "There is no key yet; make one with: deed key create --role backend"
                : keys.map(\.line).joined(separator: "\n"))
    }
}

private let revokeKeyCommand = CommandSpec(
    path: ["key", "revoke"], summary: "Revokes a key, on every instance within a second.",
    positionals: [Positional(name: "ID", help: "the key's id, as deed key list shows it")],
    options: [.project] + Option.database, example: "deed key revoke k_7m2c0qv3"
) { invocation throws(CommandEnd) in
    let text = invocation.positional(0) ?? ""
    // The text is not repeated in an error, which anyone might read.
    if text.hasPrefix("deed_") {
        throw invocation.usage("that is a key, not its id; deed key list shows the ids")
    }
    let id: KeyID = try invocation.id(text, named: "the key's id")
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let key = try useCases.fulfil(useCases.projects.revokingKey(id, of: project, by: sender))
        invocation.show(key.json, text: key.line)
    }
}

extension Key {
    fileprivate var json: JSON {
        [
            "id": .string(id.text), "role": .string(created.role.rawValue),
            "name": .string(created.name), "created_at": .string(createdAt.text),
            "revoked_at": .optional(revokedAt?.text),
        ]
    }

    fileprivate var line: String {
        let end = revokedAt.map { ", revoked \($0.text)" } ?? ""
        return "\(id)   \(created.role.rawValue.padded(to: 7))   \(created.name)   "
            + "made \(createdAt.text)\(end)"
    }
}
