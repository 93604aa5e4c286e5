package import Core

/// The effect of one event on a balance, and the resulting balance.
package struct RecordedMovement: Hashable, Sendable {
    package let recorded: RecordedEvent
    package let movement: Movement
    package let balance: Int64
}

/// Movements of one balance, oldest first.
package struct MovementsAnswer: Hashable, Sendable {
    package let stream: Stream
    package let currency: CurrencyID
    package let movements: [RecordedMovement]
    /// The version to continue from; `nil` if there are no more movements.
    package let next: Int64?
}

/// Changes balances and lists their movements.
package struct CustomerBalances: Sendable {
    let ledger: any EventLog
    let secrets: Secrets

    /// Returns a request to spend an amount of a balance, which must be large enough.
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
            // A tester may have forgotten to name the environment. The refusal then mentions the sandbox balance.
            guard stream.environment == .production, case .failure(.refused(let refusal)) = result,
                case .balance(.insufficient(let currency, let has, let needs, _)) = refusal,
                has <= 0
            else { return .answered(result) }
            return .look { () throws(CommandError) in
                // The request is refused even if this read fails and there is no hint to add.
                let sandbox = try? ledger.customer(of: stream.inSandbox).customer
                throw .refused(
                    .balance(
                        .insufficient(
                            currency, has: has, needs: needs,
                            inSandbox: sandbox?.balances[currency] ?? 0)))
            }
        }
    }

    /// Returns a request to change a balance. Either an admin adds or subtracts an amount, or a back end adds coins
    /// that a customer earned.
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
                try situation.project.catalog.requireProperForm(of: name)
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
        // The balance after the first call is wanted, which a repetition must look up further back
        // in the log.
        return .look { () throws(CommandError) in
            let history = try obtain(
                history(
                    of: movement.currency, in: stream, after: recorded.version - 1, count: 1))
            guard let twin = history.movements.first, twin.recorded.version == recorded.version
            else { throw .fault(.broken("a balance movement is not at its recorded position")) }
            return .answered(.success(twin))
        }
    }

    /// Returns up to `limit` movements of a balance after this version of the stream.
    package func movements(
        of currency: CurrencyID, in stream: Stream, after version: Int64, limit: Int
    ) throws(Fault) -> MovementsAnswer {
        let history = try history(of: currency, in: stream, after: version, count: limit + 1)
        let movements = Array(history.movements.prefix(limit))
        return MovementsAnswer(
            stream: stream, currency: currency, movements: movements,
            next: history.movements.count > limit ? movements.last?.recorded.version : nil)
    }

    /// Returns the history of a balance after this version of the stream. It covers up to `count` movements, or all of
    /// them.
    private func history(
        of currency: CurrencyID, in stream: Stream, after version: Int64, count: Int
    ) throws(Fault) -> BalanceHistory {
        var history = BalanceHistory(
            currency: currency, balance: try balance(of: currency, in: stream, at: version))
        var place = version
        while history.movements.count < count {
            // Starts with as few events as needed, because the first movement is often the first
            // event.
            let limit = place == version ? count : pageLimit
            let page = try ledger.events(of: stream, after: place, limit: min(limit, pageLimit))
            guard let last = page.last else { break }
            for entry in page { history.apply(entry.recorded) }
            place = last.recorded.version
        }
        return history
    }

    /// Returns the balance at a version of its stream. Starts from the current balance, or from the stream's beginning
    /// if that is nearer.
    private func balance(
        of currency: CurrencyID, in stream: Stream, at version: Int64
    ) throws(Fault) -> Int128 {
        if version == 0 { return 0 }
        let now = try ledger.customer(of: stream).customer
        if version >= now.version { return now.balances.total(of: currency) }
        if now.version - version < version,
            let moved = try moved(currency, in: stream, after: version, through: now.version)
        {
            return now.balances.total(of: currency) - moved
        }
        return try moved(currency, in: stream, after: 0, through: version) ?? 0
    }

    /// Returns the amount that the events after a version added to a balance. An erasure empties the balance. If these
    /// events include one, the amount is unknown (`nil`), unless they start at the stream's beginning.
    private func moved(
        _ currency: CurrencyID, in stream: Stream, after version: Int64, through end: Int64
    ) throws(Fault) -> Int128? {
        var history = BalanceHistory(currency: currency, balance: 0)
        var place = version
        while place < end {
            let limit = min(Int64(pageLimit), end - place)
            let page = try ledger.events(of: stream, after: place, limit: Int(limit))
            guard let last = page.last else { break }
            for entry in page { history.apply(entry.recorded) }
            if history.isEmptied && version > 0 { return nil }
            place = last.recorded.version
        }
        return history.balance
    }

    private var pageLimit: Int { 1000 }
}

/// A balance and its movements, computed event by event.
private struct BalanceHistory {
    let currency: CurrencyID
    private(set) var balance: Int128
    private(set) var movements: [RecordedMovement] = []
    /// Whether an erasure has emptied the balance.
    private(set) var isEmptied = false

    init(currency: CurrencyID, balance: Int128) {
        self.currency = currency
        self.balance = balance
    }

    mutating func apply(_ recorded: RecordedEvent) {
        if recorded.event.isErasure { (balance, isEmptied) = (0, true) }
        let movements = recorded.event.movements
        guard let movement = movements.first(where: { $0.currency == currency }) else { return }
        balance += Int128(movement.amount)
        self.movements.append(
            RecordedMovement(
                recorded: recorded, movement: movement, balance: Int64(clamping: balance)))
    }
}
