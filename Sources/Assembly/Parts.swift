package import API
package import Answers
import Core
import Evidence
package import Feed
package import Ledger
package import Service
import Telemetry

/// A service without its sockets and jobs: all parts that are needed to answer calls.
package struct Parts: Sendable {
    package let live: Live
    package let keys: KeyRing
    package let submissions: Submissions
    package let reads: CustomerReads
    package let answers: AnswerCache
    package let feed: Feed
    package let webhooks: WebhookRing

    package init(
        _ settings: LedgerSettings, _ outside: Outside, answerBytes: Int,
        staleMilliseconds: Int64 = 60_000
    ) {
        answers = AnswerCache(
            bytes: answerBytes, now: settings.clock, monotonicClock: outside.monotonicClock,
            render: { $0.ready })
        live = Live(settings, outside, answers: answers)
        keys = KeyRing(live.useCases.ports)
        reads = CustomerReads(
            live.useCases.customers, cache: answers, staleMilliseconds: staleMilliseconds)
        reads.publish(to: outside.metrics)
        feed = Feed(live.feed)
        let ledger = live.ledger
        webhooks = WebhookRing(ledger) { () throws(Fault) in
            try ledger.projectsWithWebhooks()
        }
        live.ledger.follow(with: feed.follower)
        feed.publish(to: outside.metrics)
        let unknown = UnknownProducts(
            outside.metrics, log: outside.log, clock: outside.machineClock)
        submissions = Submissions(live.intake) {
            unknown.notice($1, of: $0)
        }
    }

    package func router(_ operations: Operations, pages: PageSurface? = nil) -> Router {
        Router(
            live.useCases, reads, submissions, feed: feed, keys: keys, operations: operations,
            pages: pages)
    }
}
