import API
import Core
import Service

let showProjectCommand = CommandSpec(
    path: ["project", "show"], summary: "Shows a project's settings and its apps.",
    options: [.project] + Option.database, example: "deed project show --project default"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withPorts { ports, _ throws(CommandEnd) in
        let answer = try obey { () throws(CommandError) in try ports.settings(of: project) }
        let apps = answer.apps.map(\.key.id.text).joined(separator: ", ")
        invocation.show(
            answer.json,
            text: answer.settings.text(of: project)
                + "\napps             \(apps.isEmpty ? "none" : apps)")
    }
}

let setProjectCommand = CommandSpec(
    path: ["project", "set"], summary: "Changes a project's settings.",
    options: [
        .value(
            "transfer", "RULE",
            "when another customer submits a held purchase: keep, transfer_if_inactive or transfer"),
        .value(
            "restore", "RULE", "the same when another customer restores it, or \"as-transfer\""),
        .value("cool-down", "DURATION", "how long a moved purchase stays where it is: P1D"),
        .value("order-lifetime", "DURATION", "how long an order's purchase is waited for: P7D"),
        .idempotencyKey, .project,
    ] + Option.database,
    example: "deed project set --transfer keep --restore transfer_if_inactive --cool-down P1D"
) { invocation throws(CommandEnd) in
    let change = try invocation.settingsChange()
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withPorts { ports, _ throws(CommandEnd) in
        let settings = try obey { () throws(CommandError) in
            try ports.changeSettings(change, of: project, by: sender)
        }
        invocation.show(settings.json(of: project), text: settings.text(of: project))
    }
}

extension Invocation {
    fileprivate func settingsChange() throws(CommandEnd) -> SettingsChange {
        var change = SettingsChange()
        change.transfer = try word("transfer")
        if self["restore"] == "as-transfer" {
            change.restore = .some(nil)
        } else if let rule: TransferPolicy.Rule = try word("restore") {
            change.restore = rule
        }
        change.coolDown = try duration("cool-down")
        change.orderLifetime = try duration("order-lifetime")
        if change == SettingsChange() {
            throw usage("nothing is to change; give one of the flags")
        }
        return change
    }
}

extension ProjectSettings {
    fileprivate func text(of project: ProjectID) -> String {
        """
        project          \(project)
        transfer         \(transfer.rawValue)
        restore          \(restore?.rawValue ?? "as transfer")
        cool-down        \(coolDown.text)
        order lifetime   \(orderLifetime.text)
        """
    }
}
