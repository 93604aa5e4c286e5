import API
import Commands
import Core
import JSON
import Service

let intakeCommands =
    [listIntakeCommand, showIntakeCommand] + IntakeDecision.allCases.map(\.command)

private let itemPositional = Positional(
    name: "ID", help: "the item's id, as deed intake list shows it")

private let listIntakeCommand = CommandSpec(
    path: ["intake", "list"], summary: "Lists queued evidence, oldest first.",
    options: [
        .value(
            "state", "STATE",
            "waiting (the default), believed, refused, settled, dropped or all"),
        .value("limit", "COUNT", "at most this many (default: 100)"), .project,
    ] + Option.database,
    onlyReads: true, example: "deed intake list --state refused --json"
) { invocation throws(CommandEnd) in
    let state = try invocation.intakeState()
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 100
    let project = try invocation.project()
    try invocation.withIntake { intake throws(CommandEnd) in
        let items = try obey(intake.items(of: project, in: state, limit: limit))
        let names = try ask(intake.actorNames(of: items, in: project))
        invocation.show(
            ["items": .array(items.map { $0.json(names) })],
            text: items.isEmpty
                ? "No evidence of \(project) is \(state?.rawValue ?? "in the queue")."
                : items.map(\.line).joined(separator: "\n"))
    }
}

private let showIntakeCommand = CommandSpec(
    path: ["intake", "show"], summary: "Shows what happened to queued evidence, and why.",
    positionals: [itemPositional], options: [.project] + Option.database,
    onlyReads: true, example: "deed intake show i_4x1k9d"
) { invocation throws(CommandEnd) in
    let id = try invocation.intakeID()
    let project = try invocation.project()
    try invocation.withIntake { intake throws(CommandEnd) in
        let item = try obey(intake.item(id, of: project))
        invocation.show(
            item.json(try ask(intake.actorNames(of: [item], in: project))), text: item.text)
    }
}

extension IntakeDecision {
    private var summary: String {
        switch self {
        case .retry: "Judges queued evidence now, even if it was refused, settled or dropped."
        case .settle: "Marks queued evidence as settled in another way."
        case .drop: "Marks queued evidence as having no effect."
        }
    }

    fileprivate var command: CommandSpec {
        CommandSpec(
            path: ["intake", rawValue], summary: summary, positionals: [itemPositional],
            options: reasons + [.project] + Option.database,
            example: "deed intake \(rawValue) i_4x1k9d --reason \"the store is back\""
        ) { invocation throws(CommandEnd) in
            let id = try invocation.intakeID()
            let reason = try invocation.adminReason()
            let project = try invocation.project()
            let sender = try invocation.sender()
            try invocation.withIntake { intake throws(CommandEnd) in
                let item = try obey(
                    intake.ledger.perform(
                        intake.deciding(self, about: id, of: project, reason: reason, by: sender)))
                invocation.show(
                    item.json(try ask(intake.actorNames(of: [item], in: project))), text: item.line)
            }
        }
    }
}

extension Invocation {
    fileprivate func intakeID() throws(CommandEnd) -> IntakeID {
        try id(positional(0) ?? "", named: "the item's id")
    }

    /// Returns the state given by the flag, or `nil` for all states.
    fileprivate func intakeState() throws(CommandEnd) -> IntakeItem.State.Word? {
        guard let text = self["state"] else { return .waiting }
        if text == "all" { return nil }
        return try word("state")
    }
}

extension IntakeItem {
    fileprivate var line: String {
        let end = nextTry.map { "next try \($0.text)" } ?? changedAt.text
        let why = reason.map { "   \($0.code)" } ?? ""
        return "\(id)   \(state.word.rawValue.padded(to: 8))   tried \(tries)   \(end)   "
            + "\(wish.heading.app)   \(wish.purpose.customer?.text ?? "from the store")\(why)"
    }

    fileprivate var text: String {
        var lines = [line]
        if let reason { lines.append("  \(reason.sentence)") }
        if case .believed(let results) = state {
            lines += results.map { result in
                "  \(result.purchase ?? "the app itself")   \(result.outcome)"
                    + (result.reason.map { "   \($0.sentence)" } ?? "")
            }
        }
        if let act {
            let ticket = act.ticket.map { " (\($0))" } ?? ""
            lines.append("  by \(act.actor): \(act.reason)\(ticket)")
        }
        return lines.joined(separator: "\n")
    }
}
