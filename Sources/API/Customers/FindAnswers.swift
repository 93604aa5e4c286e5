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
            path += "customers/\(segment(customer.text))"
            if lead.kind == .event, let version = lead.version {
                path += "/events"
                query += ["after=\(version - 1)", "limit=1"]
            }
        } else {
            path += "unclaimed/\(segment(lead.purchase?.description ?? ""))"
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

/// Returns a path segment with special bytes percent-encoded.
private func segment(_ text: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        if plain.contains(byte) {
            bytes.append(byte)
        } else {
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
