import Core
import JSON

extension Column {
    /// The first columns of tables whose rows are in customers' shards.
    static let ofStream: [Column] = [
        .smallint("shard"), .text("project"), .text("environment"), .text("customer"),
    ]
}
/// The columns that identify a stream, in the order of the index.
let streamKey: [StaticString] = ["shard", "customer", "project", "environment"]

extension Table {
    static let customers = Table(
        "customers",
        Column.ofStream + [
            .number("version"),
            // Keeps the lower version, because a commit writes only the parts that it changed. The
            // job that rewrites the rest with the newer catalog must still find the customer.
            .number("catalog_version").byCatalog
                .joined(by: "least(known.catalog_version, excluded.catalog_version)"),
            .jsonb("runs").byCatalog, .instant("next_boundary_at").byCatalog,
            .jsonb("app_transactions"), .instant("answer_by"), .instant("inquiry_at").byCatalog,
        ], key: streamKey,
        source: RowSource { _ in
            [0]
        } changedBy: { _, _ in
            0
        } name: { _, _ in
            []
        } cells: { _, origin in
            let (customer, project) = (origin.customer, origin.project)
            let runs = customer.runs(by: project.catalog)
            let isPublished = !origin.stream.customer.isReserved
            return [
                .number(customer.version), .number(project.catalogVersion), .text(text(of: runs)),
                .instant(isPublished ? customer.nextBoundary(of: runs, in: project) : nil),
                .text(text(of: customer.appTransactions)), .instant(customer.answerBy),
                .instant(customer.inquiryAt),
            ]
        })

    static let balances = Table(
        "customer_balances", Column.ofStream + [.text("currency"), .number("amount")],
        key: streamKey + ["currency"],
        source: RowSource { origin in
            origin.customer.balances.currencies
        } eachChangedBy: { event, _ in
            event.movedCurrencies
        } name: { currency, _ in
            [.text(currency.text)]
        } cells: { currency, origin in
            let balances = origin.customer.balances
            return balances.moved(currency) ? [.number(balances[currency])] : nil
        })

    static let orders = Table(
        "orders",
        Column.ofStream + [
            .text("order_id"), .text("token"), .text("product"), .instant("opened_at"),
            .instant("expires_at"), .text("fulfilled_by"), .instant("closed_at"),
            .text("closed_because"),
        ], key: streamKey + ["order_id"],
        source: RowSource { origin in
            origin.customer.orders.map(\.id)
        } eachChangedBy: { event, _ in
            event.orders
        } name: { id, _ in
            [.text(id.text)]
        } cells: { id, origin in
            guard let order = origin.customer.order(id) else { return nil }
            let opened = order.opened
            return [
                .text(opened.token.text), .text(opened.product?.text), .instant(opened.openedAt),
                .instant(opened.expires), .text(order.fulfilled?.purchase.description),
                .instant(order.closed?.at), .text(order.closed?.cause.word),
            ]
        })

    static let grants = Table(
        "customer_grants",
        Column.ofStream + [
            .text("grant_id"), .text("entitlement"), .instant("starts_at"), .instant("ends_at"),
            .text("reason"), .text("ticket"), .instant("given_at"), .text("given_by"),
            .instant("revoked_at"), .text("revoked_by"), .text("revoked_because"),
            .text("revoked_ticket"), .text("after_current"),
        ], key: streamKey + ["grant_id"],
        source: RowSource { origin in
            origin.customer.grants.map(\.id)
        } eachChangedBy: { event, _ in
            event.grants
        } name: { id, _ in
            [.text(id.text)]
        } cells: { id, origin in
            // The grant is usually the newest one.
            guard let grant = origin.customer.grants.last(where: { $0.id == id }) else {
                return nil
            }
            let (given, revoked) = (grant.given, grant.revocation)
            return [
                .text(given.entitlement.text), .instant(given.start), .instant(grant.end),
                .text(given.reason.text), .text(given.ticket?.text),
                .instant(grant.givenAt), .text(grant.givenBy?.text), .instant(revoked?.at),
                .text(grant.revokedBy?.text), .text(revoked?.reason.text),
                .text(revoked?.ticket?.text),
                // The start depends on facts, and a new fact does not rewrite a grant's row.
                .text(grant.waits ? grant.lengthText : nil),
            ]
        })
}

extension Grant {
    fileprivate var lengthText: String {
        length?.text ?? (end == nil ? "for ever" : "until its end")
    }
}

extension Event {
    fileprivate var movedCurrencies: [CurrencyID] {
        if case .balance(let currency) = subject { return [currency] }
        return movedBelongings.map { Array($0.balances.keys) } ?? []
    }

    fileprivate var orders: [OrderID] {
        if case .order(let order) = subject { return [order] }
        return movedBelongings?.orders ?? []
    }

    fileprivate var grants: [GrantID] {
        if case .grant(let grant) = subject { return [grant] }
        return movedBelongings?.grants ?? []
    }
}

extension OrderClosed.Cause {
    fileprivate var word: String {
        switch self {
        case .stale: "stale"
        case .cancelled: "cancelled"
        case .settled: "settled"
        }
    }
}

/// Returns a string such as `["704…"]`; `nil` for an empty list.
private func text(of accounts: [AppTransactionID]) -> String? {
    accounts.isEmpty ? nil : JSON.array(accounts.map { .string($0.text) }).text
}

/// Returns a string such as `{"pro":"{[1,2),[3,)}"}`. Each value is a PostgreSQL int8multirange.
private func text(of runs: [EntitlementID: [Interval]]) -> String {
    var text: [UInt8] = [UInt8(ascii: "{")]
    text.reserveCapacity(64 * runs.count + 2)
    for (entitlement, intervals) in runs.sorted(by: { $0.key < $1.key }) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        JSON.write(entitlement.text, to: &text)
        text.append(contentsOf: ":\"{".utf8)
        var separator = "["
        for interval in intervals where !interval.isEmpty {
            text.append(contentsOf: separator.utf8)
            text.append(contentsOf: String(interval.start.milliseconds).utf8)
            text.append(UInt8(ascii: ","))
            if let end = interval.end {
                text.append(contentsOf: String(end.milliseconds).utf8)
            }
            text.append(UInt8(ascii: ")"))
            separator = ",["
        }
        text.append(contentsOf: "}\"".utf8)
    }
    text.append(UInt8(ascii: "}"))
    return String(decoding: text, as: UTF8.self)
}
