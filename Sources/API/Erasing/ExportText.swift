package import Core
import JSON
package import Service

/// Everything that is kept of a customer, as one JSON document that is written piece by piece.
/// `docs/export.schema.json` describes it.
package struct ExportText {
    /// The lists of an environment, in their order.
    private enum List: String, CaseIterable {
        case events, evidence, queued
    }
    private let exports: Exports
    private let sink: ([UInt8]) throws(CommandError) -> Void
    private var list: List?
    private var isFirst = true

    private init(_ exports: Exports, _ sink: @escaping ([UInt8]) throws(CommandError) -> Void) {
        self.exports = exports
        self.sink = sink
    }

    package static func write(
        _ exports: Exports, _ customer: CustomerID, in project: ProjectID,
        to sink: @escaping ([UInt8]) throws(CommandError) -> Void
    ) throws(CommandError) {
        try exports.requireKnown(customer, in: project)
        let head: JSON = [
            "format": 1, "project": .string(project.text), "customer": .string(customer.text),
            "exported_at": .instant(exports.now()),
        ]
        try sink(head.bytes.dropLast() + Array(",\"environments\":[".utf8))
        for (place, environment) in Environment.allCases.enumerated() {
            if place > 0 { try sink([UInt8(ascii: ",")]) }
            var text = ExportText(exports, sink)
            try text.write(
                Stream(project: project, environment: environment, customer: customer))
        }
        try sink(Array("]}".utf8))
    }

    private mutating func write(_ stream: Stream) throws(CommandError) {
        let environment = JSON.string(stream.environment.rawValue).text
        try sink(Array("{\"environment\":\(environment)".utf8))
        var text = self
        try exports.read(stream) { piece throws(CommandError) in try text.add(piece) }
        try text.begin(nil)
        try sink([UInt8(ascii: "}")])
    }

    private mutating func add(_ piece: Exports.Piece) throws(CommandError) {
        switch piece {
        case .answer(let answer, let tokens):
            let members: JSON = [
                "answer": answer.json, "tokens": .array(tokens.map { .string($0.text) }),
            ]
            try sink([UInt8(ascii: ",")] + members.bytes.dropFirst().dropLast())
        case .event(let entry): try add(entry.json, to: .events)
        case .evidence(let filed): try add(filed.json, to: .evidence)
        case .queued(let taken):
            let text = exports.text.base64(taken.bytes)
            try add(taken.item.json.with("evidence", .string(text)), to: .queued)
        }
    }

    private mutating func add(_ json: JSON, to list: List) throws(CommandError) {
        try begin(list)
        try sink((isFirst ? [] : [UInt8(ascii: ",")]) + json.bytes)
        isFirst = false
    }

    /// Begins a list, after those that come before it; at the end, none is left open.
    private mutating func begin(_ next: List?) throws(CommandError) {
        while list != next || next == nil {
            let following =
                list.flatMap { List.allCases.after($0) } ?? (list == nil ? .events : nil)
            if list != nil { try sink([UInt8(ascii: "]")]) }
            guard let following else { return }
            try sink(Array(",\"\(following.rawValue)\":[".utf8))
            (list, isFirst) = (following, true)
        }
    }
}

extension Array where Element: Equatable {
    fileprivate func after(_ element: Element) -> Element? {
        firstIndex(of: element).flatMap { $0 + 1 < count ? self[$0 + 1] : nil }
    }
}

extension ExportedEvidence {
    fileprivate var json: JSON {
        [
            "digest": .string(digest.hexDigits), "kind": .string(kind), "app": .optional(app),
            "environment": .string(environment), "signed_at": .instant(signedAt),
            "recorded_at": .instant(recordedAt),
            "content": .optional(content),
        ]
    }
}
