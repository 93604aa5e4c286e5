/// The next step of a report to the store about a purchase for which a refund was requested.
package enum RefundReportStep: Hashable, Sendable {
    /// Determines the report's content, or ends the report if it is too late. `obstacle` says why no report has been
    /// sent yet.
    case prepare(obstacle: String?)
    case finish(RefundReport.End, detail: String?)
}

extension Command {
    /// Returns a command for one step of a request's report, decided in the stream of the purchase's current holder.
    package static func reporting(
        on request: RefundFact, heldIn stream: Stream, _ step: RefundReportStep, actor: Actor,
        cause: Cause
    ) -> Command {
        var command = Command(stream: stream, actor: actor, cause: cause) { situation in
            let holder = situation.holder(of: request.purchase)
            guard let holder, let purchase = holder.state.purchase(request.purchase) else {
                return Decision([], for: stream.customer)
            }
            let event = purchase.event(of: step, request.id, holder, situation)
            return Decision(event.map { [$0] } ?? [], for: holder.customer)
        }
        command.purchases = [HeldPurchase(app: request.app, purchase: request.purchase)]
        return command
    }
}

extension Purchase {
    fileprivate func event(
        of step: RefundReportStep, _ id: NewsID, _ holder: Holder,
        _ situation: borrowing Situation
    ) -> Event? {
        switch step {
        case .prepare(let obstacle):
            guard let reporting = situation.project.settings.refundReporting,
                let request = refundsToReport.first(where: { $0.id == id })
            else { return nil }
            let used = holder.state.consumption(
                of: request, at: situation.now, by: situation.project.catalog)
            let content = used.report(by: reporting)
            if situation.now >= request.answerBy {
                return .refundUnreported(
                    RefundUnreported(
                        request: id, purchase: self.id, why: .tooLate,
                        detail: holder.reasonForSilence(isKnown: content != nil) ?? obstacle))
            }
            // There is no customer yet who could have consented.
            guard let content, report(on: id) == nil, !holder.customer.isReserved else {
                return nil
            }
            return .refundReportPrepared(RefundReportPrepared(request, content))
        case .finish(let end, let detail):
            // The end is recorded even if the store has decided in the meantime, because the store
            // has received the report.
            guard let report = report(on: id), report.end == nil else { return nil }
            switch end {
            case .reported:
                return .refundReported(RefundReported(request: id, purchase: self.id))
            case .unreported(let why):
                return .refundUnreported(
                    RefundUnreported(request: id, purchase: self.id, why: why, detail: detail))
            }
        }
    }
}

extension Holder {
    /// Returns why a report about a purchase cannot be sent to the store; `nil` if it can.
    fileprivate func reasonForSilence(isKnown: Bool) -> String? {
        if customer.isReserved { return "No customer claimed the purchase." }
        if isKnown { return nil }
        return "The catalog gives nothing for the product, so the log cannot tell whether it was "
            + "delivered."
    }
}
