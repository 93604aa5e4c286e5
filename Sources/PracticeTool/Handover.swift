import Foundation
import JSON

/// Deed's address, derived from the address for notifications.
func service(notifiedAt url: String?) -> String {
    let parts = url.flatMap { URLComponents(string: $0) }
    guard let scheme = parts?.scheme, let host = parts?.host else {
        return "http://127.0.0.1:8080"
    }
    return "\(scheme)://\(host)" + (parts?.port.map { ":\($0)" } ?? "")
}

/// Returns the notifications that the store sent because of a step, with the results.
func told(_ answer: JSON, at url: String?) -> [String] {
    let all = answer["notifications"]?.array ?? []
    guard let url else {
        return all.isEmpty
            ? [] : ["the store does not notify Deed: it was started without --notify"]
    }
    return all.map { posting in
        let words = ["type", "subtype", "customer"].compactMap { posting[$0]?.string }
        return "the store notifies \(url): " + words.joined(separator: " ") + ": "
            + (posting["result"]?.string ?? "on the way")
    }
}

/// Describes what was done. If the app has something to pass on to a back end, also says how.
func handover(_ answer: JSON, _ told: [String] = [], for service: String?) -> String {
    var lines: [String] = []
    let customer = answer["customer"]?.string ?? ""
    if let note = answer["note"]?.string { lines.append(note) }
    let google = answer["google"]?.array ?? []
    if let transaction = answer["transaction"]?.string {
        lines.append((google.isEmpty ? "transaction " : "purchase token ") + transaction)
    }
    for message in answer["messages"]?.array ?? [] {
        if let type = message["type"]?.string { lines.append("the store would send: \(type)") }
    }
    lines += told
    let many = answer["signed_transactions"]?.array
    let one = answer["signed_transaction"]?.string.map { [JSON.string($0)] }
    guard let service, let signed = many ?? one, !signed.isEmpty else {
        return lines.joined(separator: "\n")
    }
    let body: JSON = ["signed_transactions": .array(signed), "environment": "sandbox"]
    lines += [
        "", "give it to your back end, which submits it to Deed:", "",
        "curl -H \"Authorization: Bearer $DEED_KEY\" -H 'Content-Type: application/json' \\",
        "    \(service)/v1/customers/\(encoded(customer))/receipts \\",
        "    -d '\(body.text)'",
    ]
    return lines.joined(separator: "\n")
}
