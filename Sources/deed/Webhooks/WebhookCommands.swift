import API
import Assembly
import Commands
import Core
import Delivery
import JSON
import Outbound
import Service

extension Option {
    static let webhookAllow = setting(
        "webhook-allow", "LIST",
        "addresses in your own network that webhooks may reach, even over http, as in 10.0.0.0/8,127.0.0.1"
    )
    static let webhookCA = setting(
        "webhook-ca", "FILE",
        "certificates in PEM to trust for webhooks, in addition to the system's")
    static let webhookRetries = setting(
        "webhook-retries", "LIST",
        "how many seconds to wait after each failed attempt",
        fallback: "5,30,300,1800,7200,18000,36000,50400,72000,86400")
    static let webhooks = [webhookAllow, webhookCA, webhookRetries]
}

extension Invocation {
    func webhookSettings() throws(CommandEnd) -> WebhookSettings {
        var settings = WebhookSettings()
        if let list = self["webhook-allow"] {
            guard let rules = AddressRules(list) else {
                throw usage(
                    "--webhook-allow takes addresses and networks, as in 10.0.0.0/8,127.0.0.1")
            }
            settings.rules = rules
        }
        settings.caFile = self["webhook-ca"]
        if let list = self["webhook-retries"] {
            guard let plan = RetryPlan(list) else {
                throw usage("--webhook-retries takes 1 to 20 numbers of seconds, as in 5,30,300")
            }
            settings.retries = plan
        }
        return settings
    }
}

let webhookCommands = [
    createWebhookCommand, listWebhooksCommand, showWebhookCommand, setWebhookCommand,
    actCommand(.pause, "Pauses a webhook until it is resumed; no events are lost."),
    actCommand(.resume, "Resumes a webhook, and sends abandoned messages again."),
    rotateWebhookCommand, removeWebhookCommand, testWebhookCommand, replayCommand,
    deliveriesCommand,
]

private let theWebhook = [Positional(name: "ID", help: "the webhook's id, as in wh_7m2c0qv3")]

private let settable: [Option] = [
    .value(
        "types", "LIST",
        "types or families of events, as in grant.*,purchase.refunded; a new webhook gets entitlement.*"
    ),
    .value("format", "FORMAT", "deed (the default) or cloudevents"),
    .value(
        "headers-file", "FILE",
        "up to five headers for every request, one \"Name: value\" per line; - for standard input"
    ),
    .value(
        "concurrency", "COUNT", "the maximum number of simultaneous requests, 1 to 32 (default: 4)"),
    .value("rate", "COUNT", "the maximum number of requests per second; none removes the limit"),
    .value("description", "TEXT", "a note for people; empty text removes it"),
]

private let createWebhookCommand = CommandSpec(
    path: ["webhook", "create"], summary: "Starts sending a project's events to an address.",
    options: [
        .value("url", "URL", "the receiver's address, beginning with https://", isRequired: true),
        .value(
            "from", "PLACE", "where in the log to start: end (the default), beginning or an instant"
        ),
    ] + settable + [.environment, .webhookAllow, .secretKeyFile, .idempotencyKey, .project]
        + Option.database,
    example: "deed webhook create --url https://example.com/deed --types 'entitlement.*'"
) { invocation throws(CommandEnd) in
    let (project, sender) = (try invocation.project(), try invocation.sender())
    let environment = try invocation.environment()
    let change = try invocation.webhookChange()
    guard let start = WebhookStart(invocation["from"] ?? "end") else {
        throw invocation.usage("--from must be end, beginning or an instant")
    }
    guard let url = change.url else { throw invocation.usage("--url is missing") }
    try invocation.withWebhooks(in: project) { webhooks, useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            webhooks.creating(url, environment, change, from: start, in: project, by: sender))
        invocation.show(answer.json, text: answer.text)
        invocation.remindOfService()
    }
}

private let listWebhooksCommand = CommandSpec(
    path: ["webhook", "list"], summary: "Lists where a project's events are sent.",
    options: [.project] + Option.database, onlyReads: true, example: "deed webhook list"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withWebhooks(in: project) { webhooks, _ throws(CommandEnd) in
        let found = try obey(webhooks.list(of: project))
        invocation.show(
            ["webhooks": .array(found.map(\.json))],
            text: found.isEmpty
                ? "There is no webhook yet; make one with: deed webhook create --url URL"
                : found.map(\.line).joined(separator: "\n"))
    }
}

private let showWebhookCommand = CommandSpec(
    path: ["webhook", "show"], summary: "Shows a webhook and its progress.",
    positionals: theWebhook, options: [.project] + Option.database, onlyReads: true,
    example: "deed webhook show wh_7m2c0qv3"
) { invocation throws(CommandEnd) in
    let (project, id) = (try invocation.project(), try invocation.webhook())
    try invocation.withWebhooks(in: project) { webhooks, _ throws(CommandEnd) in
        let answer = try obey(webhooks.show(id, of: project))
        invocation.show(answer.json, text: answer.text)
    }
}

private let setWebhookCommand = CommandSpec(
    path: ["webhook", "set"],
    summary: "Changes settings of a webhook; settings without a flag stay unchanged.",
    positionals: theWebhook,
    options: [.value("url", "URL", "the receiver's address, beginning with https://")] + settable
        + [.webhookAllow, .secretKeyFile, .idempotencyKey, .project] + Option.database,
    example: "deed webhook set wh_7m2c0qv3 --concurrency 8"
) { invocation throws(CommandEnd) in
    let change = try invocation.webhookChange()
    try invocation.changeWebhook { webhooks, id, project, sender in
        webhooks.changing(id, change, of: project, by: sender)
    }
}

private func actCommand(_ act: WebhookAct, _ summary: String) -> CommandSpec {
    CommandSpec(
        path: ["webhook", act.rawValue], summary: summary, positionals: theWebhook,
        options: [.idempotencyKey, .project] + Option.database,
        example: "deed webhook \(act.rawValue) wh_7m2c0qv3"
    ) { invocation throws(CommandEnd) in
        try invocation.changeWebhook { webhooks, id, project, sender in
            webhooks.acting(act, on: id, of: project, by: sender)
        }
    }
}

private let rotateWebhookCommand = CommandSpec(
    path: ["webhook", "rotate"],
    summary:
        "Creates new secrets for a webhook and prints them once; the old ones sign until the overlap ends.",
    positionals: theWebhook,
    options: [
        .value("overlap", "SECONDS", "how many seconds the old ones keep signing (default: 86400)"),
        .secretKeyFile, .idempotencyKey, .project,
    ] + Option.database,
    example: "deed webhook rotate wh_7m2c0qv3 --overlap 3600"
) { invocation throws(CommandEnd) in
    let range = Int(Webhooks.overlaps.lowerBound)...Int(Webhooks.overlaps.upperBound)
    let overlap = try invocation.integer("overlap", in: range).map(Int64.init)
    try invocation.changeWebhook { webhooks, id, project, sender in
        webhooks.rotating(
            id, overlap: overlap ?? Webhooks.usualOverlap, of: project, by: sender)
    }
}

private let removeWebhookCommand = CommandSpec(
    path: ["webhook", "remove"],
    summary: "Stops sending to a webhook, and forgets its secrets.",
    positionals: theWebhook, options: [.idempotencyKey, .project] + Option.database,
    example: "deed webhook remove wh_7m2c0qv3"
) { invocation throws(CommandEnd) in
    let (project, id) = (try invocation.project(), try invocation.webhook())
    let sender = try invocation.sender()
    try invocation.withWebhooks(in: project) { webhooks, useCases throws(CommandEnd) in
        _ = try useCases.fulfil(webhooks.removing(id, of: project, by: sender))
        invocation.show(
            ["webhook": .string(id.text), "removed": true], text: "\(id) is removed.")
    }
}

private let testWebhookCommand = CommandSpec(
    path: ["webhook", "test"], summary: "Sends an example to a webhook, and shows the answer.",
    positionals: theWebhook,
    options: [
        .value("type", "TYPE", "the type of the example (default: entitlement.started)"),
        .webhookAllow, .webhookCA, .secretKeyFile, .project,
    ] + Option.database,
    example: "deed webhook test wh_7m2c0qv3 --type grant.given"
) { invocation throws(CommandEnd) in
    let (project, id) = (try invocation.project(), try invocation.webhook())
    let type = invocation["type"] ?? "entitlement.started"
    if !FeedTypes.all.contains(type) { throw invocation.usage("--type names no event of the feed") }
    try invocation.withWebhooks(in: project) { webhooks, _ throws(CommandEnd) in
        let answer = try obey(webhooks.test(id, type: type, of: project))
        invocation.show(
            answer.json,
            text: answer.text)
        if !answer.isDelivered {
            throw .refused(code: "webhook_test_failed", sentence: "The example did not arrive.")
        }
        invocation.remindOfService()
    }
}

private let replayCommand = CommandSpec(
    path: ["webhook", "replay"], summary: "Sends events to a webhook again, under their own ids.",
    positionals: theWebhook,
    options: [
        .value("event", "ID", "one event, by its id in the feed"),
        .value("since", "INSTANT", "events recorded at this instant or later"),
        .value("until", "INSTANT", "events recorded before this instant"),
        .value("types", "LIST", "types or families, instead of the webhook's own"),
        .value("customer", "ID", "only one customer's events"), .idempotencyKey, .project,
    ] + Option.database,
    example:
        "deed webhook replay wh_7m2c0qv3 --since 2026-11-20T00:00:00Z --until 2026-11-21T00:00:00Z"
) { invocation throws(CommandEnd) in
    let (project, id) = (try invocation.project(), try invocation.webhook())
    let sender = try invocation.sender()
    try invocation.withWebhooks(in: project) { webhooks, _ throws(CommandEnd) in
        let wanted = try invocation.replay()
        let replay = try obey(webhooks.replay(wanted, to: id, of: project, by: sender))
        invocation.show(
            ["replay": .string(replay.text)],
            text: "The replay \(replay) begins in a few seconds; see: deed webhook deliveries \(id)"
        )
    }
}

private let deliveriesCommand = CommandSpec(
    path: ["webhook", "deliveries"],
    summary: "Shows recent deliveries to a webhook, and customers with waiting events.",
    positionals: theWebhook,
    options: [
        .value("customer", "ID", "only one customer's deliveries"),
        .value("limit", "COUNT", "how many, newest first (default: 20)"), .project,
    ] + Option.database, onlyReads: true,
    example: "deed webhook deliveries wh_7m2c0qv3"
) { invocation throws(CommandEnd) in
    let (project, id) = (try invocation.project(), try invocation.webhook())
    let customer: CustomerID? = try invocation["customer"].map { text throws(CommandEnd) in
        try invocation.id(text, named: "--customer")
    }
    let limit = try invocation.integer("limit", in: 1...1000) ?? 20
    try invocation.withWebhooks(in: project) { webhooks, _ throws(CommandEnd) in
        let answer = try obey(
            webhooks.deliveries(id, of: project, before: nil, customer: customer, limit: limit))
        invocation.show(answer.json, text: answer.text)
    }
}
