import Commands
import Core
import JSON
import Service

let personCommands = [
    createPersonCommand, listPeopleCommand, setPersonCommand, resetPersonCommand, endPersonCommand,
    removePersonCommand,
]

extension Option {
    fileprivate static let consoleURL = setting(
        "console-url", "URL", "where people reach the console, for links",
        fallback: "http://127.0.0.1:8080")
    fileprivate static let email = value(
        "email", "ADDRESS", "the person's e-mail address", isRequired: true)
}

private let emailPositional = Positional(name: "ADDRESS", help: "the person's e-mail address")

private let createPersonCommand = CommandSpec(
    path: ["person", "create"],
    summary: "Adds a person to the console, and prints a one-time link for choosing a password.",
    options: [
        .email, .value("role", "ROLE", "reader, support or admin", isRequired: true),
        .consoleURL, .project,
    ] + Option.database,
    example: "deed person create --email ann@example.com --role support"
) { invocation throws(CommandEnd) in
    let email = try invocation.email(invocation["email"])
    let role = try invocation.personRole()
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        guard let link = try ask(useCases.people.create(email, role, in: project)) else {
            throw .refused(
                code: "person_exists",
                sentence: "\(email) is in use; see deed person list, and give another role with: "
                    + "deed person set")
        }
        invocation.show(link)
    }
}

private let listPeopleCommand = CommandSpec(
    path: ["person", "list"], summary: "Lists the people who use the console, and their roles.",
    options: Option.database, onlyReads: true, example: "deed person list"
) { invocation throws(CommandEnd) in
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let people = try ask(useCases.people.list())
        invocation.show(
            ["people": .array(people.map(\.json))],
            text: people.isEmpty
                ? "There are no people yet; add one with: deed person create"
                : people.map(\.line).joined(separator: "\n"))
    }
}

private let setPersonCommand = CommandSpec(
    path: ["person", "set"],
    summary: "Gives a person a role in a project, or removes it, with effect from the next page.",
    positionals: [emailPositional],
    options: [
        .value("role", "ROLE", "reader, support, admin, or none", isRequired: true), .project,
    ] + Option.database,
    example: "deed person set ann@example.com --role admin"
) { invocation throws(CommandEnd) in
    let role = invocation["role"] == "none" ? nil : try invocation.personRole()
    let project = try invocation.project()
    try invocation.withPerson(in: project) { people, person throws(CommandEnd) in
        let changed = try ask(people.put(role, of: person, in: project)) ?? person
        invocation.show(changed.json, text: changed.line)
    }
}

private let resetPersonCommand = CommandSpec(
    path: ["person", "reset"],
    summary:
        "Revokes a person's password and sessions, and prints a link for choosing a new password.",
    positionals: [emailPositional],
    options: [
        .flag(
            "second-factor", "also remove the second factor, for a person who has lost it"),
        .consoleURL,
    ] + Option.database,
    example: "deed person reset ann@example.com"
) { invocation throws(CommandEnd) in
    try invocation.withPerson { people, person throws(CommandEnd) in
        let isLost = invocation.has("second-factor")
        invocation.show(try ask(people.link(of: person, removingSecondFactor: isLost)))
    }
}

private let endPersonCommand = CommandSpec(
    path: ["person", "end"], summary: "Signs a person out everywhere, within a second.",
    positionals: [emailPositional], options: Option.database,
    example: "deed person end ann@example.com"
) { invocation throws(CommandEnd) in
    try invocation.withPerson { people, person throws(CommandEnd) in
        try ask(people.end(person))
        invocation.show(
            ["person": .string(person.id.text), "ended": true],
            text: "\(person.email) is signed out everywhere.")
    }
}

private let removePersonCommand = CommandSpec(
    path: ["person", "remove"],
    summary: "Removes a person with address, password and sessions. Events keep the person's id.",
    positionals: [emailPositional], options: Option.database,
    example: "deed person remove ann@example.com"
) { invocation throws(CommandEnd) in
    try invocation.withPerson { people, person throws(CommandEnd) in
        try ask(people.remove(person))
        invocation.show(
            ["person": .string(person.id.text), "removed": true],
            text: "\(person.email) is removed. Events name the person as person:\(person.id).")
    }
}

extension Invocation {
    fileprivate func email(_ text: String?) throws(CommandEnd) -> EmailAddress {
        guard let email = text.flatMap({ EmailAddress($0) }) else {
            throw usage("an e-mail address like ann@example.com is needed")
        }
        return email
    }

    fileprivate func personRole() throws(CommandEnd) -> Role {
        guard let role = self["role"].flatMap(Role.init(rawValue:)),
            PersonRole.roles.contains(role)
        else { throw usage("--role must be reader, support or admin") }
        return role
    }

    /// Runs `body` with the person whose e-mail address is the argument.
    fileprivate func withPerson(
        in project: ProjectID? = nil,
        _ body: (People, Person) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        let email = try self.email(positional(0))
        try withUseCases(in: project) { useCases throws(CommandEnd) in
            guard let person = try ask(useCases.people.find(email)) else {
                throw .refused(
                    code: "person_unknown",
                    sentence: "No person has the address \(email); deed person list shows all.")
            }
            try body(useCases.people, person)
        }
    }

    /// Prints a link, which Deed never shows again.
    fileprivate func show(_ link: PersonLink) {
        var base = self["console-url"] ?? "http://127.0.0.1:8080"
        while base.hasSuffix("/") { base.removeLast() }
        let url = "\(base)/console/link/\(link.secret)"
        show(
            link.person.json.with("link", .string(url))
                .with("link_ends_at", .string(link.ends.text)),
            text: url)
        if isJSON { return }
        printError(
            "The link is shown only this once. It works once, until \(link.ends.text), for \(link.person.email)."
        )
    }
}

extension Person {
    fileprivate var json: JSON {
        [
            "person": .string(id.text), "email": .string(email.text),
            "created_at": .string(createdAt.text), "has_password": .bool(hasPassword),
            "has_second_factor": .bool(hasSecondFactor),
            "last_seen_at": .optional(lastSeen?.text),
            "roles": .array(
                roles.map {
                    ["project": .string($0.project.text), "role": .string($0.role.rawValue)]
                }),
        ]
    }

    fileprivate var line: String {
        let rights = roles.map { "\($0.role.rawValue) in \($0.project)" }.joined(separator: ", ")
        return "\(email)   \(id)   " + (rights.isEmpty ? "no role" : rights)
            + (hasPassword ? "" : "   no password yet")
            + (hasSecondFactor ? "   second factor" : "")
            + (lastSeen.map { "   last seen \($0.text)" } ?? "")
    }
}
