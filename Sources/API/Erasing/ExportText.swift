package import Core
import JSON
package import Service

/// All data about a customer, as one JSON document that is written piece by piece. `docs/export.schema.json` describes
/// it.
package struct ExportText {
    private let exports: Exports
    private let sink: ([UInt8]) throws(CommandError) -> Void

    package static func write(
        _ exports: Exports, _ customer: CustomerID, in project: ProjectID,
        to sink: @escaping ([UInt8]) throws(CommandError) -> Void
    ) throws(CommandError) {
        try exports.requireKnown(customer, in: project)
        let text = ExportText(exports: exports, sink: sink)
        let head: JSON = [
            "format": 1, "project": .string(project.text), "customer": .string(customer.text),
            "exported_at": .instant(exports.now()),
        ]
        try sink(head.bytes.dropLast() + Array(",\"environments\":[".utf8))
        for (place, environment) in Environment.allCases.enumerated() {
            if place > 0 { try sink([UInt8(ascii: ",")]) }
            try text.write(
                Stream(project: project, environment: environment, customer: customer))
        }
        try sink(Array("]}".utf8))
    }

    private func write(_ stream: Stream) throws(CommandError) {
        let answer = try exports.answer(stream)
        let tokens = answer.view.customer.tokens
        let head: JSON = [
            "environment": .string(stream.environment.rawValue), "answer": answer.json,
            "tokens": .array(tokens.map { .string($0.text) }),
        ]
        try sink(Array(head.bytes.dropLast()))
        try list("events") { add throws(CommandError) in
            try exports.events(stream) { event throws(CommandError) in
                try add(event.json([:], hidesPrices: false))
            }
        }
        let keepers = try exports.keepers(of: stream)
        try list("waited") { add throws(CommandError) in
            for keeper in keepers {
                try exports.events(keeper) { event throws(CommandError) in
                    let json = event.json([:], hidesPrices: false)
                    try add(json.with("stream", .string(keeper.customer.text)))
                }
            }
        }
        try list("evidence") { add throws(CommandError) in
            try exports.evidence([stream] + keepers) { filed throws(CommandError) in
                try add(filed.json)
            }
        }
        try list("queued") { add throws(CommandError) in
            for taken in try exports.queued(stream) {
                let text = exports.reading.base64(taken.bytes)
                try add(taken.item.json([:]).with("evidence", .string(text)))
            }
        }
        try sink([UInt8(ascii: "}")])
    }

    /// Appends a list as a member. `fill` writes the elements.
    private func list(
        _ name: StaticString,
        _ fill: (_ add: (JSON) throws(CommandError) -> Void) throws(CommandError) -> Void
    ) throws(CommandError) {
        var isFirst = true
        try sink(Array(",\"\(name)\":[".utf8))
        try fill { json throws(CommandError) in
            try sink((isFirst ? [] : [UInt8(ascii: ",")]) + json.bytes)
            isFirst = false
        }
        try sink([UInt8(ascii: "]")])
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
