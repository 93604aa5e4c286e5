import Foundation
import JSON
import Practice

/// The commands that ask a store which runs.
extension PracticeTool {
    private static let common: Set<String> = ["store"]
    private static let texts: Set<String> = [
        "customer", "product", "offer", "token", "version", "transaction", "with", "reason",
    ]
    private static let numbers: Set<String> = ["quantity", "days", "price"]
    private static let switches: Set<String> = ["prorated", "for-app", "ask", "needs-consent"]

    static func step(_ name: String, _ words: [String]) throws(ToolEnd) {
        guard let act = Step.Act.allCases.first(where: { dashed($0.rawValue) == name }) else {
            throw .usage("there is no command \"\(name)\"; see: deed-practice --help")
        }
        let arguments = try Arguments(
            words, valued: common.union(texts).union(numbers).union(["percent"]),
            bare: switches.union(["json"]))
        var object = JSONObject()
        object.append("do", .string(act.rawValue))
        for (name, value) in arguments.values.sorted(by: { $0.key < $1.key }) where name != "store"
        {
            let member = name.replacing("-", with: "_")
            if numbers.contains(name) {
                guard let number = Int64(value) else {
                    throw .usage("--\(name) must be a whole number")
                }
                object.append(member, .integer(number))
            } else if name == "percent" {
                guard Double(value) != nil else { throw .usage("--percent must be a number") }
                object.append(member, .decimal(value))
            } else {
                object.append(member, .string(value))
            }
        }
        for flag in switches where arguments.flags.contains(flag) {
            object.append(flag.replacing("-", with: "_"), true)
        }
        let client = StoreClient(arguments)
        let answer = try client.ask("POST", "/practice/steps", .object(object))
        if arguments.flags.contains("json") { return write(answer.text) }
        let url = try notificationURL(client)
        // What the store does by itself the app has nothing to hand over for.
        let isBought = [.buy, .approve, .change, .share].contains(act)
        let service = isBought || url == nil ? service(notifiedAt: url) : nil
        write(text(of: answer, told(answer, at: url), for: service))
    }

    private static func notificationURL(_ client: StoreClient) throws(ToolEnd) -> String? {
        try client.ask("GET", "/practice/state?customer=-")["notification_url"]?.string
    }

    /// What the store told about a step, and what came of that.
    private static func told(_ answer: JSON, at url: String?) -> [String] {
        let all = answer["notifications"]?.array ?? []
        guard let url else {
            return all.isEmpty
                ? [] : ["the store tells Deed nothing: it was started without --notify"]
        }
        return all.map { posting in
            let words = ["type", "subtype", "customer"].compactMap { posting[$0]?.string }
            return "the store tells \(url): " + words.joined(separator: " ") + ": "
                + (posting["result"]?.string ?? "on its way")
        }
    }

    static func restore(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(words, valued: ["store", "customer"], bare: ["json"])
        guard let customer = arguments["customer"] else {
            throw .usage("--customer is missing; see: deed-practice --help")
        }
        let client = StoreClient(arguments)
        let answer = try client.ask("GET", "/practice/handover?customer=\(encoded(customer))")
        if arguments.flags.contains("json") { return write(answer.text) }
        write(text(of: answer, for: service(notifiedAt: try notificationURL(client))))
    }

    /// Where Deed serves, by where it is notified.
    private static func service(notifiedAt url: String?) -> String {
        let parts = url.flatMap { URLComponents(string: $0) }
        guard let scheme = parts?.scheme, let host = parts?.host else {
            return "http://127.0.0.1:8080"
        }
        return "\(scheme)://\(host)" + (parts?.port.map { ":\($0)" } ?? "")
    }

    static func advance(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(words, valued: common, bare: ["json"], positionals: 1)
        guard let text = arguments.positionals.first else {
            throw .usage("advance needs one length, like 40d, or an instant")
        }
        let member = text.contains(":") ? "to" : "by"
        let answer = try StoreClient(arguments).ask(
            "POST", "/practice/advance", [member: .string(text)])
        report(answer, arguments)
    }

    static func lives(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(
            words, valued: common, bare: ["json", "no-jump"], positionals: 2)
        guard arguments.positionals.count == 2, arguments.positionals[0] == "run" else {
            throw .usage("write: deed-practice lives run FILE")
        }
        let file = arguments.positionals[1]
        guard let data = FileManager.default.contents(atPath: file) else {
            throw .refused("\(file) cannot be read; check its name and permissions")
        }
        guard let json = try? JSON.read(Array(data)) else {
            throw .refused("\(file) is not JSON; see docs/practice-store.md")
        }
        let jump = arguments.flags.contains("no-jump") ? "?jump=no" : ""
        let answer = try StoreClient(arguments).ask("POST", "/practice/lives\(jump)", json)
        report(answer, arguments)
        let unmet = (answer["unmet"]?.array ?? []).compactMap(\.string)
        if !unmet.isEmpty { throw .refused(unmet.joined(separator: "; ")) }
    }

    static func trouble(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(words, valued: common, bare: ["json"], positionals: 1)
        guard let text = arguments.positionals.first, let json = try? JSON.read(text) else {
            throw .usage("trouble needs rates as JSON, like '{\"drop\":0.1,\"seed\":7}'")
        }
        let answer = try StoreClient(arguments).ask("PUT", "/practice/trouble", json)
        write(arguments.flags.contains("json") ? answer.text : "switched")
    }

    static func show(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(words, valued: ["store", "customer"], bare: ["json"])
        let query = arguments["customer"].map { "?customer=\(encoded($0))" } ?? ""
        let answer = try StoreClient(arguments).ask("GET", "/practice/state\(query)")
        if arguments.flags.contains("json") { return write(answer.text) }
        write("now \(answer["now"]?.string ?? "")   next \(answer["next_due"]?.string ?? "-")")
        for customer in answer["customers"]?.array ?? [] {
            write(customer["customer"]?.string ?? "")
            for purchase in customer["purchases"]?.array ?? [] {
                let members = ["purchase", "product", "state", "until"]
                var texts = members.compactMap { purchase[$0]?.string }
                if let commitment = purchase["commitment"]?.string { texts.append(commitment) }
                if purchase["renews"] == false { texts.append("does not renew") }
                write("  " + texts.joined(separator: "   "))
            }
        }
        for posting in answer["notifications"]?.array ?? [] {
            let texts = ["at", "type", "subtype", "customer"].compactMap { posting[$0]?.string }
            let attempts = (posting["attempts"]?.array ?? []).compactMap(\.string)
            write(texts.joined(separator: " ") + ": " + attempts.joined(separator: ", "))
        }
    }

    private static func report(_ answer: JSON, _ arguments: Arguments) {
        if arguments.flags.contains("json") { return write(answer.text) }
        for event in answer["events"]?.array ?? [] { write(event.string ?? "") }
        write("now \(answer["now"]?.string ?? "")")
        if let note = answer["note"]?.string { write(note) }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// What was done, and how to hand it to a back end, if the app has something to hand over.
    private static func text(
        of answer: JSON, _ told: [String] = [], for service: String?
    ) -> String {
        var lines: [String] = []
        let customer = answer["customer"]?.string ?? ""
        if let note = answer["note"]?.string { lines.append(note) }
        if let transaction = answer["transaction"]?.string {
            lines.append("transaction \(transaction)")
        }
        lines += told
        let many = answer["signed_transactions"]?.array
        let one = answer["signed_transaction"]?.string.map { [JSON.string($0)] }
        guard let service, let signed = many ?? one, !signed.isEmpty else {
            return lines.joined(separator: "\n")
        }
        let body: JSON = ["signed_transactions": .array(signed), "environment": "sandbox"]
        lines += [
            "", "hand it to your back end, which hands it to Deed:", "",
            "curl -H \"Authorization: Bearer $DEED_KEY\" -H 'Content-Type: application/json' \\",
            "    \(service)/v1/customers/\(encoded(customer))/receipts \\",
            "    -d '\(body.text)'",
        ]
        return lines.joined(separator: "\n")
    }
}
