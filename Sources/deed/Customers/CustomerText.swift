import Core
import Service

extension CustomerAnswer {
    /// A description of the customer for a person at a terminal.
    var text: String {
        let stream = entitlements.stream
        let customer = view.customer
        if customer.version == 0, view.sandbox == nil || customer == CustomerState() {
            return "Nothing was ever recorded about the customer \"\(stream.customer)\" in "
                + "\(stream.environment) of the project \"\(stream.project)\"; check the id, "
                + "--environment and --project."
        }
        if let whole = customer.mergedInto {
            return "\(stream.customer) is now part of \(whole); see: deed customer show \(whole)"
        }
        let at = entitlements.entitlements.at
        let balances = customer.balances.lines + (view.sandboxBalances?.sandboxLines ?? [])
        let sections = [
            ("Entitlements", entitlements.entitlements.all.map(\.line)),
            ("Subscriptions", subscriptions.map(\.line)),
            (
                "Purchases",
                customer.purchases.compactMap { $0.line(in: stream, by: view.project.catalog) }
            ),
            (
                "Grants",
                zip(customer.grants, customer.grantBounds(by: view.project.catalog)).map {
                    $0.line($1)
                }
            ),
            ("Balances", balances),
            ("Orders", customer.orders.map { $0.line(at: at) }),
        ]
        return sections.map { title, lines in
            lines.isEmpty
                ? "\(title): none" : ([title] + lines.map { "  \($0)" }).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}

extension Entitlement {
    fileprivate var line: String {
        "\(id)   \(state.rawValue)   \(run.words)   \(source.words)"
    }
}

extension SubscriptionStatus {
    fileprivate var line: String {
        let next = willRenew ? "renews" : "does not renew"
        return "\(purchase)   \(product)   \(state.rawValue)   \(run.words)   \(next)"
    }
}

extension Purchase {
    fileprivate func line(in stream: Stream, by catalog: Catalog) -> String? {
        guard let newest, let first = evidence.first?.effective else {
            return nil
        }
        let parts = [
            id.description, newest.product.text, kind(by: catalog)?.rawValue ?? "of unknown kind",
            "purchased \(first.purchased.text)",
            evidence.count > 1 ? "\(evidence.count) transactions" : nil,
            newest.expires.map { "expires \($0.text)" },
            newest.revocation.map { "taken back at \($0.at.text)" },
            block.map { "blocked at \($0.since.text): \($0.reason)" },
            // Before a customer claimed the purchase, a reserved stream held it. Such a stream is not a customer.
            arrival.flatMap { $0.from.isReserved ? nil : $0.words },
            newest.environment != stream.environment ? "in the \(newest.environment)" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: "   ")
    }
}

extension Grant {
    fileprivate func line(_ bounds: GrantBounds) -> String {
        let end = bounds.end.map { "until \($0.text)" } ?? "with no end"
        let start = bounds.start.map { "since \($0.text)" } ?? "after access that has no end"
        let fate = revocation.map { "   revoked at \($0.at.text)" } ?? ""
        let ticket = given.ticket.map { "   ticket \($0)" } ?? ""
        return "\(id)   \(given.entitlement)   \(start), \(end)\(fate)   "
            + "reason: \(given.reason)\(ticket)"
    }
}

extension Interval {
    fileprivate var words: String {
        "since \(start.text), \(end.map { "until \($0.text)" } ?? "with no end")"
    }
}

extension Entitlement.Source {
    /// The deciding source in words.
    fileprivate var words: String {
        switch self {
        case .purchase(let id): "by the purchase \(id)"
        case .grant(let id): "by the grant \(id)"
        case .originalAppVersion(let app): "by an early version of \(app)"
        }
    }
}

extension Arrival {
    /// Who the previous holder was, and the token that determined the move, if any.
    fileprivate var words: String {
        guard case .named(let token) = cause else { return "came from \(from)" }
        return "came from \(from) by its token \(token)"
    }
}
