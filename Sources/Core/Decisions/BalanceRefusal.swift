/// Why a balance cannot change.
package enum BalanceRefusal: Worded, Hashable, Sendable {
    case amountOutOfRange(Int64, limit: Int64)
    /// A back end's amount must be positive, because back ends can only add coins that a customer
    /// earned.
    case earnsNothing(Int64, limit: Int64)
    case insufficient(CurrencyID, has: Int64, needs: Int64, inSandbox: Int64 = 0)
    case outOfBounds(CurrencyID, limit: Int64)
    case creditNotAllowed(CurrencyID)
    case creditLimitReached(CurrencyID, CreditLimit, left: Int64)
    case tooManyCreditLimits(limit: Int)

    package var wording: RefusalWording {
        switch self {
        case .amountOutOfRange(let amount, let limit):
            .improper(
                "amount_out_of_range",
                "The amount \(amount) is out of range; spend from 1 to \(limit), or adjust by up to \(limit) in either direction."
            )
        case .earnsNothing(let amount, let limit):
            .improper(
                "amount_out_of_range",
                "The amount \(amount) cannot be added. Back ends may add 1 to \(limit); an admin's key may "
                    + "take.")
        case .insufficient(let currency, let has, let needs, let inSandbox):
            .conflict(
                "insufficient_balance",
                "The balance of \"\(currency)\" is \(has), which is less than \(needs); nothing was spent."
                    + (inSandbox > 0
                        ? " This is production; in the sandbox it is \(inSandbox), which a spend with "
                            + "the environment \"sandbox\" takes." : ""))
        case .outOfBounds(let currency, let limit):
            .conflict(
                "balance_out_of_bounds",
                "The balance of \"\(currency)\" would pass \(limit); adjust by a smaller amount.")
        case .creditNotAllowed(let currency):
            .forbidden(
                "credit_not_allowed", "The project does not let back ends add to \"\(currency)\".",
                .allowCredits(currency))
        case .creditLimitReached(let currency, let limit, let left):
            .conflict(
                "credit_limit_reached",
                "A back end may add \(limit.perCall) \"\(currency)\" per call and \(limit.perDay) per day to "
                    + "a customer, and only \(left) more now; add at most \(left), or use an admin's key."
            )
        case .tooManyCreditLimits(let limit):
            .improper(
                "too_many_credit_limits",
                "At most \(limit) currencies may have a credit limit; remove one first.")
        }
    }
}
