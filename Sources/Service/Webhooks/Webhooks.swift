package import Core

/// A webhook as shown in answers. Its `keys` are shown only once.
package struct WebhookAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let webhook: Webhook
    package let standing: WebhookStanding?
    package let keys: WebhookKeys?

    /// A webhook whose creation was interrupted receives nothing until its secrets exist.
    package var state: WebhookStanding.State {
        standing?.state(of: webhook) ?? (webhook.isPaused ? .paused : .parked)
    }
}

/// The recent attempts, newest first, and the waiting customers.
package struct DeliveriesAnswer: Hashable, Sendable {
    package let webhook: WebhookID
    package let attempts: [WebhookAttempt]
    package let waiting: [WaitingCustomer]
    package let replays: [WebhookReplay]
    /// The next page continues with attempts before this number; `nil` if this is the last page.
    package let next: Int64?
}

/// Manages the webhooks to which projects' events are sent.
package struct Webhooks: Sendable {
    package static let usualOverlap: Int64 = 86_400
    package static let overlaps: ClosedRange<Int64> = 0...604_800
    /// The maximum number of waiting customers listed in an answer.
    package static let waitingListed = 100
    package static let replaysListed = 10

    let ledger: any EventLog
    let keeper: any WebhookKeeper
    let records: any WebhookRecords
    let source: any WebhookSource
    let secrets: Secrets
    let now: @Sendable () -> Instant
    let machineClock: @Sendable () -> Instant
    package let reach: WebhookReach

    package init(
        _ ports: Ports, keeper: any WebhookKeeper, records: any WebhookRecords,
        source: any WebhookSource, reach: WebhookReach
    ) {
        ledger = ports.ledger
        secrets = ports.secrets
        now = ports.now
        machineClock = ports.machineClock
        self.keeper = keeper
        self.records = records
        self.source = source
        self.reach = reach
    }

    /// Deed's clock, which determines the recording time of events.
    package var instant: Instant { now() }

    package func creating(
        _ url: WebhookURL, _ environment: Environment, _ rest: WebhookChange,
        from start: WebhookStart, in project: ProjectID, by sender: Sender
    ) -> Wish<WebhookAnswer> {
        .look { () throws(CommandError) in
            // The cursor is determined before the event is recorded, so that nothing after the
            // event is missed.
            let cursor = try source.cursor(of: project, at: start)
            let headers = rest.headers ?? []
            var rest = rest
            // Sets the headers even if there are none, because computing their digest fails if the
            // installation's key is lost, before anything is recorded.
            rest.headers = headers
            let arguments = [url.text, environment.rawValue, start.text]
            let cause = secrets.cause(
                of: sender, "create_webhook", arguments + (try self.arguments(rest)))
            let id: WebhookID = secrets.newID(prefix: "wh_")
            let webhook = rest.made(id, environment, url)
            let command = Command.project(project, actor: sender.actor, cause: cause) {
                state, _ throws(Refusal) in try state.add(webhook, to: project)
            }
            return set(command, project).thenLooking { set throws(CommandError) in
                let keys =
                    try set.isThere
                    ? keeper.open(set.name, headers, version: set.version, from: cursor) : nil
                return try answer(set.webhook, of: project, keys)
            }
        }
    }

    package func changing(
        _ id: WebhookID, _ change: WebhookChange, of project: ProjectID, by sender: Sender
    ) -> Wish<WebhookAnswer> {
        .look { () throws(CommandError) in
            let arguments = [id.text, change.url?.text] + (try self.arguments(change))
            let cause = secrets.cause(of: sender, "change_webhook", arguments)
            let isRemembered = sender.idempotencyKey != nil
            let command = Command.project(project, actor: sender.actor, cause: cause) {
                state, _ throws(Refusal) in
                try state.change(id, change, isRemembered: isRemembered)
            }
            return set(command, project, id).thenLooking { set throws(CommandError) in
                if let headers = change.headers, set.isThere {
                    try keeper.set(headers, of: set.name, version: set.version)
                }
                return try answer(set.webhook, of: project)
            }
        }
    }

    /// Pauses or resumes a webhook.
    package func acting(
        _ act: WebhookAct, on id: WebhookID, of project: ProjectID, by sender: Sender
    ) -> Wish<WebhookAnswer> {
        set(command(act, id, project, sender, []), project, id).thenLooking {
            set throws(CommandError) in try answer(set.webhook, of: project)
        }
    }

    /// Creates a new key. The old keys continue to sign for this many seconds.
    package func rotating(
        _ id: WebhookID, overlap: Int64, of project: ProjectID, by sender: Sender
    ) -> Wish<WebhookAnswer> {
        set(command(.rotate, id, project, sender, ["\(overlap)"]), project, id).thenLooking {
            set throws(CommandError) in
            if !set.isThere { return try answer(set.webhook, of: project) }
            let keys = try keeper.rotate(
                set.name, to: set.webhook.key, version: set.version,
                from: source.cursor(of: project, at: .end), overlap: 1000 * overlap,
                now: machineClock())
            return try answer(set.webhook, of: project, keys)
        }
    }

    package func removing(
        _ id: WebhookID, of project: ProjectID, by sender: Sender
    ) -> Wish<WebhookID> {
        let cause = secrets.cause(of: sender, "remove_webhook", [id.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in try state.remove(id)
        }
        let name = WebhookName(project, id)
        return .look { () throws(CommandError) in
            // An interrupted removal has left data outside the log.
            if try ledger.existing(project).webhook(id) == nil { try obtain(keeper.forget(name)) }
            return Wish(command) { _ in id }.thenLooking { id throws(CommandError) in
                try obtain(keeper.forget(name))
                return id
            }
        }
    }

    package func list(of project: ProjectID) throws(CommandError) -> [WebhookAnswer] {
        let state = try ledger.existing(project)
        let standings = try obtain(records.webhookStandings(of: project, nil))
        return state.webhooks.map {
            WebhookAnswer(
                project: project, webhook: $0, standing: standings[$0.id], keys: nil)
        }
    }

    package func show(_ id: WebhookID, of project: ProjectID) throws(CommandError) -> WebhookAnswer
    {
        try answer(try webhook(id, of: project), of: project)
    }

    package func deliveries(
        _ id: WebhookID, of project: ProjectID, before number: Int64?, customer: CustomerID?,
        limit: Int
    ) throws(CommandError) -> DeliveriesAnswer {
        _ = try webhook(id, of: project)
        let name = WebhookName(project, id)
        let attempts = try obtain(
            records.webhookAttempts(of: name, before: number, customer: customer, limit: limit))
        let waiting = try obtain(
            records.waitingCustomers(of: name, limit: Webhooks.waitingListed))
        return DeliveriesAnswer(
            webhook: id, attempts: attempts,
            waiting: waiting.filter { customer == nil || $0.customer == customer },
            replays: try obtain(
                records.recentReplays(of: name, limit: Webhooks.replaysListed)),
            next: attempts.count == limit ? attempts.last?.number : nil)
    }

    package func test(
        _ id: WebhookID, type: String, of project: ProjectID
    ) throws(CommandError) -> WebhookTest {
        try source.test(try webhook(id, of: project), of: project, type: type)
    }

    /// Sends events again. An idempotency key always refers to the same replay and cannot be used
    /// for another.
    package func replay(
        _ wanted: WebhookReplay.Wanted, to id: WebhookID, of project: ProjectID, by sender: Sender
    ) throws(CommandError) -> ReplayID {
        let webhook = try webhook(id, of: project)
        if case .event(let event) = wanted {
            try source.require(event, of: project, webhook.environment)
        }
        let digest = secrets.cause(of: sender, "replay", [id.text] + wanted.arguments).digest
        let replay: ReplayID =
            if let key = sender.idempotencyKey {
                Identifier(
                    prefix: "rp_",
                    random: secrets.digest(Array("\(project)\0\(id)\0\(key)".utf8)).hexDigits
                        .prefix(24).description)
            } else {
                secrets.newID(prefix: "rp_")
            }
        let kept = try obtain(
            records.addReplay(
                WebhookReplay(replay, wanted.until(now())), digest: digest,
                of: WebhookName(project, id), at: machineClock()))
        guard let kept else {
            throw .refused(.webhook(.tooManyReplays(limit: WebhookReplay.countLimit)))
        }
        if kept != digest { throw .refused(.idempotencyMismatch) }
        return replay
    }

    private func webhook(_ id: WebhookID, of project: ProjectID) throws(CommandError) -> Webhook {
        guard let webhook = try ledger.existing(project).webhook(id) else {
            throw .refused(.webhook(.unknown(id)))
        }
        return webhook
    }

    private func answer(
        _ webhook: Webhook, of project: ProjectID, _ keys: WebhookKeys? = nil
    ) throws(CommandError) -> WebhookAnswer {
        let standing = try obtain(records.webhookStandings(of: project, webhook.id))[webhook.id]
        return WebhookAnswer(project: project, webhook: webhook, standing: standing, keys: keys)
    }

    private func command(
        _ act: WebhookAct, _ id: WebhookID, _ project: ProjectID, _ sender: Sender,
        _ arguments: [String?]
    ) -> Command {
        let cause = secrets.cause(
            of: sender, "act_on_webhook", [act.rawValue, id.text] + arguments)
        return Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in try state.act(act, on: id)
        }
    }

    private struct SetWebhook: Sendable {
        let name: WebhookName
        let webhook: Webhook
        let version: Int64
        /// False if the webhook has been removed since an earlier copy of the request.
        let isThere: Bool
    }

    private func set(
        _ command: Command, _ project: ProjectID, _ id: WebhookID? = nil
    ) -> Wish<SetWebhook> {
        Wish(command) { outcome throws(CommandError) in
            var webhook = id.flatMap { outcome.state.project?.webhook($0) }
            if case .webhookSet(let set)? = outcome.events.last?.event { webhook = set }
            guard let webhook else {
                throw .fault(.broken("setting a webhook returned no webhook"))
            }
            return SetWebhook(
                name: WebhookName(project, webhook.id), webhook: webhook,
                version: outcome.events.last?.version ?? outcome.state.version,
                isThere: outcome.state.project?.webhook(webhook.id) != nil)
        }
    }

    /// Returns the values that distinguish this request from others.
    private func arguments(_ change: WebhookChange) throws(CommandError) -> [String?] {
        let headers = try change.headers.map { headers throws(CommandError) in
            try keeper.digest(of: headers).hexDigits
        }
        // "none" stands for a removed value. A description with this text gets a line break, which no description
        // contains.
        let description = change.description.map { $0 == "none" ? "none\n" : $0 ?? "none" }
        return [
            change.types?.joined(separator: ","), change.format?.rawValue,
            change.concurrency.map { "\($0)" }, change.rate.map { $0.map { "\($0)" } ?? "none" },
            description, headers,
        ]
    }
}

extension WebhookChange {
    fileprivate func made(
        _ id: WebhookID, _ environment: Environment, _ url: WebhookURL
    ) -> Webhook {
        Webhook(
            id, environment, url: url, types: types ?? Webhook.usualTypes,
            format: format ?? .deed, concurrency: concurrency ?? Webhook.usualConcurrency,
            rate: rate ?? nil, description: description ?? nil,
            headers: headers?.map(\.name) ?? [])
    }
}

extension WebhookReplay.Wanted {
    /// Excludes everything that was recorded after the request first arrived.
    fileprivate func until(_ now: Instant) -> WebhookReplay.Wanted {
        guard case .range(let since, let until, let types, let customer) = self else { return self }
        return .range(since: since, until: min(until, now), types: types, customer: customer)
    }

    fileprivate var arguments: [String?] {
        switch self {
        case .event(let id): ["event", id]
        case .range(let since, let until, let types, let customer):
            ["range", since.text, until.text, types?.joined(separator: ","), customer?.text]
        }
    }
}
