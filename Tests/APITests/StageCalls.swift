import Core
import JSON
import Minting
import TestSupport

extension Stage {
    /// The call in the form in which it is sent.
    func request(
        _ row: Row, about other: Environment? = nil
    ) -> (method: String, target: String, body: String) {
        let environment = other ?? environment
        let words = row.call.split(separator: " ")
        var rest = row.arguments[...]
        let path = words[1].split(separator: "/").map { part in
            part.hasPrefix("{") ? rest.removeFirst() : String(part)
        }.joined(separator: "/")
        var (query, body) = ([String](), row.body)
        if row.apart != nil {
            if Stage.namingInBody.contains(row.call) {
                body = #"\#(body.dropLast()),"environment":"\#(environment.rawValue)"}"#
            } else {
                query.append("environment=\(environment.rawValue)")
            }
        }
        if row.call.hasSuffix("/receipts") || row.call.hasSuffix("/restore") {
            // The evidence itself says to which environment it belongs.
            let sale = Sale("77", "level2", .nonConsumable, at: front.daysAgo(2))
            body = front.signed([sale], by: environment).text
        }
        query += Stage.questions[row.call] ?? []
        let target = "/" + path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        return (String(words[0]), target, body)
    }
}
