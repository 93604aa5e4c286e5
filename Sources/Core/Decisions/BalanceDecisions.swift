extension CustomerState {
    /// Returns the events that adjust balances to the current worth of a consumable transaction. Its worth is the
    /// catalog's amount at its first credit, less refunds. Correct balances need no events, so repetitions,
    /// reordering and reversals never count twice.
    func settlement(of fact: TransactionFact, by catalog: Catalog) -> [Event] {
        guard let purchase = purchase(fact.purchase),
            purchase.kind(of: fact.transaction, by: catalog) == .consumable,
            let evidence = purchase.evidence(of: fact.transaction),
            !isSettledByHand(fact.transaction, of: fact.purchase)
        else { return [] }
        let effective = evidence.effective
        return perPiece(of: effective, effective.credits(by: catalog))
            .sorted { $0.key < $1.key }
            .flatMap {
                settlement(
                    of: effective, $0.key, perPiece: $0.value, isBlocked: purchase.block != nil)
            }
    }

    /// Returns the amounts per unit from the first credit, or those from the catalog if there was no credit.
    private func perPiece(
        of fact: TransactionFact, _ credits: [CurrencyID: Int64]
    ) -> [CurrencyID: Int64] {
        let known = balances.currencies.compactMap { currency in
            balances.credit(Credit.Key(fact.purchase, fact.transaction, currency))
                .map { (currency, $0.perPiece) }
        }
        return known.isEmpty ? credits : Dictionary(uniqueKeysWithValues: known)
    }

    private func settlement(
        of fact: TransactionFact, _ currency: CurrencyID, perPiece: Int64, isBlocked: Bool
    ) -> [Event] {
        let credit = balances.credit(Credit.Key(fact.purchase, fact.transaction, currency))
        var worth = fact.worth(perPiece: perPiece)
        // A block has the effect of a full refund.
        if isBlocked { worth.net = 0 }
        var net = credit?.net ?? 0
        var events: [Event] = []
        func credited(_ amount: Int64) -> Event {
            .balanceCredited(
                BalanceCredited(
                    currency: currency, amount: amount, purchase: fact.purchase,
                    transaction: fact.transaction, perPiece: perPiece))
        }
        if credit == nil, worth.gross > 0 {
            // A transaction that has already been refunded when it arrives is credited in full and
            // debited immediately, so that the timeline shows both.
            events.append(credited(worth.gross))
            net = worth.gross
        }
        if net < worth.net { events.append(credited(worth.net - net)) }
        if net > worth.net {
            events.append(
                .balanceDebited(
                    BalanceDebited(
                        currency: currency, amount: net - worth.net, purchase: fact.purchase,
                        transaction: fact.transaction)))
        }
        return events
    }
}

extension TransactionFact {
    /// Returns the amount that a consumable adds, before and after refunds.
    fileprivate func worth(perPiece: Int64) -> (gross: Int64, net: Int64) {
        let product = Int128(perPiece) * Int128(max(0, quantity))
        let gross = min(product, Int128(Balances.limit))
        var refunded = gross * Int128(refundedMilliPercent) / 100_000
        if revocation == nil, let pieces = refundedQuantity {
            refunded = min(gross, Int128(perPiece) * Int128(max(0, pieces)))
        }
        return (Int64(gross), Int64(gross - refunded))
    }

    /// Returns the amount that each unit of the sold items adds.
    fileprivate func credits(by catalog: Catalog) -> [CurrencyID: Int64] {
        var credits: [CurrencyID: Int64] = [:]
        for product in soldProducts {
            let known = catalog.product(ProductKey(store: store, id: product))
            credits.merge(known?.credits ?? [:]) { min($0 + $1, Balances.limit) }
        }
        return credits
    }

    /// The share that the store refunded, in thousandths of a percent.
    private var refundedMilliPercent: Int64 {
        guard let revocation else { return isTakenBackByItems ? 100_000 : 0 }
        guard revocation.extent == .prorated, let share = revocation.milliPercent else {
            return 100_000
        }
        return min(max(share, 0), 100_000)
    }
}

package struct SpendBalance: Hashable, Sendable {
    package let currency: CurrencyID
    package let amount: Int64
    package let reason: Reason?

    package init(currency: CurrencyID, amount: Int64, reason: Reason?) {
        self.currency = currency
        self.amount = amount
        self.reason = reason
    }
}

/// A manual request to change a balance.
package struct AdjustBalance: Hashable, Sendable {
    package let currency: CurrencyID
    package let amount: Int64
    package let reason: Reason
    package let ticket: Ticket?

    package init(currency: CurrencyID, amount: Int64, reason: Reason, ticket: Ticket?) {
        self.currency = currency
        self.amount = amount
        self.reason = reason
        self.ticket = ticket
    }
}

extension CustomerState {
    /// Subtracts the amount from the balance, which must be large enough.
    package func decide(_ wish: SpendBalance) throws(Refusal) -> [Event] {
        if wish.amount < 1 || wish.amount > Balances.limit {
            throw .balance(.amountOutOfRange(wish.amount, limit: Balances.limit))
        }
        if balances.total(of: wish.currency) < Int128(wish.amount) {
            throw .balance(
                .insufficient(
                    wish.currency, has: balances[wish.currency], needs: wish.amount))
        }
        return [
            .balanceSpent(
                BalanceSpent(currency: wish.currency, amount: wish.amount, reason: wish.reason))
        ]
    }

    /// Adds an amount that, according to the back end, the customer earned. The project's limits
    /// apply.
    package func decide(
        earning wish: AdjustBalance, within limits: [CurrencyID: CreditLimit], now: Instant
    ) throws(Refusal) -> [Event] {
        guard let limit = limits[wish.currency] else {
            throw .balance(.creditNotAllowed(wish.currency))
        }
        if wish.amount < 1 { throw .balance(.earnsNothing(wish.amount, limit: limit.perCall)) }
        let left = min(
            limit.perCall, limit.perDay - balances.earned(of: wish.currency, at: now))
        if wish.amount > left {
            throw .balance(.creditLimitReached(wish.currency, limit, left: max(0, left)))
        }
        return try decide(wish, earnedAt: now)
    }

    /// Adds the amount, which may be negative. Throws if the balance would go beyond its bounds.
    package func decide(_ wish: AdjustBalance) throws(Refusal) -> [Event] {
        try decide(wish, earnedAt: nil)
    }

    private func decide(_ wish: AdjustBalance, earnedAt: Instant?) throws(Refusal) -> [Event] {
        if wish.amount == 0 || wish.amount.magnitude > Balances.limit.magnitude {
            throw .balance(.amountOutOfRange(wish.amount, limit: Balances.limit))
        }
        let after = balances.total(of: wish.currency) + Int128(wish.amount)
        if after.magnitude > Balances.limit.magnitude {
            throw .balance(.outOfBounds(wish.currency, limit: Balances.limit))
        }
        return [
            .balanceAdjusted(
                BalanceAdjusted(
                    currency: wish.currency, amount: wish.amount, reason: wish.reason,
                    ticket: wish.ticket, earnedAt: earnedAt))
        ]
    }
}
