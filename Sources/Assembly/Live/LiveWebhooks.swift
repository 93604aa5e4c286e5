import API
package import Core
import Crypto
package import Delivery
import Feed
import Jobs
package import Ledger
package import Outbound
package import Service

/// The addresses that webhook messages may reach, and the pauses between attempts.
package struct WebhookSettings: Sendable {
    package var rules = AddressRules()
    package var caFile: String?
    package var retries = RetryPlan.usual
    package var resolve: Resolve = systemAddresses

    package init() {}

    package var reach: WebhookReach {
        WebhookReach(allowsPlain: !rules.opened.isEmpty) { [rules] in rules.allow(host: $0) }
    }
}

extension Ledger: WebhookTable, WebhookRecords, DeliveryStore {}
extension WebhookVault: WebhookKeeper {}

/// The parts that send messages to projects' webhooks.
package struct LiveWebhooks: WebhookSource {
    package let vault: WebhookVault
    private let ledger: Ledger
    private let feed: FeedReader
    private let form = MessageForm { item, change in item.json(tellingAccess: true, change: change)
    }
    private let gate: SafeGate
    private let lines: OutboundLines
    private let outside: Outside
    private let clock: Clock

    init(_ ledger: Ledger, _ feed: FeedReader, _ outside: Outside, clock: @escaping Clock) {
        let settings = outside.webhooks
        let lines = OutboundLines { () throws(OutboundError) in
            var limits = Courier.Limits()
            // Each webhook limits its own requests.
            limits.requests = 100_000
            limits.idleConnections = 256
            return try Courier(limits, caFile: settings.caFile, rules: settings.rules)
        }
        (self.ledger, self.feed, self.lines, self.outside) = (ledger, feed, lines, outside)
        self.clock = clock
        vault = WebhookVault(ledger, keys: outside.keys)
        gate = SafeGate(settings.rules, resolve: settings.resolve) {
            () throws(OutboundError) in try lines.courier()
        }
    }

    package func cursor(
        of project: ProjectID, at start: WebhookStart
    ) throws(CommandError) -> String {
        var question = FeedQuestion(project, .production)
        switch start {
        case .beginning: question.start = .beginning
        case .end: question.start = .end
        case .since(let instant): question.start = .since(instant)
        }
        let cursor = try rethrowing(as: CommandError.init) { () throws(FeedError) in
            try feed.cursor(of: question)
        }
        return cursor.text(for: project)
    }

    package func require(
        _ event: String, of project: ProjectID, _ environment: Environment
    ) throws(CommandError) {
        let item = try rethrowing(as: CommandError.init) { () throws(FeedError) in
            try feed.item(event, of: project, environment)
        }
        if item == nil { throw .refused(.webhook(.eventUnknown(event))) }
    }

    package func test(
        _ webhook: Webhook, of project: ProjectID, type: String
    ) throws(CommandError) -> WebhookTest {
        let sender = ExampleSender(vault, form, gate, machineClock: outside.machineClock)
        let sent = try sender.send(type, to: webhook, of: project)
        return WebhookTest(
            message: sent.message, status: sent.end.status, error: sent.end.error,
            answer: sent.end.answer, milliseconds: sent.milliseconds)
    }

    /// Returns a job that keeps a delivery job running for each webhook.
    func job(_ ring: WebhookRing, _ bell: WebhookBell) -> Job {
        let (ledger, clock) = (ledger, clock)
        var ports = DeliveryPorts(
            ledger, vault: vault, form: form, gate: gate,
            reader: { FeedReader(ledger, now: clock, bytes: 2 << 20) },
            machineClock: outside.machineClock, log: outside.log,
            measures: DeliveryMeasures(outside.metrics, now: clock))
        ports.retries = outside.webhooks.retries
        return Job("webhooks", .everywhere(milliseconds: 10_000), longestPause: 1000) {
            [ports] _ throws(Fault) in
            try ring.reload()
            return .keeping(ring.active.map { .delivering(to: $0, ring, ports, bell) })
        }
    }

    package func close() { lines.close() }
}

extension Job {
    /// Returns a job that delivers to one webhook. Only one instance runs it at a time.
    fileprivate static func delivering(
        to name: WebhookName, _ ring: WebhookRing, _ ports: DeliveryPorts, _ bell: WebhookBell
    ) -> Job {
        Job(name.leaseName, .alone(milliseconds: 5000), longestPause: 5000) { run throws(Fault) in
            guard let lease = run.lease else { return .asScheduled }
            var goesOn = true
            while goesOn {
                let deliverer = try Deliverer(name, ports, bell, under: lease) {
                    ring.webhook(name)
                }
                goesOn = try deliverer?.run { run.goesOn } ?? false
            }
            return .asScheduled
        }
    }
}

extension CommandError {
    fileprivate init(_ error: FeedError) {
        switch error {
        case .fault(let fault): self = .fault(fault)
        case .cursorLost, .cursorOfAnotherDatabase:
            self = .fault(.broken("the feed refused a cursor that it had issued"))
        }
    }
}
