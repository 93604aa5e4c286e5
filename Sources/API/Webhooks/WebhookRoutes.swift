import Core
import HTTPServer
import JSON
import Service
import Synchronization
import Wording

/// Calls about a project's webhooks.
struct WebhookRoutes: Sendable {
    let webhooks: Webhooks
    private let examples = Examples()

    init(webhooks: Webhooks) {
        self.webhooks = webhooks
    }

    /// The number of examples that are being sent.
    private final class Examples: Sendable {
        static let limit = 2
        private let count = Mutex(0)

        func enter() -> Bool {
            count.withLock { count in
                if count >= Examples.limit { return false }
                count += 1
                return true
            }
        }

        func leave() { count.withLock { $0 -= 1 } }
    }

    var routes: [Route] {
        let one = "/webhooks/{webhook}"
        return [
            Route("POST", "/webhooks", .administer, .database, about: .found, create),
            Route("GET", "/webhooks", .administer, .database, about: .found, list),
            Route("GET", one, .administer, .database, about: .found, show),
            Route("PATCH", one, .administer, .database, about: .found, change),
            Route("DELETE", one, .administer, .database, about: .found, remove),
            Route("POST", "\(one)/pause", .administer, .database, about: .found) {
                call throws(Problem) in
                try act(.pause, call)
            },
            Route("POST", "\(one)/resume", .administer, .database, about: .found) {
                call throws(Problem) in
                try act(.resume, call)
            },
            Route("POST", "\(one)/rotate", .administer, .database, about: .found, rotate),
            Route("POST", "\(one)/test", headers: [], .administer, .database, about: .found, test),
            Route("POST", "\(one)/replay", .administer, .database, about: .found, replay),
            Route(
                "GET", "\(one)/deliveries", parameters: ["before", "customer", "limit"],
                .administer, .database, about: .found, deliveries),
        ]
    }

    private static let changeable = [
        "url", "types", "format", "headers", "concurrency", "rate", "description",
    ]

    private func create(_ call: Call) throws(Problem) -> Wish<Response> {
        let body = try Body(call.body, of: WebhookRoutes.changeable + ["environment", "from"])
        let change = try body.webhookChange(webhooks.reach)
        guard let url = change.url else { throw .missing("url") }
        let from = try body.optionalText("from") ?? "end"
        guard let start = WebhookStart(from) else {
            throw .invalid(
                "from",
                "\"from\" must be \"end\", \"beginning\" or an instant like "
                    + "\"2026-11-20T19:21:00Z\".")
        }
        let environment: Environment = try body.optionalWord("environment") ?? .production
        try call.access.require(environment)
        return webhooks.creating(
            url, environment, change, from: start,
            in: call.access.project, by: call.sender
        ).response { .json($0.json, status: 201) }
    }

    /// Returns the webhook in the path. A key that is bound to one environment cannot reach webhooks of the other one.
    private func webhook(of call: Call) throws(Problem) -> WebhookID {
        let id = try WebhookID(member: "webhook", call.arguments[0])
        if call.access.isBound {
            let answer = try obey(webhooks.show(id, of: call.access.project))
            try call.access.require(answer.webhook.environment)
        }
        return id
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let found = try obey(webhooks.list(of: call.access.project))
            .filter { call.access.shows($0.webhook.environment) }
        return .json(["webhooks": .array(found.map(\.json))])
    }

    private func show(_ call: Call) throws(Problem) -> Response {
        let id = try webhook(of: call)
        return .json(try obey(webhooks.show(id, of: call.access.project)).json)
    }

    private func change(_ call: Call) throws(Problem) -> Wish<Response> {
        let change = try Body(call.body, of: WebhookRoutes.changeable)
            .webhookChange(webhooks.reach)
        return webhooks.changing(
            try webhook(of: call), change, of: call.access.project, by: call.sender
        ).response { .json($0.json) }
    }

    private func remove(_ call: Call) throws(Problem) -> Wish<Response> {
        webhooks.removing(try webhook(of: call), of: call.access.project, by: call.sender)
            .response { .json(["webhook": .string($0.text), "removed": true]) }
    }

    private func act(_ act: WebhookAct, _ call: Call) throws(Problem) -> Wish<Response> {
        _ = try call.optionalBody(of: [])
        return webhooks.acting(
            act, on: try webhook(of: call), of: call.access.project, by: call.sender
        ).response { .json($0.json) }
    }

    private func rotate(_ call: Call) throws(Problem) -> Wish<Response> {
        let overlap = try call.optionalBody(of: ["overlap"])?
            .optionalInteger("overlap", in: Webhooks.overlaps)
        return webhooks.rotating(
            try webhook(of: call), overlap: overlap ?? Webhooks.usualOverlap,
            of: call.access.project, by: call.sender
        ).response { .json($0.json) }
    }

    private func test(_ call: Call) throws(Problem) -> Response {
        let body = try call.optionalBody(of: ["type"])
        let type = try body?.optionalText("type") ?? "entitlement.started"
        if !FeedTypes.all.contains(type) { throw .unknownType("type", type) }
        let id = try webhook(of: call)
        // Limits the examples, because each one occupies a thread until the receiver answers.
        guard examples.enter() else {
            throw .busy(
                "\(Examples.limit) examples are being sent to receivers; try again in a second.")
        }
        defer { examples.leave() }
        return .json(try obey(webhooks.test(id, type: type, of: call.access.project)).json)
    }

    private func replay(_ call: Call) throws(Problem) -> Response {
        let wanted = try Body(call.body, of: ["event", "since", "until", "types", "customer"])
            .replay()
        let id = try webhook(of: call)
        let replay = try obey(
            webhooks.replay(wanted, to: id, of: call.access.project, by: call.sender))
        return .json(["replay": .string(replay.text)], status: 202)
    }

    private func deliveries(_ call: Call) throws(Problem) -> Response {
        let customer = try call.query.customer()
        let id = try webhook(of: call)
        let before = try call.query.optionalInteger("before", in: 1...Int64.max)
        let limit = try call.query.pageSize()
        return .json(
            try obey(
                webhooks.deliveries(
                    id, of: call.access.project, before: before, customer: customer, limit: limit)
            ).json)
    }
}

extension Call {
    /// Returns the optional body of a call.
    fileprivate func optionalBody(of names: [String]) throws(Problem) -> Body? {
        body.isEmpty ? nil : try Body(body, of: names)
    }
}

extension Problem {
    static func unknownType(_ member: String, _ name: String) -> Problem {
        do throws(UnknownFeedType) {
            _ = try FeedTypes([name])
        } catch {
            return .unknownType(member, error)
        }
        return .invalid(member, "\"\(member)\" must be a single type, not a family.")
    }

    static func unknownType(_ member: String, _ unknown: UnknownFeedType) -> Problem {
        // Shortened, so that a long name does not cause an equally long answer.
        let name = String(String.UnicodeScalarView(unknown.name.unicodeScalars.prefix(100)))
        let hint = unknown.nearest.map { " The nearest is \"\($0)\"." } ?? ""
        var problem = Problem.invalid(
            member,
            "\"\(member)\" names \"\(name)\", but the feed has no event of that name.\(hint)")
        problem.extensions.append("nearest", .optional(unknown.nearest))
        return problem
    }
}

extension Body {
    /// Returns the change in the body. Missing members leave their settings unchanged.
    fileprivate func webhookChange(_ reach: WebhookReach) throws(Problem) -> WebhookChange {
        var change = WebhookChange()
        change.url = try optionalText("url").map { text throws(Problem) in
            try proper("url") { () throws(InvalidWebhook) in
                try WebhookURL(text, reach)
            }
        }
        change.types = try types()
        change.format = try optionalWord("format")
        change.concurrency = try optionalInteger("concurrency", in: Webhook.concurrencies)
        if holds("rate") { change.rate = .some(try optionalInteger("rate", in: Webhook.rates)) }
        if holds("description") {
            let text = try optionalText("description")
            if let text,
                text.utf8.count > Webhook.descriptionLimit
                    || (!text.isEmpty && (try? Reason(text)) == nil)
            {
                throw .invalid(
                    "description",
                    "\"description\" must have at most \(Webhook.descriptionLimit) printable bytes."
                )
            }
            change.description = .some(text)
        }
        if holds("headers") { change.headers = try headers() }
        return change
    }

    fileprivate func types() throws(Problem) -> [String]? {
        guard let types = try optionalTexts("types") else { return nil }
        if types.isEmpty || types.count > Webhook.typeLimit {
            throw .invalid(
                "types", "\"types\" must name 1 to \(Webhook.typeLimit) types or families.")
        }
        do throws(UnknownFeedType) {
            _ = try FeedTypes(types)
        } catch {
            throw .unknownType("types", error)
        }
        return types
    }

    private func headers() throws(Problem) -> [WebhookHeader] {
        let members = try optionalObject("headers")?.members ?? []
        if members.count > Webhook.headerLimit {
            throw .invalid(
                "headers", "\"headers\" may have at most \(Webhook.headerLimit); send fewer.")
        }
        var headers: [WebhookHeader] = []
        for member in members {
            let shown = String(String.UnicodeScalarView(member.name.unicodeScalars.prefix(64)))
            guard let value = member.value.string else {
                throw .invalid("headers.\(shown)", "\"headers.\(shown)\" must be a string.")
            }
            headers.append(
                try proper("headers.\(shown)") { () throws(InvalidWebhook) in
                    try WebhookHeader(name: member.name, value: value)
                })
        }
        if Set(headers.map { $0.name.lowercased() }).count < headers.count {
            throw .invalid("headers", "\"headers\" names one header twice.")
        }
        return headers
    }

    private func proper<Value>(
        _ member: String, _ value: () throws(InvalidWebhook) -> Value
    ) throws(Problem) -> Value {
        try rethrowing(
            as: { (error: InvalidWebhook) in
                Problem.invalid(member, "\"\(member)\" \(error.withRemedy).")
            }, value)
    }

    /// Returns the events to send again.
    fileprivate func replay() throws(Problem) -> WebhookReplay.Wanted {
        let rest = ["since", "until", "types", "customer"]
        if let event = try optionalText("event") {
            if event.utf8.count > 100 || (try? Reason(event)) == nil {
                throw .invalid("event", "\"event\" must be the id of an event in the feed.")
            }
            if let other = rest.first(where: holds) {
                throw .invalid(other, "\"event\" names one event; leave \"\(other)\" out.")
            }
            return .event(event)
        }
        guard let since = try optionalInstant("since") else { throw .missing("since") }
        guard let until = try optionalInstant("until") else { throw .missing("until") }
        if until <= since { throw .invalid("until", "\"until\" must come after \"since\".") }
        let customer: CustomerID? = try optionalID("customer")
        try customer?.requireUnreserved("customer")
        return .range(since: since, until: until, types: try types(), customer: customer)
    }
}
