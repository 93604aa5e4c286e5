import JSON

/// The customer's purchases, each with the store's statements about it.
struct PurchasePart {
    /// The maximum number of statements shown for a purchase.
    private static let limit = 25

    let look: CustomerLook

    var markup: Markup {
        let purchases = look.whole["purchases"]?.array ?? []
        if purchases.isEmpty { return .nothing }
        let part = look.part(of: purchases.newestFirst(by: "purchased"), "purchases")
        let ids = Set(part.shown.compactMap { $0["purchase"]?.string })
        var states: [String: String] = [:]
        for subscription in look.whole["subscriptions"]?.array ?? [] {
            guard let id = subscription["purchase"]?.string, ids.contains(id) else { continue }
            if states[id] == nil { states[id] = subscription["state"]?.string }
        }
        let articles = part.shown.map { purchase($0, states) }
        let all = Markup.link(look.stream.below("evidence"), "All evidence about this customer")
        return .section("purchases", "Purchases", "\(part.links)\(articles)<p>\(all)</p>")
    }

    private func purchase(_ purchase: JSON, _ states: [String: String]) -> Markup {
        let id = purchase["purchase"]?.string ?? ""
        let terms: [(String, Markup)] = [
            ("App", .text(purchase["app"]?.string ?? "")),
            ("Kind", .text((purchase["kind"]?.string ?? "not in the catalog").spaced)),
            ("State", .text(states[id] ?? "")),
            ("Bought", .time(purchase["purchased"]?.string)),
            ("Paid until", .time(purchase["expires"]?.string)),
            ("Taken back", .time(purchase["revoked_at"]?.string)),
            ("Blocked", .time(purchase["blocked_at"]?.string)),
            ("Came from", origin(purchase["came_from"]?.string)),
        ]
        let lines: [Markup] = terms.filter { !$0.1.html.isEmpty }.map {
            "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>"
        }
        return """
            <article class="card"><h3>\(purchase["product"]?.string ?? "") <code>\(id)</code></h3>
            <dl>\(lines)</dl>
            \(facts(id))
            \(acts(purchase, id))
            </article>
            """
    }

    private func origin(_ customer: String?) -> Markup {
        guard let customer else { return .nothing }
        if customer.hasPrefix("$") { return "no customer: it waited to be claimed" }
        let stream = look.stream
        return .link(
            NamedStream(stream.room, customer, isSandbox: stream.isSandbox).place, customer)
    }

    /// Returns whether the purchase came to this customer because a person moved it. Such a move
    /// can be undone.
    private func wasMoved(_ id: String) -> Bool {
        let last = look.events.last {
            $0["type"]?.string == "purchase.attached" && $0["data"]?["purchase"]?.string == id
        }
        return last?["data"]?["cause"]?["kind"]?.string == "admin"
    }

    private func facts(_ id: String) -> Markup {
        let all = look.facts(about: id)
        if all.isEmpty {
            return look.earlier == 0 && look.before == nil
                ? .nothing
                : "<p>The store's statements about this purchase are not among the events on this page; see older or newer events.</p>"
        }
        let facts = Array(all.suffix(PurchasePart.limit))
        let more: Markup =
            all.count == facts.count
            ? .nothing : "<p>\(all.count - facts.count) older ones are in the list of events.</p>"
        let hasPrices = facts.contains { $0.fact["price"] != nil }
        let price: Markup = hasPrices ? "<th scope=\"col\">Price</th>" : .nothing
        let environment: Markup =
            look.stream.isSandbox
            ? .hidden([("environment", look.stream.environment)]) : .nothing
        return """
            <form method="get" action="\(value: look.stream.bare("evidence").text)">\(environment)
            <div class="wide"><table>
            <caption>Transactions and their evidence</caption>
            <thead><tr><th scope="col">Transaction</th><th scope="col">Product</th><th scope="col">Bought</th><th scope="col">Until</th>\(price)<th scope="col">Evidence</th><th scope="col">Said at</th><th scope="col">Recorded</th></tr></thead>
            <tbody>
            \(facts.map { row($0.event, $0.fact, hasPrices: hasPrices) })
            </tbody></table></div>
            </form>
            \(more)
            """
    }

    private func row(_ event: JSON, _ fact: JSON, hasPrices: Bool) -> Markup {
        let price: Markup = hasPrices ? "<td>\(fact.price ?? "")</td>" : .nothing
        let revoked: Markup =
            fact["revocation"]?["at"]?.string.map { ", revoked at \(Markup.time($0))" }
            ?? .nothing
        return """
            <tr><th scope="row"><code>\(fact["transaction"]?.string ?? "")</code></th><td>\(fact["product"]?.string ?? "")</td>
            <td>\(Markup.time(fact["purchased"]?.string))</td><td>\(Markup.time(fact["expires"]?.string))\(revoked)</td>\(price)
            <td>\(fact.evidence) \(proving(event))</td><td>\(Markup.time(fact["signed_at"]?.string))</td>
            <td>\(Markup.time(event["recorded_at"]?.string))</td></tr>
            """
    }

    /// Returns the button that verifies the evidence again. Evidence of a purchase that moved here is in the list of
    /// all evidence.
    private func proving(_ event: JSON) -> Markup {
        guard let version = event["version"]?.integer, event["data"]?["transactions"] == nil else {
            return .nothing
        }
        return
            "<button class=\"quiet\" name=\"event\" value=\"\(Int(version))\">Prove again</button>"
    }

    private func acts(_ purchase: JSON, _ id: String) -> Markup {
        let isBlocked = purchase["blocked_at"]?.string != nil
        let act = isBlocked ? Act.unblock : Act.block
        let room = look.stream.room
        var links: [Markup] = []
        if Act.transfer.isAllowed(in: room) {
            let place = look.stream.bare("purchases", id, "transfer")
            links.append(Act.transfer.shortForm(at: place, in: look.stream, about: id))
            if wasMoved(id) {
                links.append(
                    .link(
                        look.stream.below("purchases", id, "undo_transfer"), Act.takeBack.title))
            }
        }
        if act.isAllowed(in: room) {
            let place = look.stream.below("purchases", id, isBlocked ? "unblock" : "block")
            links.append(.link(place, act.title))
        }
        return links.isEmpty ? .nothing : "<div class=\"acts\">\(links)</div>"
    }
}

extension JSON {
    /// The price in a fact; `nil` if the fact has none.
    fileprivate var price: String? {
        guard let milliunits = self["price"]?["milliunits"]?.integer else { return nil }
        let currency = self["price"]?["currency"]?.string ?? ""
        let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        var decimals = String(1000 + rest).dropFirst()
        if decimals.hasSuffix("0") { decimals = decimals.dropLast() }
        return (milliunits < 0 ? "-" : "") + "\(whole).\(decimals) \(currency)"
    }

    /// The kind of evidence that states the fact, and who vouches for the fact.
    fileprivate var evidence: String {
        let store =
            switch self["store"]?.string {
            case "apple": "Apple"
            case "google": "Google"
            default: self["store"]?.string ?? ""
            }
        return switch self["rank"]?.string {
        case "offline_receipt": "receipt, signed by \(store)"
        case "verify_receipt_reply": "receipt, confirmed by \(store)"
        case "client_transaction": "transaction from the app, signed by \(store)"
        case "notification": "notification, signed by \(store)"
        case "server_api": "answer from \(store) to Deed"
        default: self["rank"]?.string ?? ""
        }
    }
}

extension String {
    /// A name from an answer, with spaces between its words.
    var spaced: String { replacing("_", with: " ") }
}
