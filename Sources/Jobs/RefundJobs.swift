import Core
import JSON
package import Service
import Synchronization
package import Telemetry
import Threading
import Wording

extension Job {
    /// Sends stores reports on purchases for which a refund was requested. Two threads ensure that
    /// a store that hangs for one app delays the others by one call at most.
    package static func reportingRefunds(
        _ reports: RefundReports, log: Log, metrics: Metrics
    ) -> Job {
        let measures = RefundMeasures(metrics)
        let unread = Atomic(0)
        return Job(
            "refund-reports", .everywhere(milliseconds: 15_000), threads: 2, urgency: .patient
        ) { run throws(Fault) in
            do throws(CommandError) {
                try reports.report(while: { run.goesOn }) { news in
                    measures.count(news)
                    log.tell(news)
                } unread: { count in
                    if unread.exchange(count, ordering: .relaxed) != count, count > 0 {
                        log.error("refunds_unread", ["customers": .integer(Int64(count))])
                    }
                }
            } catch {
                switch error {
                case .fault(let fault): throw fault
                // A report is never refused, so a refusal means that something is broken.
                case .refused(let refusal): throw Fault.broken(refusal.withRemedy)
                }
            }
            return .asScheduled
        }
    }
}

private struct RefundMeasures: Sendable {
    private let reported, unreported, waiting: Counter

    init(_ metrics: Metrics) {
        func counter(_ outcome: String) -> Counter {
            metrics.counter(
                "deed_refund_reports_total",
                "Requested refunds, by whether Deed reported the purchase to the store.",
                labels: [("outcome", outcome)])
        }
        (reported, unreported) = (counter("reported"), counter("unreported"))
        waiting = counter("again")
    }

    func count(_ news: RefundReportNews) {
        switch news.outcome {
        case .reported: reported.add()
        case .unreported: unreported.add()
        case .waits: waiting.add()
        }
    }
}

extension Log {
    fileprivate func tell(_ news: RefundReportNews) {
        var fields = JSONObject()
        fields.append("project", .string(news.project.text))
        fields.append("app", .string(news.request.app.text))
        fields.append("request", .string(news.request.id.text))
        switch news.outcome {
        case .reported: info("refund_reported", .object(fields))
        case .unreported(let event):
            fields.append("why", .string(event.why.rawValue))
            fields.append("reason", .optional(event.detail))
            error("refund_unreported", .object(fields))
        case .waits(let trouble):
            fields.append("answer_by", .string(news.request.answerBy.text))
            fields.append("code", .string(trouble.code))
            fields.append("reason", .string(trouble.withRemedy))
            warning("refund_report_waits", .object(fields))
        }
    }
}
