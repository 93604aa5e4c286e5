import Commands
import JSON

let setupCommand = CommandSpec(
    path: ["setup"],
    summary: "Sets up an installation: asks five questions, says what it will do, and does it.",
    options: [
        .setting("database-url", "URL", "the address of your own PostgreSQL server, or private"),
        .setting("listen", "ADDRESS", "where the server will listen"),
        .setting("project", "NAME", "the project"),
        .setting("keys", "FOLDER", "the folder for a key of each role, or none"),
        .setting(
            "reconcile-at", "TIME", "when to reconcile every project daily, in UTC, or none"),
        .flag(
            "yes", "ask nothing: use the flags, then the current settings, then the defaults"),
        .flag("dry-run", "show what would be done, and do nothing"),
        .dataDir, .json,
    ],
    example: "deed setup --yes --listen 127.0.0.1:9090"
) { invocation throws(CommandEnd) in
    let isAsking = !invocation.has("yes") && !invocation.has("dry-run")
    if isAsking, invocation.isJSON {
        throw invocation.usage("--json asks no questions; add --yes or --dry-run")
    }
    let (setup, plan) = try changingNothing { () throws(CommandEnd) in
        let place = try SetupPlace(invocation)
        let setup = Setup(try SetupAnswers(invocation, place, isAsking: isAsking), place)
        return (setup, try setup.plan())
    }
    if !invocation.isJSON { printText(plan.text) }
    if invocation.has("dry-run") {
        if invocation.isJSON { printText(setup.json(of: plan, isDone: false).text) }
        return
    }
    if isAsking, plan.hasWork, try !isAgreed() {
        throw .refused(code: "not_agreed", sentence: "Nothing was changed.")
    }
    try setup.perform(plan, isTelling: !invocation.isJSON)
    invocation.show(setup.json(of: plan, isDone: true), text: setup.ending)
}

/// Runs `body`, which only inspects the machine. Adds to its error that nothing was changed.
private func changingNothing<Answer>(
    _ body: () throws(CommandEnd) -> Answer
) throws(CommandEnd) -> Answer {
    do throws(CommandEnd) {
        return try body()
    } catch {
        switch error {
        case .refused(let code, let sentence):
            throw .refused(code: code, sentence: sentence.followed(by: "Nothing was changed."))
        case .fault(let sentence): throw .fault(sentence.followed(by: "Nothing was changed."))
        case .usage: throw error
        }
    }
}

/// Returns whether the person agrees to the printed plan.
private func isAgreed() throws(CommandEnd) -> Bool {
    while true {
        let line = try answerLine("Do it? yes or no [yes]: ")
        switch line.lowercased() {
        case "", "y", "yes": return true
        case "n", "no": return false
        default: printError("Answer yes or no.")
        }
    }
}

/// Asks a person. Throws if there is no answer.
func answerLine(_ question: String) throws(CommandEnd) -> String {
    promptPerson(question)
    guard let line = readLine() else {
        printError("")
        throw .usage(
            "there was no answer, so nothing was changed; to be asked no questions, add --yes")
    }
    return line.split(separator: " ").joined(separator: " ")
}

extension String {
    func followed(by other: String) -> String { (hasSuffix(".") ? self : self + ".") + " " + other }
}
