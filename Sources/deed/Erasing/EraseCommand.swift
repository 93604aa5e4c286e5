import API
import Commands
import Core
import Crypto
import JSON
import Service

let erasureCommands = [exportCommand, eraseCommand, erasedCommand]

/// A list of ten thousand erasures takes up a few megabytes.
private let listLimit = 64 << 20

private let eraseCommand = CommandSpec(
    path: ["customer", "erase"],
    summary:
        "Erases a person: rights end, and rows and event contents are deleted. Cannot be undone.",
    positionals: [customerPositional],
    options: [
        .value("customer", "ID", "the customer's id, as a flag"),
        .value(
            "purchases", "WORD",
            "forget: they never have a holder again; free: the next customer who proves them has them"
        ),
        .value("reason", "TEXT", "why; it is kept with the event"),
        .value("ticket", "ID", "the support case; it is kept, too"),
        .value("intent", "INTENT", "what the call without it has printed"),
        .value(
            "environment", "NAME",
            "only production or only sandbox (default: both, also where DEED_ENVIRONMENT names one)"
        ),
        .value("file", "FILE", "erase the customers in it, one id a line"),
        .value(
            "again", "FILE",
            "repeat after a restore what deed customer erased --list --json printed"),
        .flag("yes", "with --file or --again: do it; without, only show what would be done"),
        .idempotencyKey, .project,
    ] + Option.database,
    example: "deed customer erase u1 --purchases forget --reason \"asked for it by mail\""
) { invocation throws(CommandEnd) in
    let ways = ["file", "again"].filter { invocation[$0] != nil }
    let isNamed = invocation["customer"] != nil || invocation.positional(0) != nil
    if ways.count + (isNamed ? 1 : 0) != 1 {
        throw invocation.usage("name a customer, or give --file or --again")
    }
    if isNamed, invocation.has("yes") {
        throw invocation.usage("--yes goes with --file and --again; a customer takes --intent")
    }
    if !isNamed, invocation["intent"] != nil {
        throw invocation.usage("--intent goes with one customer; many take --yes")
    }
    if !ways.isEmpty, invocation["idempotency-key"] != nil {
        throw invocation.usage(
            "--idempotency-key goes with one customer; a repeated list finds what is done")
    }
    if let path = invocation["file"] { return try invocation.eraseListed(in: path) }
    if let path = invocation["again"] { return try invocation.eraseAgain(path) }
    let stream = try invocation.customerOfBoth()
    let request = try invocation.erasure(of: stream.customer)
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        if request.intent == nil {
            let look = try obey(useCases.erasures.look(request))
            invocation.show(look.json, text: look.text)
        } else {
            let answer = try useCases.fulfil(useCases.erasures.erasing(request, by: sender))
            invocation.show(answer.json, text: answer.text)
        }
    }
}

private let erasedCommand = CommandSpec(
    path: ["customer", "erased"],
    summary:
        "Shows when, by whom and why a customer was erased, and checks whether anything is left.",
    positionals: [customerPositional],
    options: [
        .value("customer", "ID", "the customer's id, as a flag"),
        .flag(
            "list",
            "all erasures of the project (--project); with --json a line for each, to be kept apart from backups"
        ),
        .project,
    ] + Option.database,
    onlyReads: true, example: "deed customer erased --list --json > erasures-today.jsonl"
) { invocation throws(CommandEnd) in
    if invocation.has("list") {
        let project = try invocation.project()
        try invocation.withUseCases(in: project) { useCases throws(CommandEnd) in
            let erasures = try ask(useCases.erasures.all(in: project))
            for json in erasures.compactMap(\.listedErasureJSON) {
                invocation.show(json, text: json.erasureLine)
            }
            if erasures.isEmpty, !invocation.isJSON { printText("No customer was erased.") }
        }
        return
    }
    let stream = try invocation.customerOfBoth()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try obey(useCases.erasures.erased(stream.customer, in: stream.project))
        invocation.show(answer.json, text: answer.text)
        if answer.sides.contains(where: { !$0.left.isNothing }) {
            throw .refused(
                code: "erasure_unfinished",
                sentence:
                    "Something is left; a running service empties it within seconds. Check again then."
            )
        }
    }
}

extension Invocation {
    fileprivate func erasure(of customer: CustomerID) throws(CommandEnd) -> ErasureRequest {
        guard let treatment: PurchaseTreatment = try word("purchases") else {
            throw usage("--purchases is missing: forget or free")
        }
        return ErasureRequest(
            customer, in: try project(), try word("environment"), reason: try adminReason(),
            treatment: treatment, intent: self["intent"])
    }

    /// Erases the customers in order. If a list was interrupted, it starts again from the beginning: customers who are
    /// already erased are skipped, and any who have come back since are erased again.
    fileprivate func eraseListed(in path: String) throws(CommandEnd) {
        let content = try readFile(path, limit: listLimit)
        let lines = content.split(whereSeparator: \.isNewline).map(String.init)
        if lines.isEmpty { throw usage("\(path) names no customer; nothing was done") }
        var requests: [ErasureRequest] = []
        for (number, line) in lines.enumerated() {
            guard let customer = try? CustomerID(line), !customer.isReserved else {
                throw usage(
                    "line \(number + 1) of \(path) is not a customer's id; nothing was done")
            }
            requests.append(try erasure(of: customer))
        }
        let sender = try self.sender()
        try withUseCases(in: try project()) { useCases throws(CommandEnd) in
            var course = ErasureCourse(useCases, isDryRun: !has("yes"), isJSON: isJSON)
            for request in requests { try course.erase(request, by: sender) }
            try course.end()
        }
    }

    /// Repeats the erasures in a list that the log has lost.
    fileprivate func eraseAgain(_ path: String) throws(CommandEnd) {
        for name in ["purchases", "reason", "ticket", "environment", "project"]
        where isWritten(name) {
            throw usage("--again repeats each erasure as the list has it, so it takes no --\(name)")
        }
        let listed = try listedErasures(in: path)
        if listed.isEmpty, !isJSON { printText("The list is empty: no erasure is to be repeated.") }
        let actor = try sender().actor
        try withUseCases { useCases throws(CommandEnd) in
            var course = ErasureCourse(useCases, isDryRun: !has("yes"), isJSON: isJSON)
            let customers = Set(listed.map(\.request.customer))
            for one in listed { try course.repeat(one, among: customers, by: actor) }
            try course.end()
        }
    }

    private func listedErasures(in path: String) throws(CommandEnd) -> [ListedErasure] {
        let lines = try readFile(path, limit: listLimit).split(whereSeparator: \.isNewline)
        var listed: [ListedErasure] = []
        for (number, line) in lines.enumerated() {
            guard let one = ListedErasure(String(line)) else {
                throw usage(
                    "line \(number + 1) of \(path) is not an erasure as printed by deed customer erased --list --json"
                )
            }
            listed.append(one)
        }
        return listed
    }
}
