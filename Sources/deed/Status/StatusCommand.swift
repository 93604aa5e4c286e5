import Assembly
import Commands
import Core
import JSON
import Ledger
import Wording

let statusCommand = CommandSpec(
    path: ["status"],
    summary: "Shows on one screen what the installation is doing and what needs attention.",
    options: [
        .listen, .tlsCertificate, .operationsListen,
        .flag("ready", "only ask the server; exit with 1 unless it is ready"),
        .flag("storage", "show the size of each table and index, and how fast they grow"),
        .flag("watch", "refresh every two seconds, until Ctrl-C"),
    ] + Option.database,
    example: "deed status --json"
) { invocation throws(CommandEnd) in
    // Parses the address first, so that a wrong one is reported before anything else.
    _ = try ServerDoor(invocation)
    if invocation.has("ready") { return try invocation.showReadiness() }
    if invocation.has("storage") { return try invocation.showStorage() }
    if !invocation.has("watch") {
        let status = try Status(invocation)
        invocation.show(status.json, text: status.text)
        if let end = status.end { throw end }
        return
    }
    StopSignal.install()
    repeat {
        let status = try Status(invocation)
        if invocation.isJSON {
            printText(status.json.text)
        } else {
            // Clears the screen.
            printText("\u{1B}[2J\u{1B}[H\(status.text)")
        }
    } while !StopSignal.wait(milliseconds: 2000)
}

extension Option {
    static let operationsListen = setting(
        "operations-listen", "ADDRESS", "a separate address for /readyz and /metrics")
}

extension Invocation {
    fileprivate func showReadiness() throws(CommandEnd) {
        let door = try ServerDoor(self)
        let state = door.ask()
        show(["server": .string(state.word)], text: "\(state.sentence) on \(door.address)")
        if state != .ready {
            throw .refused(
                code: "not_ready", sentence: "The server on \(door.address) is \(state.sentence).")
        }
    }
}

/// The content of the status screen.
struct Status {
    private(set) var parts: [StatusPart] = []
    private var refusal: CommandEnd?

    init(_ invocation: Invocation) throws(CommandEnd) {
        let database = try invocation.database()
        defer { database.leave() }
        let standing = try attempt { () throws(LedgerError) in
            var schema = Schema(database.serviceConnection)
            return try schema.standing()
        }
        let fits = standing.error == nil
        let condition = fits ? try DatabaseCondition(of: database) : nil
        parts.append(.database(isPrivate: database.isPrivate, condition))
        parts.append(.schema(standing))
        if let format = StatusPart.format(standing) { parts.append(format) }
        let impediment = condition?.impediments.first
        if let error = standing.error {
            refusal = .refused(
                code: error.refusalCode ?? "schema_not_current", sentence: error.description)
        } else if let impediment {
            refusal = .refused(code: impediment.kind.rawValue, sentence: impediment.withRemedy)
        }
        let testClock =
            fits
            ? try starting { () throws(StartError) in try database.testClockInstant() } : nil
        var view = OperatorsView(database.serviceConnection)
        let isReadable = fits && condition?.queue != nil
        let instances = isReadable ? (try? view.instances()) ?? [] : []
        parts.append(.clock(testClock))
        parts.append(.intake(condition?.queue))
        parts.append(.server(try ServerDoor.of(instances, invocation)))
        if !isReadable { return }
        parts.append(.instances(instances))
        let isForTests = testClock != nil
        try invocation.addLog(to: &parts, database, &view, isForTests: isForTests)
    }

    /// Why the command fails; `nil` if there is nothing that a person must do.
    var end: CommandEnd? {
        if let refusal { return refusal }
        let alarms = parts.flatMap(\.lines).filter { $0.remedy != nil }
        guard let first = alarms.first else { return nil }
        return .refused(
            code: "attention_needed",
            sentence: (alarms.count == 1
                ? "1 line needs attention" : "\(alarms.count) lines need attention")
                + ", the first: \(first.text)")
    }

    var json: JSON {
        var object = JSONObject()
        for part in parts {
            for member in part.members { object.append(member.name, member.value) }
        }
        return .object(object)
    }

    var text: String { parts.map(\.text).joined(separator: "\n") }
}
