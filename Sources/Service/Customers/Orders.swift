package import Core

/// An order as of an instant, and a position in the log that includes it.
package struct OrderAnswer: Hashable, Sendable {
    package let stream: Stream
    package let order: Order
    package let at: Instant
    package let position: Position
}

/// Some of a customer's orders as of an instant, oldest first.
package struct OrdersAnswer: Hashable, Sendable {
    package let stream: Stream
    package let orders: [Order]
    package let at: Instant
    package let position: Position
    /// How many orders precede the next page; `nil` if this is the last page.
    package let next: Int?
}

/// An account token of the customer.
package struct TokenAnswer: Hashable, Sendable {
    package let stream: Stream
    package let token: AccountToken
    package let position: Position
}

/// Manages announced purchases, and tokens that identify the buyer.
package struct Orders: Sendable {
    let ledger: any EventLog
    let directory: any Directory
    let secrets: Secrets
    let now: @Sendable () -> Instant

    /// Returns a request to announce a purchase. If the sender does not give an id, the order gets a new one.
    package func opening(
        _ id: OrderID?, product: ProductID?, lifetime: CalendarDuration?, for stream: Stream,
        by sender: Sender, allowingUnknown: Bool = false
    ) -> Wish<OrderAnswer> {
        let wish = OpenOrder(
            order: id ?? secrets.newID(prefix: "o_"),
            token: AccountToken(random: secrets.randomBytes(16)), product: product,
            lifetime: lifetime)
        let cause = secrets.cause(
            of: sender, "open_order", [id?.text, product?.text, lifetime?.text])
        let command = Command.claiming(
            wish.token, for: stream, actor: sender.actor, cause: cause
        ) { situation throws(Refusal) in
            if let product, !allowingUnknown {
                try situation.project.require(.product(product))
            }
            return try situation.customer(stream.customer).decide(
                wish, settings: situation.project.settings, now: situation.now)
        }
        return Wish(
            command, telling: { if case .orderOpened(let opened) = $0 { opened } else { nil } },
            missing: "opening an order recorded no order"
        ) { recorded in
            let opened = recorded.told
            // Events of this command may also show purchases that were claimed immediately.
            var customer = CustomerState()
            for own in recorded.outcome.events { customer.apply(own.event) }
            return OrderAnswer(
                stream: stream, order: customer.order(opened.order) ?? Order(opened),
                at: opened.openedAt, position: recorded.last)
        }
    }

    /// Returns a request to stop waiting for the order's purchase. If the order is already closed, the answer is the
    /// same.
    package func closing(
        _ id: OrderID, because cause: OrderClosed.Cause, of stream: Stream, by sender: Sender
    ) -> Wish<OrderAnswer> {
        let wish = CloseOrder(order: id, cause: cause)
        let command = Command.customer(
            stream, actor: sender.actor,
            cause: secrets.cause(of: sender, "close_order", [id.text] + cause.arguments)
        ) { state, _, now throws(Refusal) in try state.decide(wish, now: now) }
        return Wish(
            command, telling: { if case .orderClosed(let closed) = $0 { closed } else { nil } }
        ) { recorded throws(CommandError) in
            let order = try recorded.outcome.order(id)
            return OrderAnswer(
                stream: stream, order: Order(order.opened, closed: recorded.told),
                at: recorded.told.at, position: recorded.position)
        } otherwise: { [now] outcome throws(CommandError) in
            OrderAnswer(
                stream: stream, order: try outcome.order(id), at: now(),
                position: outcome.position)
        }
    }

    /// Returns an order, whichever customer it belongs to.
    package func find(
        _ id: OrderID, of project: ProjectID, in environment: Environment
    ) throws(CommandError) -> OrderAnswer {
        guard let stream = try obtain(directory.owner(of: id, in: project, environment)) else {
            throw .refused(.order(.unknown(id)))
        }
        let snapshot = try obtain(ledger.customer(of: stream))
        guard let order = snapshot.customer.order(id) else { throw .refused(.order(.unknown(id))) }
        return OrderAnswer(stream: stream, order: order, at: now(), position: snapshot.position)
    }

    /// Returns up to `limit` of a customer's orders, after the first `after` ones.
    package func list(
        of stream: Stream, after count: Int, limit: Int
    ) throws(Fault) -> OrdersAnswer {
        let snapshot = try ledger.customer(of: stream)
        let rest = snapshot.customer.orders.dropFirst(count)
        return OrdersAnswer(
            stream: stream, orders: Array(rest.prefix(limit)), at: now(),
            position: snapshot.position, next: rest.count > limit ? count + limit : nil)
    }

    /// Returns a request to give the customer all purchases that carry the token, including waiting ones.
    package func registering(
        _ token: AccountToken, for stream: Stream, by sender: Sender
    ) -> Wish<TokenAnswer> {
        let cause = secrets.cause(of: sender, "register_token", [token.text])
        let command = Command.claiming(token, for: stream, actor: sender.actor, cause: cause) {
            situation throws(Refusal) in
            if let owner = situation.tokenOwners[token.text], owner != stream.customer {
                throw .token(.taken)
            }
            return try situation.customer(stream.customer).decide(RegisterToken(token: token))
        }
        return Wish(command) { outcome in
            TokenAnswer(
                stream: stream, token: token,
                position: outcome.events.last?.position ?? outcome.position)
        }
    }
}

extension Outcome {
    fileprivate func order(_ id: OrderID) throws(CommandError) -> Order {
        guard let order = state.customer?.order(id) else {
            throw .fault(.broken("closing an order returned no order"))
        }
        return order
    }
}

extension OrderClosed.Cause {
    fileprivate var arguments: [String?] {
        switch self {
        case .stale: ["stale"]
        case .cancelled(let reason, let ticket): ["cancelled", reason.text, ticket?.text]
        case .settled(let reason, let ticket): ["settled", reason.text, ticket?.text]
        }
    }
}
