import Commands
import Foundation
import JSON

let advanceCommand = CommandSpec(
    path: ["advance"],
    summary: "Moves the store's clock forward, and does everything that becomes due.",
    positionals: [
        Positional(
            name: "LENGTH", help: "a duration like 40d, 12h or 90s, or an instant to stop at")
    ],
    options: [.url, .json], example: "deed-practice advance 40d"
) { invocation throws(CommandEnd) in
    let text = invocation.positional(0) ?? ""
    let member = text.contains(":") ? "to" : "by"
    let answer = try StoreClient(invocation).ask(
        "POST", "/practice/advance", [member: .string(text)])
    invocation.show(answer, text: report(answer))
}

let showCommand = CommandSpec(
    path: ["show"], summary: "Shows purchases, their state, and the notifications about them.",
    options: [.customer, .url, .json], example: "deed-practice show --customer u1"
) { invocation throws(CommandEnd) in
    let query = invocation["customer"].map { "?customer=\(encoded($0))" } ?? ""
    let answer = try StoreClient(invocation).ask("GET", "/practice/state\(query)")
    invocation.show(answer, text: state(answer))
}

let restoreCommand = CommandSpec(
    path: ["restore"],
    summary: "Prints what an app sends on a new phone: current purchases, and a refreshed receipt.",
    options: [.value("customer", "NAME", "the customer", isRequired: true), .url, .json],
    example: "deed-practice restore --customer u1"
) { invocation throws(CommandEnd) in
    let client = StoreClient(invocation)
    let customer = encoded(invocation["customer"] ?? "")
    let answer = try client.ask("GET", "/practice/handover?customer=\(customer)")
    let service = service(notifiedAt: try client.notificationURL())
    invocation.show(answer, text: handover(answer, for: service))
}

let livesCommand = CommandSpec(
    path: ["lives", "run"],
    summary: "Runs the lives of a scenario file.",
    positionals: [Positional(name: "FILE", help: "the scenario; see docs/practice-store.md")],
    options: [.flag("no-jump", "wait for the clock instead of moving it"), .url, .json],
    example: "deed-practice lives run docs/examples/practice/trial.json"
) { invocation throws(CommandEnd) in
    let file = invocation.positional(0) ?? ""
    guard let data = FileManager.default.contents(atPath: file) else {
        throw .refused("\(file) cannot be read; check its name and permissions")
    }
    guard let json = try? JSON.read(Array(data)) else {
        throw .refused("\(file) is not JSON; see docs/practice-store.md")
    }
    let jump = invocation.has("no-jump") ? "?jump=no" : ""
    let answer = try StoreClient(invocation).ask("POST", "/practice/lives\(jump)", json)
    invocation.show(answer, text: report(answer))
    let unmet = (answer["unmet"]?.array ?? []).compactMap(\.string)
    if !unmet.isEmpty { throw .refused(unmet.joined(separator: "; ")) }
}

let troubleCommand = CommandSpec(
    path: ["trouble"], summary: "Sets the faults to simulate.",
    positionals: [Positional(name: "JSON", help: "rates and a seed; '{}' ends all faults")],
    options: [.url, .json], example: "deed-practice trouble '{\"drop\":0.1,\"seed\":7}'"
) { invocation throws(CommandEnd) in
    guard let json = try? JSON.read(invocation.positional(0) ?? "") else {
        throw invocation.usage("JSON must be rates like {\"drop\":0.1,\"seed\":7}")
    }
    let answer = try StoreClient(invocation).ask("PUT", "/practice/trouble", json)
    invocation.show(answer, text: "switched")
}

func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
}

private func report(_ answer: JSON) -> String {
    var lines = (answer["events"]?.array ?? []).map { $0.string ?? "" }
    lines.append("now \(answer["now"]?.string ?? "")")
    if let note = answer["note"]?.string { lines.append(note) }
    return lines.joined(separator: "\n")
}

private func state(_ answer: JSON) -> String {
    var lines = ["now \(answer["now"]?.string ?? "")   next \(answer["next_due"]?.string ?? "-")"]
    for customer in answer["customers"]?.array ?? [] {
        lines.append(customer["customer"]?.string ?? "")
        for purchase in customer["purchases"]?.array ?? [] {
            let members = ["purchase", "product", "state", "until", "commitment"]
            var texts = members.compactMap { purchase[$0]?.string }
            if let quantity = purchase["quantity"]?.integer { texts.append("\(quantity) pieces") }
            if purchase["renews"] == false { texts.append("does not renew") }
            lines.append("  " + texts.joined(separator: "   "))
        }
    }
    for posting in answer["notifications"]?.array ?? [] {
        let texts = ["at", "type", "subtype", "customer"].compactMap { posting[$0]?.string }
        let attempts = (posting["attempts"]?.array ?? []).compactMap(\.string)
        lines.append(texts.joined(separator: " ") + ": " + attempts.joined(separator: ", "))
    }
    for message in answer["messages"]?.array ?? [] {
        lines.append(
            ["at", "type", "customer"].compactMap { message[$0]?.string }.joined(separator: " "))
    }
    return lines.joined(separator: "\n")
}
