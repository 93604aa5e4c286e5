import Core
package import JSON
package import Service

extension FindAnswer {
    /// The answer to `GET /v1/find`.
    package var json: JSON {
        let json: JSON = [
            "query": .string(words.text), "matches": .array(matches.map(\.json)),
            "more": .bool(hasMore),
        ]
        return json.with("store", told.map { .array($0.map(\.json)) })
    }
}

extension FoundMatch {
    fileprivate var json: JSON {
        [
            "kind": .string(lead.kind.rawValue), "id": .string(lead.id),
            "environment": .string(lead.environment.rawValue),
            "customer": .optional(customer?.text),
            "purchase": .optional(lead.purchase?.description),
            "product": .optional(product?.text), "path": .string(path),
        ]
    }

    /// The path of the call that returns the details.
    private var path: String {
        var path = "/v1/"
        var query = lead.environment == .production ? [] : ["environment=sandbox"]
        if let customer {
            path += "customers/\(percentEncoded(customer.text))"
            if lead.kind == .event, let version = lead.version {
                path += "/events"
                query += ["after=\(version - 1)", "limit=1"]
            }
        } else {
            path += "unclaimed/\(percentEncoded(lead.purchase?.description ?? ""))"
        }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}

extension StoreTold {
    fileprivate var json: JSON {
        switch outcome {
        case .known(let environment, let results):
            [
                "app": .string(app.text), "outcome": "known",
                "environment": .string(environment.rawValue),
                "recorded": .integer(results.count { $0.outcome == "recorded" }),
                "results": .array(results.map(\.json)),
            ]
        case .unknown(let environment):
            [
                "app": .string(app.text), "outcome": "unknown",
                "environment": .string(environment.rawValue),
            ]
        case .untold(let code, let sentence):
            [
                "app": .string(app.text), "outcome": "failed", "code": .string(code),
                "detail": .string(sentence),
            ]
        }
    }
}
