import Core
import HTTPServer
import Service
import Telemetry

/// The calls that submit evidence.
struct SubmissionRoutes: Sendable {
    static let evidenceLimit = 4 << 20
    static let notificationLimit = 256 << 10
    private let submissions: Submissions
    private let measures: NotificationMeasures
    private let handIns: [HandIn]
    private let gates: [(store: Store, gate: NotificationGate)]

    init(_ submissions: Submissions, _ metrics: Metrics) {
        self.submissions = submissions
        measures = NotificationMeasures(metrics)
        handIns = submissions.intake.adapters.flatMap(\.profile.handIns)
        gates = submissions.intake.adapters.compactMap { adapter in
            adapter.profile.news.map {
                (adapter.profile.store, NotificationGate(submissions, of: $0))
            }
        }
    }

    var routes: [Route] {
        [("receipts", false), ("restore", true)].map { name, isRestore in
            Route(
                "POST", "/customers/{customer}/\(name)", parameters: ["environment"],
                bodyLimit: SubmissionRoutes.evidenceLimit, .submit, .evidence
            ) { call throws(Problem) in try submit(call, isRestore: isRestore) }
        } + gates.map { notifications(of: $0.store, through: $0.gate) }
    }

    /// Returns the route for a store's notifications.
    private func notifications(of store: Store, through gate: NotificationGate) -> Route {
        Route(
            "POST", "/stores/\(store.rawValue)/notifications",
            bodyLimit: SubmissionRoutes.notificationLimit, .evidence
        ) { call in
            let entry = gate.enter(from: call.client?.description)
            let body = call.body
            return (
                entry.isTrusted ? .proven : .strangers,
                .waiting { () throws(Problem) in try notify(body, entry, gate) }
            )
        }
    }

    private func submit(_ call: Call, isRestore: Bool) throws(Problem) -> Wish<Response> {
        let body = try Body(call.body, of: handIns.map(\.name) + ["order", "environment"])
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let order: OrderID? = try body.optionalID("order")
        let request = SubmissionRequest(
            try body.evidence(handIns), isRestore: isRestore, order: order,
            only: call.access.key.limits.environment)
        let wish = try obey(submissions.submitting(request, for: stream, by: call.sender))
        return wish.response { answer in
            .json(answer.json, status: answer.isPending ? 202 : 200, position: answer.position)
        }
    }

    private func notify(
        _ body: [UInt8], _ entry: NotificationGate.Entry, _ gate: NotificationGate
    ) throws(Problem) -> Reaction {
        do throws(NotificationError) {
            let counted = try gate.recording(body, entry).then { [measures] result in
                let answer = try? result.get()
                measures.count(answer.map(NotificationMeasures.Outcome.init) ?? .unstored)
                return .answered(result)
            }
            return .writing(counted.response { .json($0.json) })
        } catch {
            measures.count(NotificationMeasures.Outcome(error))
            throw Problem(error)
        }
    }
}

extension Problem {
    /// Creates the answer to a store after an error. After any 4xx or 5xx except 400, stores resend a notification for
    /// several days.
    fileprivate init(_ error: NotificationError) {
        switch error {
        case .unreadable(let refused):
            self.init(status: 400, code: refused.code, detail: refused.sentence)
        case .unproven(let refused):
            self.init(
                status: 401, code: refused.code, detail: refused.sentence,
                isRetryable: refused.cure != .none)
        case .unknownApp(let app):
            self.init(
                status: 404, code: "app_unknown",
                detail: "No project here has the app \"\(app)\"; add it with: deed app set "
                    + "--bundle-id \(app)",
                isRetryable: true)
        case .throttled:
            self = .throttled(
                "Too many notifications from unknown signers are arriving; send this notification again later.",
                after: 60)
        case .fault(let fault): self.init(fault)
        }
    }
}
