/// The next step of telling the store what became of a purchase whose money is asked back.
package enum RefundReportStep: Hashable, Sendable {
    /// Fixes what is told, or says that it is too late for it; `obstacle` is what stood in the way.
    case prepare(obstacle: String?)
    case finish(RefundReport.End, detail: String?)
}

extension Command {
    /// A step about one request, decided where the purchase is held by then.
    package static func reporting(
        on request: RefundFact, heldIn stream: Stream, _ step: RefundReportStep, actor: Actor,
        cause: Cause
    ) -> Command {
        var command = Command(stream: stream, actor: actor, cause: cause) { situation in
            let holder = situation.holder(of: request.purchase)
            guard let holder, let purchase = holder.state.purchase(request.purchase),
                let open = purchase.refundsToReport.first(where: { $0.id == request.id })
            else { return Decision([], for: stream.customer) }
            let event = purchase.event(of: step, open, holder, situation)
            return Decision(event.map { [$0] } ?? [], for: holder.customer)
        }
        command.purchases = [HeldPurchase(app: request.app, purchase: request.purchase)]
        return command
    }
}

extension Purchase {
    fileprivate func event(
        of step: RefundReportStep, _ request: RefundFact, _ holder: Holder,
        _ situation: borrowing Situation
    ) -> Event? {
        switch step {
        case .prepare(let obstacle):
            guard let reporting = situation.project.settings.refundReporting else { return nil }
            if situation.now >= request.answerBy {
                let isUnclaimed = holder.customer.isReserved
                return .refundUnreported(
                    RefundUnreported(
                        request: request.id, purchase: id, why: .tooLate,
                        detail: isUnclaimed ? "No customer claimed the purchase." : obstacle))
            }
            // There is no customer yet who could have agreed.
            if report(on: request.id) != nil || holder.customer.isReserved { return nil }
            let used = holder.state.consumption(
                of: request, at: situation.now, by: situation.project.catalog)
            return .refundReportPrepared(
                RefundReportPrepared(request, used.report(by: reporting)))
        case .finish(.reported, _):
            return .refundReported(RefundReported(request: request.id, purchase: id))
        case .finish(.unreported(let why), let detail):
            return .refundUnreported(
                RefundUnreported(request: request.id, purchase: id, why: why, detail: detail))
        }
    }
}
