/// Why two customers cannot be merged, or why a merge cannot be undone.
package enum MergeRefusal: Worded, Hashable, Sendable {
    case intoItself(CustomerID)
    /// The target was itself merged into another customer.
    case intoMerged(CustomerID, partOf: CustomerID)
    /// The target was earlier merged into the customer who would now be merged into it.
    case circle(CustomerID, CustomerID)
    case ofErased(CustomerID)
    case intoErased(CustomerID)
    /// Together the two customers would exceed a limit per customer.
    case beyondLimit(Limit, Int)
    case balanceBeyondLimit(CurrencyID, Int64)
    case tooLarge(limit: Int)
    /// The merge would move more than a single event can hold.
    case tooMuch
    /// The project does not let back ends merge customers.
    case notAllowed
    /// A back end cannot merge a customer who has a purchase that another account may claim.
    case purchaseOfAnother(PurchaseID)
    case notMerged(CustomerID)
    /// The customer was moved by the merge of another customer. That merge must be undone first.
    case undoneLater(CustomerID, first: CustomerID)
    /// Some of the coins from the merge have been used. Lists the missing coins by currency.
    case spent([Loss])

    /// The amount of a currency that is missing to undo a merge.
    package struct Loss: Hashable, Sendable {
        package let currency: CurrencyID
        /// The current balance.
        package let has: Int64
        /// The amount that the undo would return.
        package let needs: Int64
        /// The amount that must be given before the undo.
        package let missing: Int64

        package init(currency: CurrencyID, has: Int64, needs: Int64, missing: Int64) {
            (self.currency, self.has) = (currency, has)
            (self.needs, self.missing) = (needs, missing)
        }
    }

    /// A limit per customer.
    package enum Limit: String, Hashable, Sendable, CaseIterable {
        case grants
        case tokens
        case openOrders = "open orders"
        case merged = "merged customers"

        fileprivate var code: String {
            switch self {
            case .grants: "too_many_grants"
            case .tokens: "too_many_tokens"
            case .openOrders: "too_many_orders"
            case .merged: "too_many_merged"
            }
        }
    }

    /// The maximum number of customers that may be merged into one.
    package static let customerLimit = 100

    /// The member of the request that must be corrected; `nil` if no single member is wrong.
    package var member: String? {
        switch self {
        case .intoItself, .intoMerged, .circle, .intoErased: "into"
        case .ofErased, .notMerged: "customer"
        case .beyondLimit, .balanceBeyondLimit, .tooLarge, .tooMuch, .notAllowed,
            .purchaseOfAnother, .undoneLater, .spent:
            nil
        }
    }

    package var wording: RefusalWording {
        switch self {
        case .intoItself(let id):
            .improper(
                "merge_into_itself",
                "\"\(id)\" cannot be merged into itself; name the other customer as \"into\".")
        case .intoMerged(let id, let whole):
            .conflict(
                "merge_into_merged",
                "The customer \"\(id)\" was merged into \"\(whole)\"; merge into that customer.")
        case .circle(let from, let into):
            .conflict(
                "merge_circle",
                "The customer \"\(into)\" was merged into \"\(from)\" before, so they are already one customer; undo that "
                    + "merge first to merge them the other way round.")
        case .ofErased(let id):
            .conflict(
                "merge_of_erased",
                "The customer \"\(id)\" was erased, and there is nothing left to merge.")
        case .intoErased(let id):
            .conflict(
                "merge_into_erased",
                "The customer \"\(id)\" was erased; merge into a customer who was not.")
        case .beyondLimit(let what, let limit):
            .conflict(
                what.code,
                "Both customers together would have more than \(limit) \(what.rawValue), the limit for one "
                    + "customer; nothing was done.")
        case .balanceBeyondLimit(let currency, let limit):
            .conflict(
                "balance_out_of_bounds",
                "The combined balance of \"\(currency)\" would exceed \(limit); adjust one of the balances first."
            )
        case .tooLarge(let limit):
            .tooLarge(
                "too_much_at_once",
                "Merging these customers would take more than \(limit) events, the limit of one commit; nothing "
                    + "was done.")
        case .tooMuch:
            .tooLarge(
                "too_much_at_once",
                "The customer has more grants, orders and credited transactions than one merge can move: "
                    + "\(Belongings.limit) grants and orders, where four credited transactions count as one; nothing was done."
            )
        case .notAllowed:
            .forbidden(
                "merge_not_allowed", "The project does not let back ends merge customers.",
                .allowMerges)
        case .purchaseOfAnother(let id):
            .conflict(
                "merge_of_another_account",
                "The purchase \"\(id)\" came from another customer, or carries another customer's account token, so a back "
                    + "end may not merge its holder; an admin or support staff may.")
        case .notMerged(let id):
            .conflict(
                "not_merged",
                "The customer \"\(id)\" is not merged into another one; there is nothing to undo.")
        case .undoneLater(let id, let first):
            .conflict(
                "merge_not_last",
                "The customer \"\(id)\" was part of \"\(first)\" when \"\(first)\" was merged; undo the merge of \"\(first)\" first."
            )
        case .spent(let losses):
            .conflict(
                "merge_spent",
                "Coins from the merge have since been spent or taken, and no others replace them; have an admin give "
                    + losses.map { "\($0.missing) of \"\($0.currency)\"" }.joined(
                        separator: " and ") + " first, or leave the customers merged.")
        }
    }
}
