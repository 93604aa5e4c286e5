/// The report to the store about a requested refund. However often it has to be sent, it stays the same.
package struct RefundReportPrepared: EventContent {
    package let request: NewsID
    package let purchase: PurchaseID
    package let transaction: TransactionID
    package let report: ConsumptionReport
    package var subject: EventSubject { .purchase(purchase) }

    package init(_ request: RefundFact, _ report: ConsumptionReport) {
        self.init(
            request: request.id, purchase: request.purchase, transaction: request.transaction,
            report: report)
    }

    package init(
        request: NewsID, purchase: PurchaseID, transaction: TransactionID,
        report: ConsumptionReport
    ) {
        self.request = request
        self.purchase = purchase
        self.transaction = transaction
        self.report = report
    }
}

/// The store has the report that was prepared.
package struct RefundReported: EventContent {
    package let request: NewsID
    package let purchase: PurchaseID
    package var subject: EventSubject { .purchase(purchase) }

    package init(request: NewsID, purchase: PurchaseID) {
        self.request = request
        self.purchase = purchase
    }
}

/// The store got no report about a requested refund, and will get none.
package struct RefundUnreported: EventContent {
    package enum Why: String, Hashable, Sendable {
        /// The store waits no longer.
        case tooLate = "too_late"
        /// The store does not take it.
        case refused
    }
    package let request: NewsID
    package let purchase: PurchaseID
    package let why: Why
    /// What stood in the way, as far as it is known.
    package let detail: String?
    package var subject: EventSubject { .purchase(purchase) }

    package init(request: NewsID, purchase: PurchaseID, why: Why, detail: String?) {
        self.request = request
        self.purchase = purchase
        self.why = why
        self.detail = detail
    }
}

extension EventType {
    static let refunds: EventFamily = [
        .refundRequested: .fact(
            "refund.requested", "The customer asked the store for a refund", .leftOut),
        .refundDeclined: .fact("refund.declined", "The store declined the refund", .leftOut),
        .refundReportPrepared: .ofCustomer(
            "refund.report_prepared", "A report on the requested refund was prepared"),
        .refundReported: .ofCustomer(
            "refund.reported", "The store has the report on the requested refund"),
        .refundUnreported: .ofCustomer(
            "refund.unreported", "The store got no report on the requested refund"),
    ]
}
