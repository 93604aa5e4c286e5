import JSON

/// An event as a sentence.
struct EventWords {
    /// As the customer's events have it.
    let event: JSON

    private var data: JSON? { event["data"] }
    private func text(_ name: String) -> String { data?[name]?.string ?? "" }

    var sentence: String {
        if event["erased"]?.bool == true { return "\(kind); its content was erased." }
        return what + because + "."
    }

    private var kind: String { event["type"]?.string ?? "event" }

    private var because: String {
        let cause = data?["cause"]
        let reason = data?["reason"]?.string ?? cause?["reason"]?.string
        let ticket = data?["ticket"]?.string ?? cause?["ticket"]?.string
        return (reason.map { ": \($0)" } ?? "") + (ticket.map { " (\($0))" } ?? "")
    }

    private var amount: String { "\(data?["amount"]?.integer ?? 0) \(text("currency"))" }
    private var until: String {
        data?["end"]?.string.map { " until \($0)" } ?? " with no end"
    }
    private var period: String { data?["expires"]?.string.map { ", paid until \($0)" } ?? "" }

    private var what: String {
        purchaseWords ?? grantWords ?? balanceWords ?? customerWords ?? kind.spaced
    }

    private var purchaseWords: String? {
        switch kind {
        case "purchase.made": "\(text("product")) was bought\(period)"
        case "subscription.renewed": "\(text("product")) was renewed\(period)"
        case "subscription.upgraded": "The subscription became \(text("product"))\(period)"
        case "subscription.extended": "The store extended \(text("product"))\(period)"
        case "purchase.refunded": "\(text("product")) was refunded"
        case "purchase.revoked": "\(text("product")) was taken back"
        case "refund.reversed": "The refund of \(text("product")) was reversed"
        case "purchase.restated": "The store said more about \(text("product"))\(period)"
        case "renewal.changed", "renewal.restated": renewal
        case "purchase.attached": "\(text("purchase")) came here"
        case "purchase.detached": "\(text("purchase")) went to \(text("to"))"
        case "purchase.blocked": "\(text("purchase")) was blocked"
        case "purchase.unblocked": "The block of \(text("purchase")) was taken back"
        case "refund.requested": "The customer asked the store for a refund"
        case "refund.declined": "The store declined the refund"
        default: nil
        }
    }

    private var renewal: String {
        let product = text("product")
        let plan =
            data?["will_renew"]?.bool == true
            ? "\(product) will be renewed" : "\(product) will not be renewed"
        let grace = data?["grace_until"]?.string.map { ", with grace until \($0)" } ?? ""
        return data?["in_billing_retry"]?.bool == true
            ? "\(plan); the payment failed\(grace)" : plan + grace
    }

    private var grantWords: String? {
        switch kind {
        case "grant.given": "\(text("entitlement")) was given\(until)"
        case "grant.changed": "The grant \(text("grant")) got another end\(until)"
        case "note.added": "Note: \(text("text"))"
        case "note.removed": "The note \(text("note")) was removed"
        case "grant.revoked": "The grant \(text("grant")) was revoked"
        case "access.started": "Access to \(text("entitlement")) began"
        case "access.ended": "Access to \(text("entitlement")) ended"
        case "access.ending_soon": "Access to \(text("entitlement")) ends soon"
        default: nil
        }
    }

    private var balanceWords: String? {
        switch kind {
        case "balance.credited": "\(amount) were credited for \(text("purchase"))"
        case "balance.debited": "\(amount) were taken back for \(text("purchase"))"
        case "balance.spent": "\(amount) were spent"
        case "balance.adjusted": "The balance was adjusted by \(amount)"
        case "order.opened": "The order \(text("order")) was opened"
        case "order.fulfilled": "The order \(text("order")) was fulfilled by \(text("purchase"))"
        case "order.closed": "The order \(text("order")) was closed"
        default: nil
        }
    }

    private var customerWords: String? {
        switch kind {
        case "token.registered": "The account token \(text("token")) was registered"
        case "customer.merged": "The customer became a part of \(text("into"))"
        case "customer.joined": "\(text("from")) became a part of this customer"
        case "customer.parted": "\(text("to")) is no part of this customer any more"
        case "customer.unmerged": "The customer is no part of \(text("from")) any more"
        case "customer.erased": "The customer was erased"
        default: nil
        }
    }
}
