import API
import Assembly
import Commands
import Core
import JSON
import Service
import Threading
import Wording

let storeCommands: [CommandSpec] = [
    question(
        "transaction", "Asks the store for one transaction.", [.transaction],
        example: "deed store transaction 2000000456 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .transaction(try invocation.transaction()) },
    question(
        "app-transaction", "Asks the store how a customer obtained the app.",
        [.transaction],
        example: "deed store app-transaction 2000000456 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .installation(of: try invocation.transaction()) },
    question(
        "statuses", "Asks for the status of each subscription of a transaction's customer.",
        [.transaction],
        example: "deed store statuses 2000000456 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .standings(of: try invocation.transaction()) },
    question(
        "history", "Asks for everything that a transaction's customer has ever bought.",
        [.transaction],
        [
            .value("from", "INSTANT", "only purchases at or after this instant"),
            .value("to", "INSTANT", "only purchases up to this instant"),
            .value("product", "ID", "only purchases of this product"),
            .flag("revoked", "only refunded and revoked transactions"),
        ], example: "deed store history 2000000456 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in
        var filter = HistoryFilter()
        filter.start = try invocation.instant("from")
        filter.end = try invocation.instant("to")
        filter.product = try invocation.id("product")
        if invocation.has("revoked") { filter.isRevoked = true }
        return .history(of: try invocation.transaction(), filter)
    },
    question(
        "refunds", "Asks the store for the refunds of a transaction's customer.", [.transaction],
        example: "deed store refunds 2000000456 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .refunds(of: try invocation.transaction()) },
    question(
        "order", "Asks what was bought with an order number from a customer's e-mail.",
        [Positional(name: "ORDER", help: "the order number")],
        example: "deed store order MK5TTTTTTT --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .order(try invocation.word(0, "the order number")) },
    question(
        "notifications", "Asks for the notifications that the store has sent, and records them.",
        [],
        [
            .value(
                "from", "INSTANT",
                "only notifications sent at or after this instant (default: a day ago)"),
            .value("to", "INSTANT", "only those sent up to this instant"),
            .value("transaction", "ID", "only those about this transaction"),
            .value("type", "TYPE", "only those of this type, like REFUND"),
            .flag("only-failures", "only those that did not arrive"),
        ],
        example: "deed store notifications --bundle-id com.example.game --only-failures"
    ) { invocation throws(CommandEnd) in try invocation.notifications() },
    question(
        "test", "Makes the store send a test notification.", [],
        example: "deed store test --bundle-id com.example.game"
    ) { _ throws(CommandEnd) in .test },
    question(
        "test-result", "Asks whether a test notification arrived.",
        [Positional(name: "TOKEN", help: "the token that deed store test printed")],
        example: "deed store test-result 7f3c2f0e-6a53 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .testResult(try invocation.word(0, "the token")) },
]

/// Commands that make changes at the store.
let storeChangeCommands: [CommandSpec] = [
    question(
        "finish", "Tells the store that a transaction was delivered.", [.transaction],
        example: "deed store finish 2000000456 --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in .finish(try invocation.transaction()) },
    question(
        "set-token", "Makes the store add a customer's token to all transactions of a purchase.",
        [.transaction],
        [.value("account-token", "UUID", "the customer's account token", isRequired: true)],
        example: "deed store set-token 2000000456 --account-token 7f3c2f0e-… --bundle-id com.…"
    ) { invocation throws(CommandEnd) in
        guard let token = invocation["account-token"].flatMap({ AccountToken($0) }) else {
            throw invocation.usage("--account-token must be a UUID")
        }
        return .setToken(token, of: try invocation.transaction())
    },
    question(
        "extend", "Postpones a subscription's renewal.", [.transaction], Option.extending,
        example: "deed store extend 2000000123 --days 14 --why outage --bundle-id com.example.game"
    ) { invocation throws(CommandEnd) in
        .extend(try invocation.transaction(), try invocation.extending())
    },
    question(
        "extend-all", "Postpones the renewal of all of a product's subscriptions.",
        [Positional(name: "PRODUCT", help: "the product's id")],
        Option.extending + [.value("countries", "LIST", "only in these storefronts, like USA,CAN")],
        example: "deed store extend-all com.example.pro.month --days 3 --why outage --bundle-id …"
    ) { invocation throws(CommandEnd) in
        let countries = invocation["countries"]?.split(separator: ",").map(String.init) ?? []
        return .extendAll(
            try invocation.id(invocation.positional(0) ?? "", named: "the product"),
            try invocation.extending(), countries: countries)
    },
    question(
        "extend-all-result", "Asks for the progress of an extension of a product's renewals.",
        [
            Positional(name: "PRODUCT", help: "the product's id"),
            Positional(name: "REQUEST", help: "the name of the request"),
        ], example: "deed store extend-all-result com.example.pro.month r_1 --bundle-id …"
    ) { invocation throws(CommandEnd) in
        .extendAllResult(
            try invocation.id(invocation.positional(0) ?? "", named: "the product"),
            request: try invocation.word(1, "the name of the request"))
    },
    question(
        "consumption",
        "With the customer's consent, tells the store how much of a purchase was used.",
        [.transaction], Option.consuming,
        example: "deed store consumption 2000000456 --consented --delivery DELIVERED --used 40 …"
    ) { invocation throws(CommandEnd) in
        .consumption(try invocation.consuming(), of: try invocation.transaction())
    },
]

/// Returns a command that makes one call to the store, records the signed parts of the answer, and prints the others.
private func question(
    _ name: String, _ summary: String, _ positionals: [Positional], _ options: [Option] = [],
    example: String,
    _ call: @escaping @Sendable (Invocation) throws(CommandEnd) -> StoreCall
) -> CommandSpec {
    CommandSpec(
        path: ["store", name], summary: summary, positionals: positionals,
        options: options + Option.app + [
            .value("environment", "NAME", "production or sandbox; usually detected"),
            .extraRoots, .secretKeyFile, .project,
        ] + Option.database, example: example
    ) { invocation throws(CommandEnd) in
        let call = try call(invocation)
        let app = try invocation.app()
        let project = try invocation.project()
        let environment =
            invocation["environment"] == nil ? nil : try invocation.environment()
        try invocation.withLive(in: project) { live throws(CommandEnd) in
            let questions = StoreQuestions(Submissions(live.intake))
            let report = try rethrowing(as: CommandEnd.init) { () throws(StoreQuestionError) in
                try questions.ask(call, about: app, of: project, in: environment)
            }
            let known = try report.standings(in: live.useCases.finds, of: project)
            invocation.show(report.json(known), text: report.text(of: call, known))
        }
    }
}

extension CommandEnd {
    fileprivate init(_ error: StoreQuestionError) {
        switch error {
        case .command(let error): self.init(error)
        case .trouble(.fault(let fault)): self.init(fault)
        case .trouble(let trouble):
            self = .refused(code: trouble.code, sentence: trouble.withRemedy)
        }
    }
}

extension Positional {
    fileprivate static let transaction = Positional(
        name: "TRANSACTION", help: "a transaction's id at the store")
}

extension Option {
    fileprivate static let extending: [Option] = [
        .value("days", "COUNT", "how many days later, 1 to 90", isRequired: true),
        .value("why", "WORD", "undeclared, satisfaction, other or outage", isRequired: true),
        .value(
            "request", "NAME",
            "a name for the request, so that it is done only once (default: a new name)"),
    ]

    fileprivate static let consuming: [Option] = [
        .flag(
            "consented", "the customer has consented; without this, Deed reports nothing"),
        .value("delivery", "STATUS", "DELIVERED or one of UNDELIVERED_…", isRequired: true),
        .flag("sample", "the customer had a free sample or trial"),
        .value("used", "PERCENT", "how much was used, 0 to 100"),
        .value("prefer", "WORD", "decline, grant_full or grant_prorated"),
    ]
}

extension Invocation {
    fileprivate func transaction() throws(CommandEnd) -> TransactionID {
        try id(positional(0) ?? "", named: "the transaction")
    }

    fileprivate func word(_ index: Int, _ name: String) throws(CommandEnd) -> String {
        let text = positional(index) ?? ""
        if !(1...256).contains(text.utf8.count) { throw usage("\(name) must have 1 to 256 bytes") }
        return text
    }

    fileprivate func notifications() throws(CommandEnd) -> StoreCall {
        let end = try instant("to") ?? systemClock()
        let day: Int64 = 86_400_000
        let start = try instant("from") ?? end.advanced(byMilliseconds: -day)
        if start > end { throw usage("--from is after --to") }
        var filter = NotificationFilter(start: start, end: end)
        filter.transaction = try id("transaction")
        filter.type = self["type"]
        filter.onlyFailures = has("only-failures")
        if filter.transaction != nil, filter.type != nil {
            throw usage("give --transaction or --type, not both")
        }
        return .notifications(filter)
    }

    fileprivate func extending() throws(CommandEnd) -> RenewalExtension {
        let days = RenewalExtension.dayRange
        let count = try integer("days", in: Int(days.lowerBound)...Int(days.upperBound)) ?? 1
        let words: [String: RenewalExtension.Why] = [
            "undeclared": .undeclared, "satisfaction": .satisfaction, "other": .other,
            "outage": .outage,
        ]
        guard let why = words[self["why"] ?? ""] else {
            throw usage("--why must be undeclared, satisfaction, other or outage")
        }
        let request = self["request"] ?? "deed-\(systemClock().milliseconds)"
        if !(1...128).contains(request.utf8.count) {
            throw usage("--request must have 1 to 128 bytes")
        }
        return RenewalExtension(days: Int64(count), why: why, request: request)
    }

    fileprivate func consuming() throws(CommandEnd) -> ConsumptionReport {
        if !has("consented") {
            throw usage(
                "--consented is missing: without the customer's consent, Deed reports nothing"
            )
        }
        guard let delivery: ConsumptionReport.Delivery = try word("delivery") else {
            throw usage("--delivery is missing")
        }
        return ConsumptionReport(
            delivery: delivery, hasSample: has("sample"),
            used: try integer("used", in: 0...100).map { Int64($0) * 1000 },
            preference: try word("prefer"))
    }
}
