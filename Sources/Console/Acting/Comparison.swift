import Core
import JSON

/// A customer's state before and after an act, side by side.
struct Comparison {
    /// The customer in the dry run's answer.
    let side: JSON

    private struct Row {
        let name: String
        let before: String
        let after: String
    }

    /// The rows that differ.
    private var changes: [Row] {
        func rows(_ member: String, _ words: (JSON?) -> String) -> [Row] {
            let before = side["before"]?[member]?.object
            let after = side["after"]?[member]?.object
            var names = before?.members.map(\.name) ?? []
            names += (after?.members.map(\.name) ?? []).filter { !names.contains($0) }
            return names.map {
                Row(name: $0, before: words(before?[$0]), after: words(after?[$0]))
            }
        }
        let all = rows("entitlements", standing) + rows("balances") { String($0?.integer ?? 0) }
        return all.filter { $0.before != $0.after }
    }

    var markup: Markup {
        let isSandbox = side["environment"]?.string == Environment.sandbox.rawValue
        let customer = (side["customer"]?.string ?? "") + (isSandbox ? ", in the sandbox" : "")
        let changes = self.changes
        if changes.isEmpty {
            return """
                <h2>\(customer)</h2>
                <p class="notice">This changes nothing: what the customer may use stays the same.</p>
                """
        }
        let lines: [Markup] = changes.map {
            """
            <tr><th scope="row">\($0.name)</th><td>\(timed: $0.before)</td><td>\(timed: $0.after)</td></tr>
            """
        }
        return """
            <h2>\(customer)</h2>
            <div class="wide"><table>
            <thead><tr><th scope="col">What</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
            <tbody>\(lines)</tbody>
            </table></div>
            """
    }
}

/// Returns an entitlement's state in words.
func standing(_ entitlement: JSON?) -> String {
    guard let entitlement, let state = entitlement["state"]?.string, state != "none" else {
        return "never held"
    }
    let since = entitlement["since"]?.string.map { " since \($0)" } ?? ""
    let end = entitlement["until"]?.string.map { ", until \($0)" } ?? ", with no end"
    return state + since + end
}
