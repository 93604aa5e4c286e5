import Assembly
import Commands
import Core
import JSON
import Ledger
import Service

let projectCommands = [
    createProjectCommand, listProjectsCommand, showProjectCommand, setProjectCommand,
    allowAppCommand, disallowAppCommand,
]

private let createProjectCommand = CommandSpec(
    path: ["project", "create"], summary: "Creates a project.",
    positionals: [Positional(name: "NAME", help: "the project's name")],
    options: [.flag("if-missing", "succeed even if the project already exists")] + Option.database,
    example: "deed project create default"
) { invocation throws(CommandEnd) in
    let project: ProjectID = try invocation.id(
        invocation.positional(0) ?? "", named: "the project's name")
    let sender = try invocation.sender()
    var isNew = true
    try invocation.withUseCases(mayCreate: true) { useCases throws(CommandEnd) in
        do throws(CommandError) {
            try useCases.ledger.perform(useCases.projects.creating(project, by: sender))
        } catch {
            let exists = error == .refused(.projectExists(project))
            if !exists || !invocation.has("if-missing") { throw CommandEnd(error) }
            isNew = false
        }
    }
    invocation.show(
        ["project": .string(project.text)],
        text: isNew
            ? "Created the project \"\(project)\"." : "The project \"\(project)\" already exists.")
}

private let listProjectsCommand = CommandSpec(
    path: ["project", "list"], summary: "Lists the projects.", options: Option.database,
    onlyReads: true, example: "deed project list --json"
) { invocation throws(CommandEnd) in
    try invocation.withLive { live throws(CommandEnd) in
        let projects = try ask(live.ledger.projects())
        let rows = projects.map { project -> JSON in
            [
                "project": .string(project.project.text),
                "created_at": .string(project.createdAt.text),
            ]
        }
        invocation.show(
            ["projects": .array(rows)],
            text: projects.isEmpty
                ? "There is no project yet; create one with: deed project create default"
                : projects.map { "\($0.project)   since \($0.createdAt.text)" }
                    .joined(separator: "\n"))
    }
}
