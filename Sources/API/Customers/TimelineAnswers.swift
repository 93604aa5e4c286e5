package import Core
package import JSON

extension TimelineRow {
    /// A row in a customer's timeline, as printed by `deed customer timeline --json`.
    package var json: JSON {
        var object = JSONObject()
        switch subject {
        case .entitlement(let id): object.append("entitlement", .string(id.text))
        case .source(let source, let product):
            object.append(source)
            object.append("product", .optional(product?.text))
        case .purchase(let id, let product):
            object.append("purchase", .string(id.description))
            object.append("product", .string(product.text))
        }
        object.append(
            "bars",
            .array(
                bars.map {
                    [
                        "start": .string($0.interval.start.text),
                        "end": .optional($0.interval.end?.text), "grace": .bool($0.isGrace),
                    ]
                }))
        object.append("moments", .array(moments.map { .string($0.text) }))
        return .object(object)
    }
}
