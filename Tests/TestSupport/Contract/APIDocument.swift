package import JSON
import OpenAPI

/// The OpenAPI document, which tests compare with answers.
package struct APIDocument: Sendable {
    package struct Answer: Sendable {
        /// The codes that a problem may have.
        package let codes: Set<String>
        /// The schemas by media type.
        let contents: [String: JSONSchema]
        let headers: [String: (schema: JSONSchema, isRequired: Bool)]
    }
    package struct Operation: Sendable {
        package let method: String
        package let pattern: String
        package let json: JSON
        package let answers: [Int: Answer]
    }

    /// The document that this build serves.
    package static let current = Result { try APIDocument(try JSON.read(OpenAPI.document)) }

    package let json: JSON
    package let operations: [Operation]
    package let schemas: [String: JSONSchema]

    private init(_ json: JSON) throws {
        self.json = json
        var schemas: [String: JSONSchema] = [:]
        for member in json["components"]?["schemas"]?.object?.members ?? [] {
            schemas[member.name] = try JSONSchema(member.value)
        }
        self.schemas = schemas
        operations = try (json["paths"]?.object?.members ?? []).flatMap { path in
            try (path.value.object?.members ?? []).map { operation in
                try Operation(
                    method: operation.name.uppercased(), pattern: path.name, json: operation.value,
                    answers: APIDocument.answers(of: operation.value, in: json))
            }
        }
    }

    private static func answers(of operation: JSON, in json: JSON) throws -> [Int: Answer] {
        var answers: [Int: Answer] = [:]
        for member in operation["responses"]?.object?.members ?? [] {
            guard let status = Int(member.name) else { continue }
            answers[status] = try Answer(resolve(member.value, in: json), in: json)
        }
        return answers
    }

    /// Returns the value itself, or the value that its `$ref` names.
    package func resolve(_ json: JSON) -> JSON { APIDocument.resolve(json, in: self.json) }

    fileprivate static func resolve(_ json: JSON, in document: JSON) -> JSON {
        guard let path = json["$ref"]?.string else { return json }
        return path.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? .null }
    }

    /// Returns the operation for a path, and whether the path has any operations.
    package func find(_ method: String, _ path: String) -> (found: Operation?, others: Bool) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = operations.filter { $0.fits(parts) }
        // A literal segment wins over an argument.
        let best = fitting.map(\.argumentCount).min()
        let there = fitting.filter { $0.argumentCount == best }
        return (there.first { $0.method == method }, !there.isEmpty)
    }
}

extension APIDocument.Operation {
    private var parts: [Substring] {
        pattern.split(separator: "/", omittingEmptySubsequences: false)
    }

    fileprivate var argumentCount: Int { parts.count { $0.hasPrefix("{") } }

    fileprivate func fits(_ path: [Substring]) -> Bool {
        let parts = parts
        return parts.count == path.count
            && zip(parts, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

extension APIDocument.Answer {
    fileprivate init(_ json: JSON, in document: JSON) throws {
        var codes = Set((json["x-codes"]?.array ?? []).compactMap(\.string))
        if json["x-evidence-codes"]?.bool == true {
            let schema = document["components"]?["schemas"]?["EvidenceCode"]
            codes.formUnion((schema?["enum"]?.array ?? []).compactMap(\.string))
        }
        self.codes = codes
        var contents: [String: JSONSchema] = [:]
        for member in json["content"]?.object?.members ?? [] {
            contents[member.name] = try JSONSchema(member.value["schema"] ?? .null)
        }
        self.contents = contents
        var headers: [String: (schema: JSONSchema, isRequired: Bool)] = [:]
        for member in json["headers"]?.object?.members ?? [] {
            let header = APIDocument.resolve(member.value, in: document)
            headers[member.name] = (
                try JSONSchema(header["schema"] ?? .null), header["required"]?.bool ?? false
            )
        }
        self.headers = headers
    }
}
