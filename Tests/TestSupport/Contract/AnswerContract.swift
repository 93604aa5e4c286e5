import JSON
import Testing

/// An answer of the API as a client receives it.
package struct ReceivedAnswer: Sendable {
    let method: String
    /// The path without the query.
    let path: String
    let status: Int
    let headers: [(name: String, value: String)]
    let body: String

    /// `target` is a path, with or without a query, or a whole URL.
    package init(
        _ method: String, _ target: String, status: Int,
        headers: [(name: String, value: String)], body: String
    ) {
        self.method = method
        let whole = target.split(separator: "?", omittingEmptySubsequences: false).first ?? ""
        path =
            whole.hasPrefix("http")
            ? "/" + whole.split(separator: "/").dropFirst(2).joined(separator: "/") : String(whole)
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Fails the test if the answer differs from the document.
    package func expectAsDocumented() {
        do {
            for problem in problems(by: try APIDocument.current.get()) {
                Issue.record(
                    "\(method) \(path) answered \(status), but \(problem); see Sources/COpenAPI")
            }
        } catch {
            Issue.record("the document cannot be read: \(error)")
        }
    }

    /// Returns how the answer differs from the document.
    package func problems(by document: APIDocument) -> [String] {
        let (operation, isPath) = document.find(method, path)
        guard let operation else {
            return unroutedProblems(isPath: isPath, by: document)
        }
        guard let answer = operation.answers[status] else {
            return ["the document has no such status: \(body.prefix(300))"]
        }
        return headerProblems(by: answer, document) + bodyProblems(by: answer, document)
    }

    /// Returns the problems of an answer that belongs to no operation. The document describes such
    /// answers only in words.
    private func unroutedProblems(isPath: Bool, by document: APIDocument) -> [String] {
        let expected = isPath ? (405, "method_not_allowed") : (404, "route_unknown")
        guard status == expected.0, code == expected.1 else {
            return ["the document has no such operation: \(body.prefix(300))"]
        }
        return document.schemas["Problem"]?.problems(of: json ?? .null, named: document.schemas)
            ?? []
    }

    private var json: JSON? { try? JSON.read(body) }
    private var code: String? { json?["code"]?.string }

    private func headerProblems(by answer: APIDocument.Answer, _ document: APIDocument) -> [String]
    {
        let missing = answer.headers.filter { name, header in
            header.isRequired && !headers.contains { $0.name.isHeader(name) }
        }.map { "the header \($0.key) is missing" }
        return missing
            + headers.flatMap { name, value -> [String] in
                if ReceivedAnswer.ofHTTP.contains(name.lowercased()) { return [] }
                let known = answer.headers.first { $0.key.isHeader(name) }
                guard let schema = known?.value.schema else {
                    return ["the header \(name) is not in the document"]
                }
                return schema.problems(of: .string(value), at: name, named: document.schemas)
            }
    }

    /// Headers that belong to HTTP itself.
    private static let ofHTTP: Set<String> = [
        "content-type", "content-length", "date", "connection",
    ]

    private func bodyProblems(by answer: APIDocument.Answer, _ document: APIDocument) -> [String] {
        let type = headers.first { $0.name.isHeader("Content-Type") }?.value
        let media = type?.split(separator: ";").first.map(String.init)
        guard let media else {
            return body.isEmpty && answer.contents.isEmpty ? [] : ["it has no Content-Type"]
        }
        guard let schema = answer.contents[media] else {
            return ["the document does not have \(media) there"]
        }
        guard media.hasSuffix("json") else { return [] }
        guard let json else { return ["the body is not JSON: \(body.prefix(300))"] }
        var problems = schema.problems(of: json, named: document.schemas)
        if media == "application/problem+json", let code, !answer.codes.contains(code) {
            problems.append("the document does not have the code \(code) there")
        }
        return problems
    }
}

extension String {
    fileprivate func isHeader(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
