package import Core

/// What one event did to a balance, and the balance after it.
package struct RecordedMovement: Hashable, Sendable {
    package let recorded: RecordedEvent
    package let movement: Movement
    package let balance: Int64
}

/// Some movements of one balance, oldest first.
package struct MovementsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let currency: CurrencyID
    package let movements: [RecordedMovement]
    /// The version to ask for next; `nil` at the end.
    package let next: Int64?
}

/// Changes balances and lists their movements.
package struct CustomerBalances: Sendable {
    let ledger: any EventLog
    let secrets: Secrets

    /// A request to take an amount from a balance, which must cover it.
    package func spending(
        _ wish: SpendBalance, of stream: Stream, by sender: Sender, allowingUnknown: Bool = false
    ) -> Wish<RecordedMovement> {
        let cause = secrets.cause(
            of: sender, "spend", [wish.currency.text, "\(wish.amount)", wish.reason?.text])
        return moving(
            .customer(
                stream, actor: sender.actor, cause: cause,
                naming: allowingUnknown ? nil : .currency(wish.currency)
            ) { state, _, _ throws(Refusal) in
                try state.decide(wish)
            }
        ).then { [ledger] result in
            // A tester in the sandbox who omits the environment finds nothing in production.
            guard stream.environment == .production, case .failure(.refused(let refusal)) = result,
                case .insufficientBalance(let currency, let has, let needs, _) = refusal, has <= 0
            else { return .answered(result) }
            return .look { () throws(CommandError) in
                // The refusal stands, with or without the hint.
                let sandbox = try? ledger.customer(of: stream.inSandbox).customer
                throw .refused(
                    .insufficientBalance(
                        currency, has: has, needs: needs,
                        inSandbox: sandbox?.balances[currency] ?? 0))
            }
        }
    }

    /// A request to change a balance: an admin adds or takes an amount, or a back end adds what was
    /// earned.
    package func adjusting(
        _ wish: AdjustBalance, of stream: Stream, by sender: Sender, isEarned: Bool = false,
        allowingUnknown: Bool = false
    ) -> Wish<RecordedMovement> {
        let cause = secrets.cause(
            of: sender, "adjust",
            [wish.currency.text, "\(wish.amount)", wish.reason.text, wish.ticket?.text])
        return moving(
            Command(stream: stream, actor: sender.actor, cause: cause) {
                situation throws(Refusal) in
                let name = CatalogName.currency(wish.currency)
                if !allowingUnknown { try situation.require(name, for: stream.customer) }
                try situation.project.catalog.requireProperForm(of: wish.currency)
                let state = situation.customer(stream.customer)
                let limits = situation.project.settings.creditLimits
                let events =
                    isEarned
                    ? try state.decide(earning: wish, within: limits, now: situation.now)
                    : try state.decide(wish)
                return Decision(events, for: stream.customer)
            })
    }

    private func moving(_ command: Command) -> Wish<RecordedMovement> {
        .write(command) { result in
            Wish(looking: { () throws(CommandError) in
                try moved(try result.get(), in: command.stream)
            })
        }
    }

    private func moved(
        _ outcome: Outcome, in stream: Stream
    ) throws(CommandError) -> Wish<RecordedMovement> {
        guard let recorded = outcome.events.first, let movement = recorded.event.movement else {
            throw .fault(.broken("a balance moved without an event"))
        }
        if let state = outcome.state.customer, state.version == recorded.version {
            return .answered(
                .success(
                    RecordedMovement(
                        recorded: recorded, movement: movement,
                        balance: state.balances[movement.currency])))
        }
        // A repetition: the balance after the first call is further back in the log.
        return .look { () throws(CommandError) in
            let found = try obtain(
                movements(
                    of: movement.currency, in: stream, after: recorded.version - 1, limit: 1))
            guard let twin = found.movements.first, twin.recorded.version == recorded.version
            else { throw .fault(.broken("a movement of a balance is not where it was recorded")) }
            return .answered(.success(twin))
        }
    }

    /// Up to `limit` movements of a balance after a version of the stream.
    package func movements(
        of currency: CurrencyID, in stream: Stream, after version: Int64, limit: Int
    ) throws(Fault) -> MovementsAnswer {
        var history = BalanceHistory(currency: currency)
        var place: Int64 = 0
        while true {
            let page = try ledger.events(
                of: stream, after: place, limit: BalanceHistory.pageLimit)
            guard let last = page.last else { break }
            for entry in page { history.apply(entry.recorded, after: version) }
            if history.movements.count > limit { break }
            place = last.recorded.version
        }
        let movements = Array(history.movements.prefix(limit))
        return MovementsAnswer(
            stream: stream, currency: currency, movements: movements,
            next: history.movements.count > limit ? movements.last?.recorded.version : nil)
    }
}

/// A balance, calculated from the first event of its stream on.
private struct BalanceHistory {
    static let pageLimit = 1000

    let currency: CurrencyID
    private(set) var movements: [RecordedMovement] = []
    private var state = CustomerState()

    init(currency: CurrencyID) {
        self.currency = currency
    }

    /// Applies the next event, and keeps its movement if it comes after that version.
    mutating func apply(_ recorded: RecordedEvent, after version: Int64) {
        guard let movement = recorded.event.movement else {
            // Erasing a customer empties every balance.
            if case .customerErased = recorded.event { state.apply(recorded.event) }
            return
        }
        guard movement.currency == currency else { return }
        state.apply(recorded.event)
        if recorded.version <= version { return }
        movements.append(
            RecordedMovement(
                recorded: recorded, movement: movement, balance: state.balances[currency]))
    }
}
