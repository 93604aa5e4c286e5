import API
import Assembly
import Commands
import Core
import Foundation
import Service
import Wording

extension Invocation {
    func webhook() throws(CommandEnd) -> WebhookID {
        try id(positional(0) ?? "", named: "the webhook's id")
    }

    func withWebhooks(
        in project: ProjectID, _ body: (Webhooks, UseCases) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        try withLive(in: project) { live throws(CommandEnd) in
            defer { live.webhooks.close() }
            guard let webhooks = live.useCases.webhooks else { return }
            try body(webhooks, live.useCases)
        }
    }

    /// Changes the webhook named by the first argument and shows it.
    func changeWebhook(
        _ wish: (Webhooks, WebhookID, ProjectID, Sender) -> Wish<WebhookAnswer>
    ) throws(CommandEnd) {
        let (project, id, sender) = (try project(), try webhook(), try sender())
        try withWebhooks(in: project) { webhooks, useCases throws(CommandEnd) in
            let answer = try useCases.fulfil(wish(webhooks, id, project, sender))
            show(answer.json, text: answer.text)
            remindOfService()
        }
    }

    /// Reminds the person that the service has a separate list of allowed addresses.
    func remindOfService() {
        if isJSON || self["webhook-allow"] == nil { return }
        printError("The service needs --webhook-allow (DEED_WEBHOOK_ALLOW) for this address, too.")
    }

    /// Returns the change described by the flags. Missing flags leave their settings unchanged.
    func webhookChange() throws(CommandEnd) -> WebhookChange {
        var change = WebhookChange()
        let reach = try webhookSettings().reach
        change.url = try self["url"].map { text throws(CommandEnd) in
            try proper("--url") { () throws(InvalidWebhook) in
                try WebhookURL(text, reach)
            }
        }
        change.types = try feedTypes()
        if let word = self["format"] {
            guard let format = Webhook.Format(rawValue: word) else {
                throw usage("--format must be deed or cloudevents")
            }
            change.format = format
        }
        let places = Int(Webhook.concurrencies.lowerBound)...Int(Webhook.concurrencies.upperBound)
        change.concurrency = try integer("concurrency", in: places).map(Int64.init)
        let rates = Int(Webhook.rates.lowerBound)...Int(Webhook.rates.upperBound)
        if self["rate"] == "none" {
            change.rate = .some(nil)
        } else if let rate = try integer("rate", in: rates) {
            change.rate = .some(Int64(rate))
        }
        if let text = self["description"] {
            if text.utf8.count > Webhook.descriptionLimit {
                throw usage("--description takes at most \(Webhook.descriptionLimit) bytes")
            }
            if !text.isEmpty { let _: Reason = try id(text, named: "--description") }
            change.description = .some(text.isEmpty ? nil : text)
        }
        if let file = self["headers-file"] { change.headers = try webhookHeaders(in: file) }
        return change
    }

    private func webhookHeaders(in file: String) throws(CommandEnd) -> [WebhookHeader] {
        var headers: [WebhookHeader] = []
        for line in try readFile(file).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else {
                throw usage("--headers-file takes lines like \"Name: value\"")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append(
                try proper("a header of --headers-file") { () throws(InvalidWebhook) in
                    try WebhookHeader(name: String(line[..<colon]), value: String(value))
                })
        }
        if headers.count > Webhook.headerLimit {
            throw usage("--headers-file takes at most \(Webhook.headerLimit) headers")
        }
        if Set(headers.map { $0.name.lowercased() }).count < headers.count {
            throw usage("--headers-file names one header twice")
        }
        return headers
    }

    private func feedTypes() throws(CommandEnd) -> [String]? {
        guard let list = self["types"] else { return nil }
        let names = list.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        if names.contains("") { throw usage("--types has an empty name") }
        do throws(UnknownFeedType) {
            _ = try FeedTypes(names)
        } catch {
            let hint = error.nearest.map { "; the nearest is \($0)" } ?? ""
            throw usage(
                "--types names \"\(error.name)\", but the feed has no event of that name\(hint)")
        }
        return names
    }

    private func proper<Value>(
        _ name: String, _ value: () throws(InvalidWebhook) -> Value
    ) throws(CommandEnd) -> Value {
        try rethrowing(
            as: { (error: InvalidWebhook) in usage("\(name) \(error.withRemedy)") }, value)
    }

    func replay() throws(CommandEnd) -> WebhookReplay.Wanted {
        if let event = self["event"] {
            let rest = ["since", "until", "types", "customer"]
            if rest.contains(where: { self[$0] != nil }) {
                throw usage("--event names one event; leave the other flags out")
            }
            return .event(event)
        }
        guard let since = try instant("since"), let until = try instant("until") else {
            throw usage("give --event, or --since and --until")
        }
        if until <= since { throw usage("--until must come after --since") }
        let customer: CustomerID? = try self["customer"].map { text throws(CommandEnd) in
            try id(text, named: "--customer")
        }
        return .range(
            since: since, until: until, types: try feedTypes(), customer: customer)
    }
}

extension WebhookAnswer {
    var line: String {
        "\(webhook.id)   \(state.rawValue.padded(to: 6))   lag \(standing?.lag ?? 0)   "
            + "waiting \(standing?.waiting ?? 0)   \(webhook.url.text)"
            + (webhook.description.map { "   \($0)" } ?? "")
    }

    var text: String {
        var lines = [
            line, "types        \(webhook.types.joined(separator: ", "))",
            "environment  \(webhook.environment.rawValue)",
            "format       \(webhook.format.rawValue)",
            "requests     \(webhook.concurrency) at a time, "
                + (webhook.rate.map { "at most \($0) per second" } ?? "without a limit per second"),
        ]
        if !webhook.headers.isEmpty {
            lines.append("headers      \(webhook.headers.joined(separator: ", "))")
        }
        if let parked = standing?.parked, parked > 0 {
            lines.append("parked       \(parked) customers; deed webhook resume \(webhook.id)")
        }
        if let oldest = standing?.oldestAt { lines.append("oldest       \(oldest.text)") }
        if let keys {
            lines += [
                "secret       \(keys.secret)", "public key   \(keys.publicKey)",
                "Keep the secret: it cannot be shown again.",
            ]
        }
        return lines.joined(separator: "\n")
    }
}

extension DeliveriesAnswer {
    var text: String {
        let all =
            attempts.map(\.line) + waiting.map { $0.line(webhook) } + replays.map(\.line)
        return all.isEmpty ? "Nothing has been sent recently." : all.joined(separator: "\n")
    }
}

extension WebhookAttempt {
    fileprivate var line: String {
        let end = status.map { "\($0)" } ?? "---"
        var line =
            "\(at.text)   \(end)   \(milliseconds) ms   \(type)   \(customer)   \(message)   "
            + "attempt \(attempt)"
        if let replay { line += "   \(replay)" }
        let said = error ?? (isDelivered ? "" : answer.prefix { !$0.isNewline }.description)
        return said.isEmpty ? line : line + "   \(said)"
    }
}

extension WaitingCustomer {
    fileprivate func line(_ webhook: WebhookID) -> String {
        let count = attempts == 1 ? "1 attempt" : "\(attempts) attempts"
        guard let dueAt else {
            return "\(customer) is parked at \(position) after \(count); "
                + "deed webhook resume \(webhook) sends it again"
        }
        return "\(customer) waits at \(position) after \(count), until \(dueAt.text)"
    }
}

extension WebhookReplay {
    fileprivate var line: String {
        "\(id) \(isOver ? "is finished" : "is running"): \(sent) delivered, \(failed) given up"
    }
}

extension WebhookTest {
    var text: String {
        guard let status else { return "Nothing was sent: \(error ?? "the reason is unknown")." }
        let said = error ?? answer
        return "The receiver answered \(status) after \(milliseconds) ms."
            + (said.isEmpty ? "" : " \(said)")
            + (status == 401 ? " Does it have the current secret?" : "")
    }
}
