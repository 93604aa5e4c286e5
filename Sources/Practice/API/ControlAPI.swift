internal import Core
internal import HTTPServer
internal import JSON

/// The calls that `deed-practice` and other test clients make to a running store. Real stores do not have them.
struct ControlAPI: Sendable {
    let store: PracticeStore

    func answer(_ call: Call) -> Response {
        do throws(PracticeError) {
            return Response(json: try perform(call))
        } catch {
            let (status, code) =
                switch error {
                case .invalid: (400, "invalid")
                case .refused: (409, "refused")
                case .broken: (500, "broken")
                }
            let body: JSON = ["code": .string(code), "detail": .string(error.description)]
            return Response(json: body, status: status)
        }
    }

    private func perform(_ call: Call) throws(PracticeError) -> JSON {
        switch (call.method, call.parts.dropFirst().joined(separator: "/")) {
        case ("POST", "steps"):
            let step: Step = try readStrictly(call.body)
            return step.seller == .google
                ? try store.performInPlay(step).json : try store.perform(step).json
        case ("POST", "advance"): return try advance(readStrictly(call.body))
        case ("POST", "lives"): return try run(Scenario(call.body), jumps: call.one("jump") != "no")
        case ("PUT", "trouble"):
            let trouble = try Trouble(call.body)
            try store.change { $0.make(trouble) }
            return ["trouble": "switched"]
        case ("GET", "state"): return store.read { $0.summary(of: call.one("customer")) }
        case ("GET", "handover"): return try handOver(call)
        default: throw .invalid("there is no such call; see docs/practice-store.md")
        }
    }

    private struct Advance: Codable {
        var by: Wait?
        var to: Instant?
    }

    private func advance(_ wish: Advance) throws(PracticeError) -> JSON {
        let target: Instant
        switch (wish.by, wish.to) {
        case (let wait?, nil): target = wait.end(after: store.read { $0.now })
        case (nil, let instant?): target = instant
        default: throw .invalid("advance needs either \"by\", such as 40d, or \"to\", an instant")
        }
        if target.isAfterDates {
            let span = wish.by.map { "by is \(quoted($0.text))" } ?? "to is \(quoted(target.text))"
            throw .invalid("\(span), which is after the year 9999, the last that Deed supports")
        }
        return report(try store.advance(to: target))
    }

    private func run(_ scenario: Scenario, jumps: Bool) throws(PracticeError) -> JSON {
        let end = try store.change { world throws(PracticeError) in try world.plan(scenario) }
        if !jumps { return report([]) }
        var object = report(try store.advance(to: end)).object ?? JSONObject()
        let unmet = store.read { $0.unmet(scenario) }
        object.append("unmet", .array(unmet.map(JSON.string)))
        return .object(object)
    }

    private func report(_ events: [PracticeStore.Event]) -> JSON {
        let lines = events.map { JSON.string("\($0.at.text) \($0.text)") }
        var object = JSONObject()
        object.append("now", .string(store.read { $0.now.text }))
        object.append("events", .array(lines))
        if !store.isFollowed {
            let note =
                "Deed's clock does not follow. A Deed served with --test-clock follows a store "
                + "that is started with --service-url."
            object.append("note", .string(note))
        }
        return .object(object)
    }

    /// Returns what a customer's app submits when the customer restores purchases.
    private func handOver(_ call: Call) throws(PracticeError) -> JSON {
        guard let customer = call.one("customer") else {
            throw .invalid("handover needs a customer")
        }
        return try store.read { world throws(PracticeError) -> JSON in
            guard world.customers.contains(customer) else {
                throw .refused("\(customer) never installed the app; see: deed-practice buy")
            }
            let tokens = world.playTokens(of: customer)
            guard world.isInstalled(by: customer) else {
                return ["customer": .string(customer), "google": .array(tokens)]
            }
            let sales = world.sales(of: customer)
            let outcome = Outcome(customer: customer, transaction: sales.last?.id)
            var object =
                HandOver(outcome, in: world, by: store.authority).json.object ?? JSONObject()
            // Contains the latest period of each subscription, and unfinished consumables.
            let current = sales.filter { sale in
                if let subscription = world.subscriptions[sale.original] {
                    // Includes the current period even if the next one has already been charged.
                    let isRunning = sale.expires.map { world.now < $0 } ?? false
                    return subscription.latest == sale.id
                        || isRunning && sale.revocation == nil && !sale.isUpgraded
                }
                return !sale.isFinished
            }
            let signed = current.map { JSON.string(store.authority.sign(world.payload(of: $0))) }
            object.append("signed_transactions", .array(signed))
            if !tokens.isEmpty { object.append("google", .array(tokens)) }
            return .object(object)
        }
    }
}

extension PracticeWorld {
    /// Returns a summary of the store's state for people to read.
    func summary(of customer: String?) -> JSON {
        let wanted = customer.map { [$0] } ?? customers
        var object = JSONObject()
        object.append("now", .string(now.text))
        object.append("bundle_id", .string(shop.app.bundleID))
        object.append("notification_url", .optional(shop.app.notificationURL))
        object.append("next_due", .optional(nextDue?.text))
        object.append("customers", .array(wanted.map(members(of:))))
        let posted = postings.filter { customer == nil || $0.customer == customer }.suffix(20)
        let lines = posted.map { posting -> JSON in
            [
                "at": .string(posting.at.text), "type": .string(posting.type),
                "subtype": .optional(posting.subtype), "id": .string(posting.id),
                "customer": .optional(posting.customer),
                "attempts": .array(posting.attempts.map { .string($0.result) }),
                "next": .optional(posting.next?.text),
            ]
        }
        object.append("notifications", .array(lines))
        let told = play.messages.filter { customer == nil || $0.customer == customer }.suffix(20)
        if !told.isEmpty { object.append("messages", .array(told.map(\.json))) }
        return .object(object)
    }

    private func members(of customer: String) -> JSON {
        let standings = standings(of: customer).map { standing -> JSON in
            let members: JSON = [
                "purchase": .string(standing.original), "product": .string(standing.product),
                "active": .bool(standing.isActive), "state": .string(standing.word),
                "until": .optional(standing.until?.text),
                "renews": standing.renews.map(JSON.bool) ?? .null,
                "commitment": .optional(standing.commitment),
            ]
            return members.with("store", standing.store == .google ? "google" : nil)
                .with("quantity", standing.quantity.map { .integer($0) })
        }
        let transactions = sales(of: customer).map { sale -> JSON in
            [
                "transaction": .string(sale.id), "product": .string(sale.product),
                "purchased": .string(sale.purchased.text),
                "expires": .optional(sale.expires?.text), "order": .string(sale.order),
                "revoked": .optional(sale.revocation?.at.text),
            ]
        }
        return [
            "customer": .string(customer), "purchases": .array(standings),
            "transactions": .array(transactions),
        ]
    }
}
