import API
import Assembly
import Commands
import Core
import Service

let findCommand = CommandSpec(
    path: ["find"],
    summary:
        "Finds a customer by a transaction, an order, a grant's ticket or the beginning of an id.",
    positionals: [
        Positional(
            name: "WORDS",
            help:
                "the full name of something that belongs to the customer, or the beginning of the customer's id",
            isRequired: false)
    ],
    options: [
        .flag("ask-store", "ask the store for WORDS as an order number, and record the answer"),
        .value("app-transaction", "ID", "find by this account id from a notification"),
        .value("limit", "COUNT", "at most this many (default: 20)"),
        .value(
            "environment", "NAME",
            "production or sandbox (default: both; with --app-transaction, production)"),
        .extraRoots, .secretKeyFile, .project,
    ] + Option.database,
    onlyReads: true, example: "deed find 2000000123"
) { invocation throws(CommandEnd) in
    if invocation["app-transaction"] != nil {
        try findAccount(invocation)
    } else {
        try findWords(invocation)
    }
}

private func findWords(_ invocation: Invocation) throws(CommandEnd) {
    let words = try invocation.findWords()
    let environment =
        invocation["environment"] == nil ? nil : try invocation.environment()
    let limits = Int(Finds.limits.lowerBound)...Int(Finds.limits.upperBound)
    let limit = try invocation.integer("limit", in: limits) ?? limits.upperBound
    let project = try invocation.project()
    let asksStore = invocation.has("ask-store")
    try invocation.withLive(in: project, onlyReads: !asksStore) { live throws(CommandEnd) in
        let finds = live.useCases.finds
        let answer: FindAnswer
        if asksStore {
            let orders = OrderNumbers(Submissions(live.intake), finds: finds)
            answer = try obey(
                orders.find(words, of: project, in: environment, limit: limit))
        } else {
            answer = try obey(
                finds.find(words, of: project, in: environment, limit: limit))
        }
        invocation.show(answer.json, text: answer.text(of: project))
    }
}

private func findAccount(_ invocation: Invocation) throws(CommandEnd) {
    if invocation.positional(0) != nil {
        throw invocation.usage("give words or --app-transaction, not both")
    }
    if invocation.has("ask-store") {
        throw invocation.usage("--ask-store needs an order number as WORDS")
    }
    let environment = try invocation.environment()
    let account: AppTransactionID = try invocation.requiredID("app-transaction")
    let project = try invocation.project()
    try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
        let answer = try obey(useCases.refunds.holders(of: account, of: project, in: environment))
        let lines = answer.customers.map(\.text)
        invocation.show(
            answer.json,
            text: lines.isEmpty
                ? "No evidence of \(project) in \(environment) names \(account)."
                : lines.joined(separator: "\n"))
    }
}

extension Invocation {
    fileprivate func findWords() throws(CommandEnd) -> FindWords {
        guard let text = positional(0) else {
            throw usage("WORDS is missing; say what to look for")
        }
        do {
            return try FindWords(text)
        } catch {
            throw usage("WORDS \(error)")
        }
    }
}

extension FindAnswer {
    /// Returns a line for each app whose store was queried, followed by one for each match.
    fileprivate func text(of project: ProjectID) -> String {
        var lines = (told ?? []).map { $0.line(about: words.text) }
        if let told, told.isEmpty {
            lines.append("The project \"\(project)\" has no app, so no store was asked.")
        }
        lines += matches.map(\.line)
        if matches.isEmpty {
            lines.append(
                "Nothing in the project \"\(project)\" is called \"\(words.text)\" or begins "
                    + "with it.")
            if told == nil, words.isOrderNumber {
                lines.append(
                    "If it is an order number from a store's e-mail, ask the store: "
                        + "deed find \(words.text) --ask-store")
            }
        }
        if hasMore {
            lines.append(
                matches.contains { $0.lead.kind == .ticket }
                    ? "There are more matches; list them with: deed grant list --ticket '\(words.text)'"
                    : "There are more matches; give more of the name.")
        }
        return lines.joined(separator: "\n")
    }
}

extension FoundMatch {
    fileprivate var line: String {
        let environment = lead.environment.rawValue
        if lead.kind == .customer { return "customer \(lead.id)   \(environment)" }
        let purchase = lead.purchase?.description
        let isPurchase = lead.kind == .purchase
        let name = (isPurchase ? purchase : nil) ?? lead.id
        let holder =
            customer.map { "customer \($0)" }
            ?? "no customer has claimed it; to give it to one: deed unclaimed attach \(purchase ?? "") "
            + "--environment \(environment)"
        return [
            "\(lead.kind.words) \(name)", environment, isPurchase ? nil : purchase, product?.text,
            holder,
        ].compactMap(\.self).joined(separator: "   ")
    }
}

extension FoundKind {
    fileprivate var words: String {
        switch self {
        case .customer, .purchase, .transaction, .order, .grant, .event, .ticket: rawValue
        case .lineItem: "line item of transaction"
        case .accountToken: "account token"
        case .account: "store account"
        case .storeOrder: "order number"
        }
    }
}

extension StoreTold {
    fileprivate func line(about number: String) -> String {
        switch outcome {
        case .known(let environment, let results):
            let new = results.count { $0.outcome == "recorded" }
            let news =
                new == 0
                ? "nothing in the answer is new" : "new transactions were recorded (\(new))"
            return "The store of \(app) knows the order number \(number) (\(environment)); \(news)."
        case .unknown(let environment):
            return "The store of \(app) does not know the order number \(number) (\(environment))."
        case .untold(let code, let sentence):
            return "The store of \(app) gave no answer (\(code)): \(sentence)"
        }
    }
}
