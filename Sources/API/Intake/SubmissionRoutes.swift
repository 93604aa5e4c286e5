import Core
import HTTPServer
import Service
import Telemetry

/// The calls that bring evidence.
struct SubmissionRoutes: Sendable {
    static let evidenceLimit = 4 << 20
    static let notificationLimit = 256 << 10
    private let submissions: Submissions
    private let measures: NotificationMeasures
    private let gates: [(store: Store, gate: NotificationGate)]

    init(_ submissions: Submissions, _ metrics: Metrics) {
        self.submissions = submissions
        measures = NotificationMeasures(metrics)
        gates = submissions.intake.adapters.map {
            ($0.store, NotificationGate(submissions, of: $0.news))
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

    /// The call with which a store reports something by itself.
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
        let body = try Body(
            call.body,
            of: [
                "receipt", "signed_transactions", "app_transaction", "signed_renewals", "order",
                "environment",
            ])
        let stream = try call.stream(environment: try body.optionalText("environment"))
        let order: OrderID? = try body.optionalID("order")
        let request = SubmissionRequest(
            try body.evidence(), isRestore: isRestore, order: order)
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

extension Body {
    /// The evidence in the order in which it is answered.
    fileprivate func evidence() throws(Problem) -> [RawEvidence] {
        var pieces: [RawEvidence] = []
        if let receipt = try optionalText("receipt") {
            pieces.append(RawEvidence(.appReceipt, Array(receipt.utf8)))
        }
        pieces += try signed("signed_transactions").map {
            RawEvidence(.signedTransaction, Array($0.utf8))
        }
        if let app = try optionalText("app_transaction") {
            pieces.append(RawEvidence(.appTransaction, Array(app.utf8)))
        }
        pieces += try signed("signed_renewals").map {
            RawEvidence(.renewalInfo, Array($0.utf8))
        }
        if pieces.isEmpty {
            throw .missing(
                "receipt",
                "There is no evidence in the body; send \"receipt\", \"signed_transactions\" "
                    + "or \"app_transaction\".")
        }
        return pieces
    }

    private func signed(_ name: String) throws(Problem) -> [String] {
        let signed = try optionalTexts(name) ?? []
        let limit = SubmissionRequest.signedTransactionLimit
        if signed.count > limit {
            throw .invalid(
                name,
                "\"\(name)\" takes \(limit) per call and holds \(signed.count); send the others in "
                    + "further calls.")
        }
        return signed
    }
}

extension Problem {
    /// Apple sends a notification again after any 4xx or 5xx but a 400, for some days.
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
                "Too many notifications with unknown signers are arriving; send this one again later.",
                after: 60)
        case .fault(let fault): self.init(fault)
        }
    }
}
