import Core
import HTTPServer
import JSON
import Service

/// Calls that merge two customers or undo a merge.
struct MergeRoutes: Sendable {
    let merges: Merges
    let keeper: TermsKeeper

    var routes: [Route] {
        let path = "/customers/{customer}/merge"
        return [
            Route("POST", path, parameters: QueryParameters.terms, .merge, .memory, merge),
            Route(
                "POST", "\(path)/undo", parameters: QueryParameters.terms, .help, .database, undo),
        ]
    }

    private func merge(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms(
            concerning: 2...2,
            inOrder: "the customer who is merged, and of the one it becomes a part of")
        let body = try Body(call.body, of: ["into"] + Body.reasonNames)
        let stream = try call.stream()
        let customer: CustomerID = try body.id("into")
        try customer.requireUnreserved("into")
        let reason = try body.reason(of: call)
        let wish = call.limited(
            merges.merging(
                stream, into: customer, reason: reason,
                isOfBackEnd: call.access.key.role == .backend, by: call.sender))
        return keeper.response(to: wish, on: terms) { .json($0.json, position: $0.position) }
    }

    private func undo(_ call: Call) throws(Problem) -> Wish<Response> {
        let terms = try call.query.terms(
            concerning: 2...2,
            inOrder: "the customer who goes back, and of the one it is a part of")
        let body = try Body(call.body, of: Body.reasonNames)
        let stream = try call.stream()
        let reason = try body.reason(of: call)
        let wish = merges.undoing(stream, reason: reason, by: call.sender)
        return keeper.response(to: wish, on: terms) { .json($0.json, position: $0.position) }
    }
}

extension [MergeRefusal.Loss] {
    /// The amounts of the first currency, and the missing amounts of all currencies.
    fileprivate var details: [(String, JSON)] {
        guard let first else { return [] }
        let missing = JSON.object(each: self) { ($0.currency.text, .integer($0.missing)) }
        return [
            ("currency", .string(first.currency.text)), ("balance", .integer(first.has)),
            ("needs", .integer(first.needs)), ("missing", missing),
        ]
    }
}

extension MergeRefusal {
    var details: [(String, JSON)] {
        switch self {
        case .intoMerged(let id, let whole):
            [("customer", .string(id.text)), ("merged_into", .string(whole.text))]
        case .circle(let from, let into):
            [("customer", .string(into.text)), ("merged_into", .string(from.text))]
        case .ofErased(let id), .intoErased(let id), .notMerged(let id):
            [("customer", .string(id.text))]
        case .beyondLimit(_, let limit), .tooLarge(let limit): [("limit", .integer(limit))]
        case .balanceBeyondLimit(let currency, let limit):
            [("currency", .string(currency.text)), ("limit", .integer(limit))]
        case .purchaseOfAnother(let id): [("purchase", .string(id.description))]
        case .undoneLater(_, let first): [("customer", .string(first.text))]
        case .spent(let losses): losses.details
        case .intoItself, .notAllowed, .tooMuch: []
        }
    }
}
