import Core
package import JSON
package import Service

extension MergeAnswer {
    /// The answer to `POST /v1/customers/{c}/merge` and `…/merge/undo`.
    package var json: JSON {
        let merged = recorded.event.mergedWith
        let isMerged = recorded.event.type == .customerMerged
        return [
            "customer": .string(recorded.stream.customer.text),
            isMerged ? "merged_into" : "parted_from": .optional(merged?.customer.text),
            "position": .string(position.description), "at": .instant(merged?.at),
            "reason": .optional(merged?.why.reason.text),
            "ticket": .optional(merged?.why.ticket?.text),
        ]
    }
}
