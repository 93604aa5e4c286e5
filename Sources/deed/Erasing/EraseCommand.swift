import API
import Commands
import Core
import Crypto
import JSON
import Service

let erasureCommands = [exportCommand, eraseCommand, erasedCommand]

/// An ample size limit: ten thousand erasures take up a few megabytes.
private let listLimit = 64 << 20

private let eraseCommand = CommandSpec(
    path: ["customer", "erase"],
    summary:
        "Erases a person: rights end, and rows and event contents are deleted, with no way back.",
    positionals: [customerPositional],
    options: [
        .value("customer", "ID", "the customer's id, as a flag"),
        .value(
            "purchases", "WORD",
            "forget: no customer can hold them again; free: the next customer who proves them holds them"
        ),
        .value("reason", "TEXT", "the reason, stored with the event"),
        .value("ticket", "ID", "the support case, which is stored with the erasure"),
        .value("intent", "INTENT", "the intent that the command printed without this flag"),
        .value(
            "environment", "NAME",
            "only production or only sandbox (default: both, even if DEED_ENVIRONMENT names one)"
        ),
        .value("file", "FILE", "erase the customers listed in this file, one id per line"),
        .value(
            "again", "FILE",
            "after a restore, repeat the erasures that deed customer erased --list --json printed"),
        .flag(
            "yes",
            "erase with --file or --again; without --yes, the command only shows what it would do"),
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
        throw invocation.usage("--yes is for --file and --again; for one customer, give --intent")
    }
    if !isNamed, invocation["intent"] != nil {
        throw invocation.usage("--intent is for one customer; for many, give --yes")
    }
    if !ways.isEmpty, invocation["idempotency-key"] != nil {
        throw invocation.usage(
            "--idempotency-key is for one customer; a list can be repeated without it")
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
            "list all erasures of the project; with --json, one line each, to store apart from backups"
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
                    "Some data is left; a running service removes it within seconds. Check again later."
            )
        }
    }
}

extension Invocation {
    fileprivate func erasure(of customer: CustomerID) throws(CommandEnd) -> ErasureRequest {
        guard let treatment: PurchaseTreatment = try word("purchases") else {
            throw usage("--purchases is missing; give forget or free")
        }
        return ErasureRequest(
            customer, in: try project(), try word("environment"), reason: try adminReason(),
            treatment: treatment, intent: self["intent"])
    }

    /// Erases the customers in order. After an interruption, starts from the beginning: skips customers who are already
    /// erased, and erases customers who have come back once more.
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

    /// Repeats the listed erasures that the log has lost.
    fileprivate func eraseAgain(_ path: String) throws(CommandEnd) {
        for name in ["purchases", "reason", "ticket", "environment", "project"]
        where isWritten(name) {
            throw usage("--again repeats each erasure exactly as listed, so it takes no --\(name)")
        }
        let listed = try listedErasures(in: path)
        if listed.isEmpty, !isJSON {
            printText("The list is empty: there is no erasure to repeat.")
        }
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
