import JSON

/// The customer's balances and their movements, the orders and the account tokens.
struct BalancePart {
    /// The maximum number of movements shown for a currency.
    private static let limit = 20

    let look: CustomerLook

    var markup: Markup { "\(balances)\(orders)\(tokens)" }

    private var balances: Markup {
        // If `known` is in the past, these are the balances known at that instant.
        let amounts = look.whole["balances"]?.object?.members ?? []
        if amounts.isEmpty { return .nothing }
        let list: [JSON] = amounts.map {
            ["currency": .string($0.name), "amount": .integer($0.value.integer ?? 0)]
        }
        let part = look.part(of: list, "balances")
        let articles = part.shown.map {
            balance($0["currency"]?.string ?? "", $0["amount"]?.integer ?? 0)
        }
        return .section("balances", "Balances", "\(part.links)\(articles)")
    }

    private func balance(_ currency: String, _ amount: Int64) -> Markup {
        let movements = look.events.filter {
            ($0["type"]?.string ?? "").hasPrefix("balance.")
                && $0["data"]?["currency"]?.string == currency
        }
        let rows: [Markup] = movements.suffix(BalancePart.limit).reversed().map(movement)
        let place = look.stream.below("balances", currency, "adjust")
        let act: Markup =
            Act.adjust.isAllowed(in: look.stream.room)
            ? "<p class=\"acts\">\(Markup.link(place, Act.adjust.title))</p>" : .nothing
        let table: Markup =
            rows.isEmpty
            ? .nothing
            : """
            <div class="wide"><table>
            <caption>Newest movements</caption>
            <thead><tr><th scope="col">When</th><th scope="col">Amount</th><th scope="col">Why</th></tr></thead>
            <tbody>\(rows)</tbody></table></div>
            """
        return """
            <article class="card"><h3>\(currency): \(String(amount))</h3>
            \(table)
            \(act)
            </article>
            """
    }

    private func movement(_ event: JSON) -> Markup {
        let data = event["data"]
        let isTaken = ["balance.debited", "balance.spent"].contains(event["type"]?.string)
        let amount = data?["amount"]?.integer ?? 0
        let why = data?["reason"]?.string ?? data?["purchase"]?.string ?? ""
        return """
            <tr><td>\(Markup.time(event["recorded_at"]?.string))</td><td>\(String(isTaken ? -amount : amount))</td><td>\(why)</td></tr>
            """
    }

    private var orders: Markup {
        let orders = look.whole["orders"]?.array ?? []
        if orders.isEmpty { return .nothing }
        let part = look.part(of: orders.newestFirst(by: "opened_at"), "orders")
        let rows = part.shown.map { order -> [Markup] in
            [
                .code(order["id"]?.string), .text(order["product"]?.string ?? ""),
                .text(order["state"]?.string ?? ""), .time(order["opened_at"]?.string),
                .text(order["purchase"]?.string ?? ""), .code(order["token"]?.string),
                closing(order),
            ]
        }
        let columns = ["Order", "Product", "State", "Opened", "Purchase", "Token", "Do"]
        return .section("orders", "Orders", "\(part.links)\(Markup.table(columns, rows))")
    }

    private func closing(_ order: JSON) -> Markup {
        let isOver = order["purchase"]?.string != nil || order["closed_at"]?.string != nil
        guard !isOver, Act.close.isAllowed(in: look.stream.room) else { return .nothing }
        let place = look.stream.below("orders", order["id"]?.string ?? "", "close")
        return .link(place.with("version", String(look.version)), Act.close.title)
    }

    private var tokens: Markup {
        let tokens = look.events.filter { $0["type"]?.string == "token.registered" }
            .compactMap { $0["data"]?["token"]?.string }
        if tokens.isEmpty { return .nothing }
        let items: [Markup] = tokens.map { "<li><code>\($0)</code></li>" }
        return .section("tokens", "Account tokens", "<ul>\(items)</ul>")
    }
}
