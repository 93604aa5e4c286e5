import API
import Commands
import Core
import JSON
import Service

/// Deed's records of purchases after it has processed the store's answer.
typealias KnownStandings = [PurchaseID: [PurchaseStanding]]

extension StoreReport {
    /// Returns the current standings of the purchases in the store's answer.
    func standings(
        in finds: Finds, of project: ProjectID
    ) throws(CommandEnd) -> KnownStandings {
        var known: KnownStandings = [:]
        for case .purchase(let result) in items {
            guard let purchase = result.purchase.flatMap(PurchaseID.init), known[purchase] == nil
            else { continue }
            known[purchase] = try obey(finds.standings(of: purchase, in: project, environment))
        }
        return known
    }

    /// Returns the `--json` output of the store commands.
    func json(_ known: KnownStandings) -> JSON {
        var object = JSONObject()
        object.append("environment", .string(environment.rawValue))
        for (name, value) in remark.members { object.append(name, value) }
        object.append("recorded", .array(items.map { $0.json(known) }))
        return .object(object)
    }

    /// Returns a line for each item that the call returned.
    func text(of call: StoreCall, _ known: KnownStandings) -> String {
        let lines = remark.lines + items.map { $0.line(known) }
        if lines.isEmpty { return "\(call.wordsForNothing) (\(environment.rawValue))." }
        return lines.joined(separator: "\n")
    }
}

extension StoreCall {
    /// The text to print if the call returned nothing.
    fileprivate var wordsForNothing: String {
        switch self {
        case .finish: "The store counts it as delivered"
        case .setToken: "The store accepted the token"
        case .consumption: "The store accepted the report"
        case .extend, .extendAll, .test: "The store did not report what it did"
        case .refunds: "The store lists no refund"
        case .history: "The store lists no purchase"
        case .standings: "The store lists no subscription"
        case .notifications: "The store lists no notification"
        case .transaction, .installation, .reading, .order, .testResult, .probe,
            .extendAllResult:
            "The store lists nothing"
        }
    }
}

extension StoreRemark {
    fileprivate var members: [(String, JSON)] {
        switch self {
        case .nothing: []
        case .standings(let standings):
            [
                (
                    "statuses",
                    .array(
                        standings.map {
                            ["purchase": .string($0.purchase), "status": .string($0.text)]
                        })
                )
            ]
        case .order(let isFound): [("found", .bool(isFound))]
        case .testSent(let token): [("token", .string(token))]
        case .attempts(let lists):
            [("attempts", .array(lists.map { .array($0.map(\.json)) }))]
        case .extended(let until): [("until", .optional(until?.text))]
        case .extendingAll(let request): [("request", .string(request))]
        case .extendedAll(let isComplete, let succeeded, let failed):
            [
                ("complete", .bool(isComplete)), ("succeeded", .integer(succeeded)),
                ("failed", .integer(failed)),
            ]
        }
    }

    fileprivate var lines: [String] {
        switch self {
        case .nothing: []
        case .standings(let standings): standings.map { "\($0.purchase)   \($0.text)" }
        case .order(let isFound):
            isFound ? [] : ["The store knows no such order, so nothing was recorded."]
        case .testSent(let token): ["sent; see: deed store test-result \(token)"]
        case .attempts(let lists):
            lists.enumerated().map { index, attempts in
                let words = attempts.map { "\($0.at?.text ?? "") \($0.result)" }
                return "notification \(index + 1)   "
                    + (words.isEmpty ? "not sent yet" : words.joined(separator: ", "))
            }
        case .extended(let until):
            ["renews at \(until?.text ?? "an instant that it does not name")"]
        case .extendingAll(let request): ["started; see: deed store extend-all-result … \(request)"]
        case .extendedAll(let isComplete, let succeeded, let failed):
            ["\(isComplete ? "done" : "under way"): \(succeeded) extended, \(failed) not"]
        }
    }
}

extension SendAttempt {
    fileprivate var json: JSON { ["at": .optional(at?.text), "result": .string(result)] }
}

extension PurchaseStanding {
    fileprivate var json: JSON {
        [
            "customer": .optional(holder?.text), "product": .string(product.text),
            "state": .string(state),
        ]
    }

    fileprivate var line: String {
        let holder = holder.map { "customer \($0)" } ?? "no customer has claimed it"
        return "\(product)   \(state)   \(holder)"
    }
}

extension StoreReport.Item {
    fileprivate func json(_ known: KnownStandings) -> JSON {
        switch self {
        case .purchase(let result):
            result.json.with("standings", .array(standings(known).map(\.json)))
        case .appTransaction(let environment):
            ["app_transaction": true, "environment": .string(environment.rawValue)]
        case .notification(.kept(let head, let environment, let isNew)):
            [
                "notification": .string(head.id), "type": .string(head.type),
                "subtype": .optional(head.subtype), "environment": .string(environment.rawValue),
                "outcome": isNew ? "recorded" : "already_known",
            ]
        case .notification(.erased(let head, let environment)):
            [
                "notification": .string(head.id), "type": .string(head.type),
                "subtype": .optional(head.subtype), "environment": .string(environment.rawValue),
                "outcome": .string(Refusal.erasure(.purchaseErased).code),
            ]
        case .notification(.queued(let id)):
            ["intake": .string(id.text), "outcome": "queued"]
        }
    }

    private func standings(_ known: KnownStandings) -> [PurchaseStanding] {
        guard case .purchase(let result) = self else { return [] }
        return result.purchase.flatMap(PurchaseID.init).flatMap { known[$0] } ?? []
    }

    private func line(of result: IntakeResult, _ standings: [PurchaseStanding]) -> String {
        var words = [result.purchase ?? "the app itself"]
        if let transaction = result.transaction { words.append("transaction \(transaction)") }
        words += standings.map(\.line)
        words.append(result.outcome)
        if let sentence = result.reason?.sentence { words.append(sentence) }
        if let product = result.unknownProduct {
            words.append("warning: the catalog does not know \(product)")
        }
        return words.joined(separator: "   ")
    }

    fileprivate func line(_ known: KnownStandings) -> String {
        switch self {
        case .purchase(let result):
            line(of: result, standings(known))
        case .appTransaction:
            "The app transaction is verified; to record it, submit it for a customer: deed submit"
        case .notification(.kept(let head, _, let isNew)):
            "\(head.id)   \([head.type, head.subtype].compactMap(\.self).joined(separator: " "))   "
                + (isNew ? "recorded" : "already_known")
        case .notification(.erased(let head, _)):
            "\(head.id)   \(Refusal.erasure(.purchaseErased).code)"
        case .notification(.queued(let id)): "queued; see: deed intake show \(id)"
        }
    }
}
