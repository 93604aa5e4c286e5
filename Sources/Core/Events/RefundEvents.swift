/// The report to the store about a requested refund. Its content never changes, however often it is sent.
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

/// The store has received the prepared report.
package struct RefundReported: EventContent {
    package let request: NewsID
    package let purchase: PurchaseID
    package var subject: EventSubject { .purchase(purchase) }

    package init(request: NewsID, purchase: PurchaseID) {
        self.request = request
        self.purchase = purchase
    }
}

/// The store has not received a report about a requested refund, and never will.
package struct RefundUnreported: EventContent {
    package enum Why: String, Hashable, Sendable {
        /// The store no longer accepts reports about the request.
        case tooLate = "too_late"
        /// The store rejects the report.
        case refused
    }
    package let request: NewsID
    package let purchase: PurchaseID
    package let why: Why
    /// What prevented the report, if known.
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
            "refund.reported", "The store received the report on the requested refund"),
        .refundUnreported: .ofCustomer(
            "refund.unreported", "The store received no report on the requested refund"),
    ]
}
